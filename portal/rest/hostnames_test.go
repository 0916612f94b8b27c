package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// CheckHostname returns what the test prepared, and records the query.
func (f *fakeCluster) Check(_ context.Context, _ auth.Identity, namespace string, q availability.Query) (
	availability.Answer, error,
) {
	f.possible(f.Kinds[0], namespace, "x")
	f.checked = append(f.checked, q)
	if slices.Contains(f.denied, "check "+namespace) {
		return availability.Answer{}, &failure.ForbiddenError{
			Verb: "list", Resource: "gatewayhostnamerequests", Namespace: namespace,
		}
	}
	return f.answer, nil
}

func TestHostnameCheck(t *testing.T) {
	const at = "/namespaces/payments/hostnames/check"
	for name, c := range map[string]struct {
		answer availability.Answer
		want   string
	}{
		"free": {
			availability.Answer{
				State: availability.Free, Hostname: "a.example.com",
				Message: "a.example.com is free",
			},
			`{"state":"free","hostname":"a.example.com","message":"a.example.com is free"}`,
		},
		"invalid": {availability.Answer{State: availability.Invalid, Field: "hostname", Message: "no"}, `{"state":"invalid","message":"no","field":"hostname"}`},
		"taken": {availability.Answer{
			State: availability.Taken, Hostname: "a.example.com", Field: "hostname",
			Message: "no",
		}, `{"state":"taken","hostname":"a.example.com","message":"no","field":"hostname"}`},
		"with the owner": {
			availability.Answer{State: availability.Taken, Message: "no", Holder: availability.Holder{
				Namespace: "search", Name: "find",
			}},
			`{"state":"taken","message":"no","holder":{"namespace":"search","name":"find"}}`,
		},
	} {
		f := newFake(t)
		f.answer = c.answer
		if w := f.call("GET", at+"?hostname=a.example.com", ""); w.Code != 200 ||
			strings.TrimSpace(w.Body.String()) != c.want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	f := newFake(t)
	for query, want := range map[string]availability.Query{
		"?hostname=*.example.com": {Hostname: "*.example.com", Visibility: "internet-facing", Environment: "dev"},
		"?hostname=a.example.com&visibility=internal&environment=prod&zone=Z1": {Hostname: "a.example.com", Visibility: "internal", Environment: "prod", Zone: "Z1"},
	} {
		f.checked = nil
		if f.call("GET", at+query, ""); len(f.checked) != 1 || f.checked[0] != want {
			t.Errorf("%s asks %+v", query, f.checked)
		}
	}
	for _, query := range []string{
		"", "?hostname=", "?hostname=a.example.com&visibility=public",
		"?hostname=a.example.com&name=x",
	} {
		wantProblem(t, f.call("GET", at+query, ""), http.StatusUnprocessableEntity)
	}
	f.denied = []string{"check payments"}
	wantProblem(t, f.call("GET", at+"?hostname=a.example.com", ""), http.StatusForbidden)
	wantProblem(t, f.call("GET", "/namespaces/%2e%2e/hostnames/check?hostname=a.example.com", ""), http.StatusForbidden)
}

func TestKeptKindsAreReadOnly(t *testing.T) {
	f := newFake(t)
	for path, kept := range map[string]bool{
		"/namespaces/payments/hostnamegrants": true, "/namespaces/portico-gateways/poolgateways": true,
		"/domainclaims": true,
		"/namespaces/payments/gatewayhostnamerequests": false, "/awsproviders": false,
	} {
		if w := f.call("GET", path, ""); w.Code != http.StatusOK {
			t.Errorf("listing %s answers %d", path, w.Code)
		}
		if w := f.call("GET", path+"/none", ""); w.Code != http.StatusNotFound {
			t.Errorf("getting one of %s answers %d", path, w.Code)
		}
		for method, target := range map[string]string{"POST": path, "DELETE": path + "/none"} {
			if w := f.call(method, target,
				`{"metadata":{"name":"x"},"spec":{}}`); (w.Code == http.StatusMethodNotAllowed) != kept {
				t.Errorf("%s %s answers %d", method, target, w.Code)
			}
		}
	}
	if slices.Contains(f.writes, "delete") || len(f.writes) != 2 {
		t.Errorf("wrote %v", f.writes)
	}
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if p := doc.Paths["/domainclaims"]; p["get"] == nil || p["post"] != nil {
		t.Errorf("the document offers %v of claims", p)
	}
	if doc.Paths["/namespaces/{namespace}/hostnames/check"]["get"] == nil {
		t.Error("the document does not know of the check")
	}
}
