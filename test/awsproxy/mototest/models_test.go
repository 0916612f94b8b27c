//go:build integration

package mototest_test

import (
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	serviceImport = regexp.MustCompile(`(?m)^\s*(?:(\w+) )?"github.com/aws/aws-sdk-go-v2/service/(\w+)"`)
	inputOfCall   = regexp.MustCompile(`\b(\w+)\.([A-Z]\w+)Input\b`)
)

// callsOfTheControllers returns the operations that the controllers call, by service.
func callsOfTheControllers(t *testing.T) map[string][]string {
	t.Helper()
	calls := map[string][]string{"sts": {"GetCallerIdentity", "AssumeRole", "AssumeRoleWithWebIdentity"}}
	err := filepath.WalkDir("../../../controllers", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		services := map[string]string{}
		for _, m := range serviceImport.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if name == "" {
				name = m[2]
			}
			services[name] = m[2]
		}
		for _, m := range inputOfCall.FindAllStringSubmatch(string(text), -1) {
			if service, ok := services[m[1]]; ok {
				calls[service] = append(calls[service], m[2])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// model has the needed parts of a service's description in botocore.
type model struct {
	Operations map[string]struct {
		Errors []struct{ Shape string }
	}
	Shapes map[string]struct{ Error struct{ Code string } }
}

func modelOf(t *testing.T, service string) (m model) {
	t.Helper()
	if service == "elasticloadbalancingv2" {
		service = "elbv2"
	}
	found, err := filepath.Glob("../../../.venv/lib/python3*/site-packages/botocore/data/" + service +
		"/*/service-2.json.gz")
	if err != nil || len(found) == 0 {
		t.Fatalf("no model of %s: %v", service, err)
	}
	f, err := os.Open(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(&m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTheListOfErrorsIsThatOfTheModels checks the list that the operator's error codes are compared with: it must match
// botocore's models for all operations that the operator calls.
func TestTheListOfErrorsIsThatOfTheModels(t *testing.T) {
	var want []string
	for service, operations := range callsOfTheControllers(t) {
		m := modelOf(t, service)
		for _, name := range operations {
			o, ok := m.Operations[name]
			if !ok {
				t.Errorf("the model of %s has no %s", service, name)
			}
			for _, e := range o.Errors {
				code := m.Shapes[e.Shape].Error.Code
				if code == "" {
					code = e.Shape
				}
				want = append(want, service+" "+code)
			}
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	const file = "../../../controllers/cloud/testdata/errors.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "#")
	})
	for _, line := range want {
		if !slices.Contains(have, line) {
			t.Errorf("%s lacks %s", file, line)
		}
	}
	for _, line := range have {
		if !slices.Contains(want, line) {
			t.Errorf("%s has %s, which no model of a call has", file, line)
		}
	}
}
