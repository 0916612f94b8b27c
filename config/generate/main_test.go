package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListsAreRewritten(t *testing.T) {
	all, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want, wrong string }{
		"a list":            {"  resources: [x] # kinds: requested\n", "  resources: [ec2instances, gatewayhostnamerequests, rdsinstances, s3buckets,", ""},
		"an empty one":      {"  resources: [] # kinds: requested\n", "[ec2instances, ", ""},
		"of subresources":   {"[a/b] # kinds: all/status", "[awsproviders/status, ", ""},
		"with an exception": {"[x] # kinds: all but awsproviders", "[domainclaims, ", ""},
		"policies":          {"default = [x] # kinds: policies", `= ["ec2instance", "gatewayhostnamerequest", `, ""},
		"links":             {"Kinds: <!-- generated: links -->x<!-- /generated -->.", "<!-- generated: links -->[AWSProvider](kinds/awsprovider.md), ", ""},
		"lines of YAML":     {"a:\n  # generated: policy references\n  # /generated\n", "references\n      - !Ref EC2InstancePolicy\n", ""},
		"no set":            {"[x] # kinds: some", "", `"some" is no set of kinds`},
		"no text":           {"<!-- generated: riddles --><!-- /generated -->", "", `"riddles" is nothing`},
		"no list":           {"resources: [pods]\n# kinds: all\n", "resources: [pods]\n# kinds: all\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time changes nothing
				err := rewrite(path, all)
				if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
					t.Fatalf("%v, want %q", err, c.wrong)
				}
			}
			got, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(got), c.want) || c.wrong != "" && string(got) != c.text {
				t.Errorf("%s, %v", got, err)
			}
			if strings.Count(string(got), "# kinds:")+strings.Count(string(got), "/generated") != 1 {
				t.Errorf("the mark is not there once: %s", got)
			}
		})
	}
}
