package cloud

import (
	"bufio"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

// retried are codes that are no more than a failure: the call is made again, ever more seldom.
var retried = map[string]string{
	"InternalError": "AWS's own failure", "InternalFailure": "AWS's own failure", "InternalServerError": "AWS's own failure",
	"InternalServiceException": "AWS's own failure", "ServiceFailure": "AWS's own failure", "ServiceUnavailable": "AWS's own failure",
	"Unavailable": "AWS's own failure", "RequestTimeout": "the connection was slow",
	"PaginationTokenExpiredException": "the listing begins anew", "InvalidPaginationToken": "the listing begins anew",
	"TemporaryRedirect": "a new bucket's name is not known everywhere yet",
	"InvalidFilter":     "no filter comes from a spec", "UnknownParameter": "no parameter's name comes from a spec",
	"InvalidInstanceID.Malformed": "no ID comes from a spec", "NoSuchKey": "objects are deleted, not read", "NoSuchVersion": "what is gone needs no deletion",
	"RuleNotFound":                     "a rule went while rules were listed",
	"BlueGreenDeploymentNotFoundFault": "of tags of other things", "DBProxyEndpointNotFoundFault": "of tags of other things",
	"DBProxyNotFoundFault": "of tags of other things", "DBProxyTargetGroupNotFoundFault": "of tags of other things",
	"DBShardGroupNotFound": "of tags of other things", "DBSnapshotTenantDatabaseNotFoundFault": "of tags of other things",
	"IntegrationNotFoundFault": "of tags of other things", "TenantDatabaseNotFound": "of tags of other things",
}

// listed returns the codes of a list, with the services that have them.
func listed(t *testing.T, file string) map[string][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if service, code, ok := strings.Cut(lines.Text(), " "); ok && service != "#" {
			all[code] = append(all[code], service)
		}
	}
	return all
}

// sources returns what the controllers are written in, without tests.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || d.Name() == "errorcodes.go" {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// Each code that AWS may answer with is in the table, is looked for by the code of its kind, or is left to be tried again.
func TestEveryErrorCodeIsDecided(t *testing.T) {
	code, codes := sources(t), map[string][]string{}
	for _, file := range []string{"testdata/errors.txt", "testdata/errors-ec2-s3.txt"} {
		maps.Copy(codes, listed(t, file))
	}
	if len(codes) < 150 {
		t.Fatalf("%d codes", len(codes))
	}
	for _, c := range slices.Sorted(maps.Keys(codes)) {
		_, inTable := errorClasses[c]
		_, throttles := retry.DefaultThrottleErrorCodes[c]
		_, again := retried[c]
		if named := strings.Contains(code, `"`+c+`"`); !inTable && !throttles && !again && !named {
			t.Errorf("%s of %s is in no class, and nothing looks for it: add it to errorClasses, or to retried with the reason", c, strings.Join(codes[c], ", "))
		}
		if inTable && again {
			t.Errorf("%s is in the table, and is left out of it", c)
		}
	}
	for c := range retried {
		if codes[c] == nil {
			t.Errorf("no list has %s", c)
		}
	}
}
