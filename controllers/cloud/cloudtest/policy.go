// Package cloudtest checks the documentation about AWS against the code.
package cloudtest

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// policy is the checked part of an IAM policy document.
type policy struct {
	Version   string
	Statement []struct {
		Sid, Effect string
		Action      []string
		Resource    any
		Condition   map[string]map[string]any
	}
}

// Policy checks that the policy document in file allows exactly the actions of calls, an adapter's interface to its
// service and thus all its calls. An action has the call's name unless named overrides it; named[""] lists actions
// without a call, such as iam:PassRole.
func Policy(t *testing.T, file, service string, calls reflect.Type, named map[string][]string) {
	t.Helper()
	allowed, needed := allowedBy(t, file), neededBy(service, calls, named)
	for _, action := range slices.Sorted(maps.Keys(needed)) {
		if !allowed[action] {
			t.Errorf("%s does not allow %s, which the operator calls", file, action)
		}
	}
	for _, action := range slices.Sorted(maps.Keys(allowed)) {
		if !needed[action] {
			t.Errorf("%s allows %s, which the operator never calls", file, action)
		}
	}
}

// allowedBy returns the actions that the document allows, as a set.
func allowedBy(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of this repository
	if err != nil {
		t.Fatal(err)
	}
	var doc policy
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	allowed := map[string]bool{}
	for _, s := range doc.Statement {
		if s.Effect != "Allow" || s.Sid == "" || s.Resource == nil {
			t.Errorf("statement %q: it needs a Sid, a Resource and the effect Allow", s.Sid)
		}
		for _, action := range s.Action {
			if strings.Contains(action, "*") {
				t.Errorf("statement %q allows %s: name each action", s.Sid, action)
			}
			allowed[action] = true
		}
	}
	return allowed
}

func neededBy(service string, calls reflect.Type, named map[string][]string) map[string]bool {
	needed := map[string]bool{}
	for _, action := range named[""] {
		needed[action] = true
	}
	for method := range calls.Methods() {
		actions, special := named[method.Name]
		if !special {
			actions = []string{service + ":" + method.Name}
		}
		for _, action := range actions {
			needed[action] = true
		}
	}
	return needed
}
