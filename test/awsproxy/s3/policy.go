package s3

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// bucketPolicyBytes is the maximum that S3 accepts, by "Bucket policies for Amazon S3" of its guide.
const bucketPolicyBytes = 20 << 10

// putPolicy serves PutBucketPolicy: it refuses what S3 refuses, and stores the policy in S3's normal form in moto.
func (s *Service) putPolicy(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	policy, refusal := readBucketPolicy(x)
	if refusal != nil {
		return refusal, nil
	}
	blocked, err := s.blocksPublicPolicies(ctx, x)
	if err != nil {
		return nil, err
	}
	if blocked && isPublic(policy) {
		return x.Fail(http.StatusForbidden, "AccessDenied",
			"User: "+x.Identity()+" is not authorized to perform: s3:PutBucketPolicy on resource: \""+
				x.GlobalARN("s3", "",
					x.Bucket)+"\" because public policies are prevented by the BlockPublicPolicy setting in S3 Block "+
				"Public Access."), nil
	}
	x.Body, err = permit.NormalPolicy(x.Body, wire.Partition(x.Call.Region))
	return nil, err
}

// readBucketPolicy returns the policy, or S3's refusal. The messages are known from issues of terraform-provider-aws,
// versitygw (645, 648, 649) and noobaa-core (10058).
func readBucketPolicy(x *wire.Exchange) (*iampolicy.ResourcePolicy, *wire.Reply) {
	malformed := func(message string) (*iampolicy.ResourcePolicy, *wire.Reply) {
		return nil, x.Fail(http.StatusBadRequest, "MalformedPolicy", message)
	}
	if len(x.Body) > bucketPolicyBytes {
		return malformed("Policy exceeds the maximum allowed document size.")
	}
	if !json.Valid(x.Body) || x.Body[0] != '{' {
		return malformed("Policies must be valid JSON and the first byte must be '{'")
	}
	policy, err := permit.ParseResourcePolicy(x.Body)
	switch {
	case errors.Is(err, iampolicy.ErrPrincipal) && strings.Contains(err.Error(), "either Principal"):
		return malformed("Missing required field Principal")
	case errors.Is(err, iampolicy.ErrPrincipal):
		return malformed("Invalid principal in policy")
	case errors.Is(err, iampolicy.ErrResource):
		return malformed("Policy has invalid resource")
	case errors.Is(err, iampolicy.ErrAction):
		return malformed("Policy has invalid action")
	case errors.Is(err, iampolicy.ErrCondition):
		return malformed("Policy has an invalid condition key")
	case err != nil:
		return malformed("Invalid policy syntax.")
	}
	for _, s := range policy.Statements() {
		if message := misfit(s, x.GlobalARN("s3", "", x.Bucket)); message != "" {
			return malformed(message)
		}
	}
	return policy, nil
}

// misfit returns what is wrong with a statement about a bucket; "" if nothing is. A resource is the bucket, or
// objects in it, and an action needs a resource of its kind.
func misfit(s iampolicy.ResourceStatement, bucketARN string) string {
	bucket, objects := false, false
	for _, r := range slices.Concat(s.Resources, s.NotResources) {
		rest, ok := strings.CutPrefix(r, bucketARN)
		if !ok || rest != "" && rest[0] != '/' && rest[0] != '*' {
			return "Policy has invalid resource"
		}
		bucket = bucket || rest == "" || rest[0] == '*'
		objects = objects || rest != ""
	}
	for _, a := range slices.Concat(s.Actions, s.NotActions) {
		name, ok := strings.CutPrefix(strings.ToLower(a), "s3:")
		switch {
		case !ok && a != "*":
			return "Policy has invalid action"
		case onBuckets[name] && !bucket, onObjects[name] && !objects:
			return "Action does not apply to any resource(s) in statement"
		}
	}
	return ""
}

