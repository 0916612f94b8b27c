package operator

import (
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/portico-platform/portico/api/operatorapi"
)

func TestFeatures(t *testing.T) {
	off := Features{Known: true, Features: operatorapi.Features{Items: []operatorapi.Feature{
		{Name: "hostnames", Why: "there is no Gateway API"},
	}}}
	for name, c := range map[string]struct {
		status int
		body   string
		want   Features
	}{
		"one is off":                         {200, `{"items":[{"name":"hostnames","on":false,"why":"there is no Gateway API"}]}`, off},
		"there are none":                     {200, `{"items":[]}`, Features{Known: true, Features: operatorapi.Features{Items: []operatorapi.Feature{}}}},
		"an operator that knows of none":     {404, `{}`, Features{}},
		"an operator that does not let us":   {403, `{}`, Features{}},
		"what is no answer to this question": {200, `<html>`, Features{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeader(t, "")
			l.says(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != operatorapi.FeaturesPath || r.Header.Get("Authorization") != "Bearer token-1" {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			b := newBench(t, l)
			for range 2 {
				if got := b.Features(t.Context()); !reflect.DeepEqual(got, c.want) {
					t.Errorf("%+v, want %+v", got, c.want)
				}
			}
			if n := l.asked.Load(); c.status != 403 && c.body != "<html>" && n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestAnUnknownQuestionOpensNoCircuit: an operator of an earlier version lacks the path, and still answers other
// requests.
func TestAnUnknownQuestionOpensNoCircuit(t *testing.T) {
	l := newLeader(t, "one")
	knows := *l.answer.Load()
	l.says(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == operatorapi.FeaturesPath {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		knows(w, r)
	})
	b := newBench(t, l)
	if got := b.Features(t.Context()); got.Known {
		t.Errorf("%+v", got)
	}
	b.want(Checked, "one")
}
