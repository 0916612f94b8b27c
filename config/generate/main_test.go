package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheCodeOfANewKindIsWritten checks that a CRD is all that a new kind needs for its list type, names and methods.
func TestTheCodeOfANewKindIsWritten(t *testing.T) {
	all, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.kinds {
		if kind := &all.kinds[i]; kind.Spec.Names.Kind == "SQSQueue" {
			kind.Spec.Names.Kind = "SFNMachine"
		}
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(codeFile)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := all.writeCode(root); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, codeFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`= "SFNMachine"`, "SNSTopic;SFNMachine\n", "&SFNMachine{}, &SFNMachineList{},", "type SFNMachineList struct {",
		"func (o *SFNMachine) Common()", "func (o *SFNMachine) OwnTags() Tags", "func (o *WebApp) Common()",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(string(text), "func (o *WebApp) OwnTags()") {
		t.Error("a WebApp is no AWS kind")
	}
}

func TestListsAreRewritten(t *testing.T) {
	all, err := load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want, wrong string }{
		"a list":              {"  resources: [x] # kinds: requested\n", "  resources: [accessbindings, databaseusers, ec2instances, gatewayhostnamerequests, rdsinstances, s3buckets,", ""},
		"an empty one":        {"  resources: [] # kinds: requested\n", "[accessbindings, databaseusers, ", ""},
		"of subresources":     {"[a/b] # kinds: all/status", "[accessbindings/status, ", ""},
		"with an exception":   {"[x] # kinds: all but awsproviders", "[accessbindings, catalogentries, databaseusers, deploypolicies, domainclaims, ", ""},
		"a command":           {"kubectl delete x,y -A # kinds: requested\n", "kubectl delete accessbindings,databaseusers,ec2instances,gatewayhostnamerequests,", ""},
		"policies":            {"default = [x] # kinds: policies", `= ["accessbinding", "ec2instance", "gatewayhostnamerequest", `, ""},
		"links":               {"Kinds: <!-- generated: links -->x<!-- /generated -->.", "<!-- generated: links -->[AccessBinding](kinds/accessbinding.md), [AWSProvider](kinds/awsprovider.md), ", ""},
		"of what is optional": {"a:\n  # generated: policy references\n  # /generated\n", "Policy\n      - !If [S3BucketChosenNames, !Ref S3BucketChosenNamesPolicy, !Ref \"AWS::NoValue\"]\n", ""},
		"optional itself":     {"# generated: policy resources\n# /generated\n", "  S3BucketChosenNamesPolicy:\n    Type: AWS::IAM::ManagedPolicy\n    Condition: S3BucketChosenNames\n", ""},
		"lines of YAML":       {"a:\n  # generated: policy references\n  # /generated\n", "references\n      - !Ref AccessBindingPolicy\n", ""},
		"no set":              {"[x] # kinds: some", "", `"some" is no set of kinds`},
		"no text":             {"<!-- generated: riddles --><!-- /generated -->", "", `"riddles" is nothing`},
		"no list":             {"resources: [pods]\n# kinds: all\n", "resources: [pods]\n# kinds: all\n", ""},
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
			if err != nil || !strings.Contains(string(got), c.want) {
				t.Errorf("file = %q, %v, want %q in it", got, err, c.want)
			}
			if c.wrong != "" && string(got) != c.text {
				t.Errorf("file = %q, want it unchanged: %q", got, c.text)
			}
			if strings.Count(string(got), "# kinds:")+strings.Count(string(got), "/generated") != 1 {
				t.Errorf("the mark is not there once: %s", got)
			}
		})
	}
}
