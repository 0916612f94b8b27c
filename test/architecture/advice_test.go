package architecture

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/crd"
)

// adviceWhileFree has parts of advice to edit an immutable field, with the reason why nothing has been created whenever
// it is given.
var adviceWhileFree = map[string]string{
	"or choose another region, while nothing is created": "it says so",
	"%s without bucketName":                              "again says how",
	"another AWS account has a bucket named":             "the reservation is taken back: controllers/aws/s3/create.go",
}

var (
	edits     = regexp.MustCompile(`(?i)\b(ask for|choose|name|correct|change|set|leave|remove|give|switch|take|use)\b`)
	again     = regexp.MustCompile(`(?i)request|new object|delete this object`)
	fieldWord = regexp.MustCompile(`\b[a-z][A-Za-z]+\b`)
	// nouns match what reads like an edit and is none.
	nouns = regexp.MustCompile(`(?i)\b(a|another|its|last|same|that|the|this) (change|name|set|use)\b|\bto take\b`)
	// sameAs matches what a rule keeps as it was.
	sameAs = regexp.MustCompile(`\bself((?:\.\w+)*) == oldSelf\b`)
)

// advisers are the folders of controllers whose texts are about objects of one kind. Those of others can be about any.
var advisers = map[string]string{
	"accessbinding": "AccessBinding", "aws/ec2": "EC2Instance", "aws/rds": "RDSInstance", "aws/s3": "S3Bucket",
	"aws/sns": "SNSTopic", "aws/sqs": "SQSQueue", "databaseuser": "DatabaseUser", "deploy": "Team",
	"hostname": "GatewayHostnameRequest", "provider": "AWSProvider", "team": "Team", "webapp": "WebApp",
}

// TestAdviceNamesNoEditThatIsRefused reads every text of the controllers that advises editing a field which is
// immutable once the resource exists. The text must say to request a new object, or be in adviceWhileFree.
func TestAdviceNamesNoEditThatIsRefused(t *testing.T) {
	fixed := fixedFields(t)
	for _, kind := range []string{"EC2Instance", "GatewayHostnameRequest", "RDSInstance", "S3Bucket"} {
		if len(fixed[kind]) < 3 {
			t.Fatalf("%s: only %v is fixed", kind, fixed[kind])
		}
	}
	var ofAll []string
	for kind, fields := range fixed {
		if kind != v1alpha1.KindDomainClaim && kind != v1alpha1.KindPoolGateway { // nobody edits those
			ofAll = append(ofAll, fields...)
		}
	}
	used, seen := map[string]bool{}, map[string]bool{}
	for dir, texts := range textsOf(t, "controllers") {
		fields := ofAll
		for folder, kind := range advisers {
			if dir == folder || strings.HasPrefix(dir, folder+"/") {
				fields, seen[folder] = fixed[kind], true
			}
		}
		for _, text := range texts {
			for _, word := range refusedEdits(text, fields) {
				if known := knownFree(text); known != "" {
					used[known] = true
					continue
				}
				t.Errorf("controllers/%s: %q tells people to edit %s, which cannot change once something is made. Say "+
					"to request a new object, or add it to adviceWhileFree", dir, text, word)
			}
		}
	}
	for folder := range advisers {
		if !seen[folder] {
			t.Errorf("there are no texts in controllers/%s", folder)
		}
	}
	for part := range adviceWhileFree {
		if !used[part] {
			t.Errorf("nobody says %q any more", part)
		}
	}
}

// refusedEdits returns the fields that a text tells people to edit.
func refusedEdits(text string, fixed []string) (words []string) {
	for _, clause := range regexp.MustCompile(`[.;:] `).Split(text, -1) {
		if !edits.MatchString(nouns.ReplaceAllString(clause, "")) || again.MatchString(clause) {
			continue
		}
		for _, word := range fieldWord.FindAllString(clause, -1) {
			if slices.Contains(fixed, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

func knownFree(text string) string {
	for part := range adviceWhileFree {
		if strings.Contains(text, part) {
			return part
		}
	}
	return ""
}

// fixedFields returns the fields that validation rules compare with what they were, by kind. Rules that let pass what
// was there before name it as optional.
func fixedFields(t *testing.T) map[string][]string {
	t.Helper()
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string][]string{}
	for _, kind := range all {
		fields[kind.Spec.Names.Kind] = fixedIn(kind.Spec.Versions[0].Schema.OpenAPIV3Schema, "")
	}
	return fields
}

func fixedIn(s *apiextensionsv1.JSONSchemaProps, name string) (fields []string) {
	for _, r := range s.XValidations {
		for _, m := range sameAs.FindAllStringSubmatch(r.Rule, -1) {
			switch path := strings.Split(m[1], "."); {
			case r.OptionalOldSelf != nil && *r.OptionalOldSelf:
			case m[1] != "":
				fields = append(fields, path[len(path)-1])
			case len(s.Properties) == 0:
				fields = append(fields, name)
			default:
				fields = append(fields, slices.Collect(maps.Keys(s.Properties))...)
			}
		}
	}
	for inner := range s.Properties {
		p := s.Properties[inner]
		fields = append(fields, fixedIn(&p, inner)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		fields = append(fields, fixedIn(s.Items.Schema, name)...)
	}
	return fields
}

// textsOf returns the strings in the Go files below a folder, except its tests, by their folder in it.
func textsOf(t *testing.T, top string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, s := range sources(t) {
		dir, below := strings.CutPrefix(path.Dir(s.path), top+"/")
		if s.isTest() || !below {
			continue
		}
		for _, text := range stringsIn(s.File, nil) {
			if strings.Contains(text, " ") {
				all[dir] = append(all[dir], text)
			}
		}
	}
	return all
}
