package rest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/limit"
)

func TestMeSaysWhatTheCallerMayDo(t *testing.T) {
	f := newFake(t)
	f.denied = []string{"delete payments", "patch payments"}
	var me struct {
		Username   string
		Namespaces []string
		May        map[string][]string
	}
	read := func(path string, into any) {
		t.Helper()
		w := f.call("GET", path, "")
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil || w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	read("/me", &me)
	if me.Username != "system:serviceaccount:payments:ci" || !slices.Equal(me.Namespaces, []string{"payments"}) ||
		me.May != nil {
		t.Errorf("%+v", me)
	}
	read("/me?namespace=payments", &me)
	want := []string{"get", "list", "create", "update"}
	if !slices.Equal(me.May["s3buckets"], want) || me.May["poolgateways"] == nil || me.May["awsproviders"] != nil {
		t.Errorf("may %v", me.May)
	}
	var kinds struct {
		Items []struct {
			Resource  string
			CanCreate *bool
			May       []string
		}
	}
	read("/catalog?namespace=payments", &kinds)
	for _, k := range kinds.Items {
		if k.CanCreate == nil || !*k.CanCreate || !slices.Equal(k.May, want) {
			t.Errorf("%+v", k)
		}
	}
	var spaces struct{ Items []struct{ Name string } }
	if read("/namespaces", &spaces); len(spaces.Items) != 1 || spaces.Items[0].Name != "payments" {
		t.Errorf("%+v", spaces)
	}
	wantProblem(t, f.call("GET", "/me?namespace=..", ""), 422)
}

func TestCallersThatAskTooOftenWait(t *testing.T) {
	f := newFake(t)
	clock := clocktesting.NewFakePassiveClock(time.Now())
	f.limiter = limit.New(limit.Rate{PerSecond: 0.5, Burst: 2}, clock)
	for range 2 {
		if w := f.call("GET", "/me", ""); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	w := f.call("GET", "/me", "")
	if wantProblem(t, w, 429); w.Header().Get("Retry-After") != "2" ||
		!strings.Contains(w.Body.String(), "Retry-After") {
		t.Errorf("asks for %q seconds: %s", w.Header().Get("Retry-After"), w.Body)
	}
	if w := f.call("GET", "/openapi.json", ""); w.Code != 200 {
		t.Errorf("the document: %d", w.Code)
	}
	clock.SetTime(clock.Now().Add(2 * time.Second))
	if w := f.call("GET", "/me", ""); w.Code != 200 {
		t.Errorf("after that time: %d", w.Code)
	}
	wantProblem(t, f.call("GET", "/me", ""), 429)
}

func TestTheCatalogSaysWhatRequestsBeginWith(t *testing.T) {
	const defaults = `"defaults":{"provider":"aws-prod","deletionPolicy":"Retain"}`
	begins := v1alpha1.TeamDefaults{Provider: "aws-prod", DeletionPolicy: v1alpha1.DeletionRetain}
	for name, c := range map[string]struct {
		begins v1alpha1.TeamDefaults
		path   string
		denied []string
		told   bool
	}{
		"of a team":                     {begins, "/catalog?namespace=payments", nil, true},
		"of a team without any":         {v1alpha1.TeamDefaults{}, "/catalog?namespace=payments", nil, false},
		"no namespace is named":         {begins, "/catalog", nil, false},
		"to those who request one kind": {begins, "/catalog?namespace=payments", []string{"create payments s3buckets"}, true},
		"not to those who only look":    {begins, "/catalog?namespace=payments", []string{"create payments"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.begins, f.denied = c.begins, c.denied
			w := f.call("GET", c.path, "")
			if text := w.Body.String(); w.Code != 200 || strings.Contains(text, defaults) != c.told ||
				strings.Contains(text, `"defaults"`) != c.told {
				t.Errorf("%d %s", w.Code, text)
			}
		})
	}
}

func TestTheCatalogTellsWhichAWSAccountsCanBeUsed(t *testing.T) {
	main := teams.Provider{Name: "aws-main", Region: "eu-west-1", AccountID: "111122223333", Ready: true}
	const told = `"providers":[{"name":"aws-main","region":"eu-west-1","accountID":"111122223333","ready":true}`
	for name, c := range map[string]struct {
		open          []teams.Provider
		prefers       string
		denied        []string
		want, without string
	}{
		"the only one is the default": {[]teams.Provider{main}, "", nil, `"defaults":{"provider":"aws-main"}`, "-"},
		"of several none is":          {[]teams.Provider{main, {Name: "aws-b"}}, "", nil, told, `"defaults"`},
		"the team prefers one":        {[]teams.Provider{main, {Name: "aws-b"}}, "aws-b", nil, `"defaults":{"provider":"aws-b"}`, "-"},
		"there is none":               {nil, "", nil, `"items"`, `"providers"`},
		"not to those who only look":  {[]teams.Provider{main}, "", []string{"create payments"}, `"items"`, "aws-main"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.open, f.begins.Provider, f.denied = c.open, c.prefers, c.denied
			w := f.call("GET", "/catalog?namespace=payments", "")
			text := w.Body.String()
			if w.Code != 200 || !strings.Contains(text, c.want) {
				t.Errorf("%d %s, want 200 with %s", w.Code, text, c.want)
			}
			if c.without != "-" && strings.Contains(text, c.without) {
				t.Errorf("%s, want no %s in it", text, c.without)
			}
		})
	}
}
