package reference

import (
	"strings"

	"github.com/portico-platform/portico/controllers/cloud"
)

// A KMS key is named by its ID, an alias, or the ARN of either.
const aliasPrefix = "alias/"

// ofAWS reports whether AWS itself manages the key, for every user of a service in the account.
func ofAWS(key string) bool {
	return strings.HasPrefix(key, aliasPrefix+"aws/") || strings.Contains(key, ":"+aliasPrefix+"aws/")
}

func isAlias(key string) bool {
	return strings.HasPrefix(key, aliasPrefix) || strings.Contains(key, ":"+aliasPrefix)
}

// keyARN returns the ARN of the KMS key with this name, in the session's account and region.
func keyARN(s *cloud.Session, name string) string {
	switch {
	case isARN(name):
		return name
	case isAlias(name):
		return s.ARN("kms", name)
	}
	return s.ARN("kms", "key/"+name)
}

// taggedKey returns the ARN by which a key's tags are found; empty for an alias, which can be pointed to another key at
// any time.
func taggedKey(s *cloud.Session, name string) string {
	if isAlias(name) {
		return ""
	}
	return keyARN(s, name)
}

func isARN(name string) bool { return strings.HasPrefix(name, "arn:") }

// profileName returns the name of an instance profile of the session's account: it is unique, whatever path is in the
// ARN.
func profileName(s *cloud.Session, name string) string {
	if rest, ours := strings.CutPrefix(name, "arn:"+s.Partition+":iam::"+s.AccountID+":instance-profile/"); ours {
		return rest[strings.LastIndexByte(rest, '/')+1:]
	}
	return name
}