// onBuckets and onObjects are the actions, in lower case, that need a resource of the kind.
var onBuckets, onObjects = func() (buckets, objects map[string]bool) {
	buckets, objects = map[string]bool{"createbucket": true, "tagresource": true},
		map[string]bool{"deleteobject": true, "deleteobjectversion": true}
	for _, name := range bucketActions {
		buckets[strings.ToLower(name)] = true
	}
	for name := range sameActions {
		buckets[strings.ToLower(name)] = true
	}
	for _, of := range objectActions {
		objects[strings.ToLower(of.action)] = true
		if of.version != "" {
			objects[strings.ToLower(of.version)] = true
		}
	}
	return buckets, objects
}()

// blocksPublicPolicies reports whether the bucket refuses policies that are public.
func (s *Service) blocksPublicPolicies(ctx context.Context, x *wire.Exchange) (bool, error) {
	r, err := s.ask(ctx, x, http.MethodGet, "/"+x.Bucket, "publicAccessBlock", "")
	if err != nil || r.Status != http.StatusOK {
		return false, r.Broken(err)
	}
	var block struct{ BlockPublicPolicy bool }
	err = xml.Unmarshal(r.Body, &block)
	return block.BlockPublicPolicy, err
}

// fixing are the condition keys that make a policy for everybody not public, if their values are fixed: "The meaning
// of public" of S3's guide.
var fixing = []string{
	"aws:sourceip", "aws:sourcearn", "aws:sourcevpc", "aws:sourcevpce", "aws:sourceowner", "aws:sourceaccount",
	"aws:userid", "aws:principalorgid",
	"aws:principalarn", "aws:principalaccount", "aws:principalorgpaths", "aws:resourceaccount",
	"s3:x-amz-server-side-encryption-aws-kms-key-id",
}

// isPublic reports whether a statement allows everybody, without a condition that fixes the callers. Only equality
// operators can fix them.
func isPublic(p *iampolicy.ResourcePolicy) bool {
	return slices.ContainsFunc(p.Statements(), func(s iampolicy.ResourceStatement) bool {
		everybody := slices.ContainsFunc(s.Principals, func(who iampolicy.Principal) bool { return who.Name == "*" })
		if s.Deny || !everybody {
			return false
		}
		for operator, keys := range s.Conditions {
			for key, values := range keys {
				if fixes(operator, strings.ToLower(key), values) {
					return false
				}
			}
		}
		return true
	})
}

// policyStatus returns whether the bucket's policy is public, as BlockPublicPolicy would judge it; nil if it has
// none, which moto reports.
func (s *Service) policyStatus(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	policy, err := s.policyOf(ctx, x.GlobalARN("s3", "", x.Bucket))
	if policy == nil || err != nil {
		return nil, err
	}
	return wire.XMLReply(http.StatusOK, `<PolicyStatus xmlns="`+namespace+`"><IsPublic>%s</IsPublic></PolicyStatus>`,
		strconv.FormatBool(isPublic(policy))), nil
}

func fixes(operator, key string, values []string) bool {
	if strings.Contains(operator, "Not") || strings.HasSuffix(operator, "IfExists") ||
		strings.HasPrefix(operator, "ForAllValues:") || operator == "Null" {
		return false
	}
	wild := slices.ContainsFunc(values, func(v string) bool {
		return strings.ContainsAny(strings.ReplaceAll(v, "${*}", ""), "*?$") || v == "0.0.0.0/0" || v == "::/0"
	})
	return slices.Contains(fixing, key) && !wild
}

// BucketPolicy returns the text of a bucket's policy; "" if there is none. moto finds buckets from every account.
func BucketPolicy(ctx context.Context, u *wire.Upstream, bucket string) (string, error) {
	r, err := u.Ask(ctx, wire.Question{
		Service: "s3", Region: "us-east-1", Method: http.MethodGet, Path: "/" + bucket,
		Query: "policy",
	})
	if err != nil || r.Status != http.StatusOK || !json.Valid(r.Body) {
		return "", r.Broken(err)
	}
	return string(r.Body), nil
}
