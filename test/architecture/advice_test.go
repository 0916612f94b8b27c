package architecture

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/config/crd"
)

// adviceWhileFree has parts of advice to edit an immutable field, with the reason why nothing has been created whenever
// it is given.
var adviceWhileFree = map[string]string{
	"%s without bucketName":                  "again says how",
	"another AWS account has a bucket named": "the reservation is taken back: controllers/aws/s3/create.go",
}

var (
	edits       = regexp.MustCompile(`(?i)\b(choose|name|correct|change|set|leave|remove|give|switch|take)\b`)
	again       = regexp.MustCompile(`(?i)request|new object|delete this object`)
	fieldWord   = regexp.MustCompile(`\b[a-z][A-Za-z]+\b`)
	immutableIs = regexp.MustCompile(`^(\w+) is immutable: `)
)

// TestAdviceNamesNoEditThatIsRefused reads every text of the controllers that advises editing a field which is
// immutable once the resource exists. The text must say to request a new object, or be in adviceWhileFree.
func TestAdviceNamesNoEditThatIsRefused(t *testing.T) {
	fixed := fixedFields(t)
	used := map[string]bool{}
	for kind, dir := range map[string]string{
		"EC2Instance": "ec2", "RDSInstance": "rds", "S3Bucket": "s3", "SNSTopic": "sns", "SQSQueue": "sqs",
	} {
		if len(fixed[kind]) < 3 {
			t.Fatalf("%s: only %v is fixed", kind, fixed[kind])
		}
		for _, text := range textsOf(t, "controllers/aws/"+dir) {
			for _, clause := range regexp.MustCompile(`[.;:] `).Split(text, -1) {
				if !edits.MatchString(clause) || again.MatchString(clause) {
					continue
				}
				for _, word := range fieldWord.FindAllString(clause, -1) {
					if !slices.Contains(fixed[kind], word) {
						continue
					}
					if known := knownFree(text); known != "" {
						used[known] = true
						continue
					}
					t.Errorf("%s: %q tells people to edit %s, which cannot change once something is made. Say to "+
						"request a new object, or add it to adviceWhileFree", kind, text, word)
				}
			}
		}
	}
	for part := range adviceWhileFree {
		if !used[part] {
			t.Errorf("nobody says %q any more", part)
		}
	}
}

func knownFree(text string) string {
	for part := range adviceWhileFree {
		if strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// fixedFields returns the fields that validation rules make immutable, by kind.
func fixedFields(t *testing.T) map[string][]string {
	t.Helper()
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{}
	for _, kind := range all {
		for _, r := range kind.Spec.Versions[0].Schema.OpenAPIV3Schema.XValidations {
			if m := immutableIs.FindStringSubmatch(r.Message); m != nil {
				fields[kind.Spec.Names.Kind] = append(fields[kind.Spec.Names.Kind], m[1])
			}
		}
	}
	return fields
}

// textsOf returns the strings in the Go files of a directory, except its tests.
func textsOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, s := range sources(t) {
		if s.isTest() || path.Dir(s.path) != dir {
			continue
		}
		for _, text := range stringsIn(s.File, nil) {
			if strings.Contains(text, " ") {
				all = append(all, text)
			}
		}
	}
	return all
}
