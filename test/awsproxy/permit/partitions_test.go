package permit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// TestKeysAreUsedInEveryPartition checks that the documents are valid in every partition: conditions on the service
// that uses a key match the service's name in each.
func TestKeysAreUsedInEveryPartition(t *testing.T) {
	// The endings are those of botocore's data.
	for region, ending := range map[string]string{
		"eu-west-1": "amazonaws.com", "us-gov-west-1": "amazonaws.com", "cn-north-1": "amazonaws.com.cn",
		"eusc-de-east-1": "amazonaws.eu",
	} {
		x := &wire.Exchange{Call: wire.Call{Service: "rds", Region: region, Account: "111111111111"}}
		for service, row := range map[string]struct {
			document string
			actions  []string
		}{
			"rds":            {"rdsinstance", []string{"kms:DescribeKey", "kms:CreateGrant"}},
			"secretsmanager": {"rdsinstance", []string{"kms:Decrypt", "kms:GenerateDataKey", "kms:CreateGrant"}},
			"ec2":            {"ec2instance", []string{"kms:DescribeKey", "kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"}},
		} {
			text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "iam", row.document+".json"))
			if err != nil {
				t.Fatal(err)
			}
			policy, err := ParsePolicy(text)
			if err != nil {
				t.Fatal(err)
			}
			all := iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}
			for _, n := range OnKey(x, service, "alias/data", nil, row.actions...) {
				by := n.Facts["kms:viaservice"]
				if len(by) != 1 || by[0] != service+"."+region+"."+ending {
					t.Errorf("%s in %s calls itself %v", service, region, by)
				}
				ask := func(service string) bool {
					return all.Decide(iampolicy.Request{
						Action: n.Action, Resource: n.Resource,
						Context: func(key string) []string {
							if key == "kms:viaservice" && service != "" {
								return []string{service}
							}
							return nil
						},
					}).Allowed
				}
				if !ask(by[0]) {
					t.Errorf("%s by way of %s is denied", n.Action, by[0])
				}
				for _, other := range []string{"", "s3." + region + "." + ending, by[0] + ".example.com"} {
					if ask(other) {
						t.Errorf("%s by way of %q is allowed", n.Action, other)
					}
				}
			}
		}
	}
}
