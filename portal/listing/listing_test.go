package listing

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/overview"
)

// kinds has for each kind one row, or an error.
type kinds map[string]error

// parts returns the parts of a Cluster that are read.
func (k kinds) parts() *cluster.Cluster {
	return &cluster.Cluster{Rights: ahead{}, Objects: rows{is: k}}
}

type ahead struct{ cluster.Rights }

func (ahead) Ahead(context.Context, auth.Identity, ...rights.Right) {}

type rows struct {
	cluster.Objects
	is kinds
}

func (r rows) Rows(_ context.Context, _ auth.Identity, of catalog.Kind, namespace string) ([]*overview.Row, error) {
	if err := r.is[of.Plural]; err != nil {
		return nil, err
	}
	return []*overview.Row{{Name: of.Plural + "-1", Namespace: namespace}}, nil
}

func plurals(c catalog.Catalog) []string {
	var out []string
	for _, k := range c {
		out = append(out, k.Plural)
	}
	return out
}

func TestKindsThatMayNotBeListedAreLeftOutAndTold(t *testing.T) {
	forbidden, broken := &failure.ForbiddenError{Verb: "list"}, errors.New("broken")
	all := catalog.Catalog{{Plural: "a"}, {Plural: "b"}}
	for name, c := range map[string]struct {
		is                kinds
		listed, forbidden []string
		fails             error
	}{
		"all are allowed":   {kinds{}, []string{"a", "b"}, nil, nil},
		"one is forbidden":  {kinds{"a": forbidden}, []string{"b"}, []string{"a"}, nil},
		"all are forbidden": {kinds{"a": forbidden, "b": forbidden}, nil, nil, forbidden},
		"one cannot be had": {kinds{"a": forbidden, "b": broken}, nil, nil, broken},
	} {
		found, err := Read(t.Context(), c.is.parts(), auth.Identity{}, all, "payments")
		if !errors.Is(err, c.fails) || !slices.Equal(plurals(found.Kinds), c.listed) ||
			!slices.Equal(plurals(found.Forbidden), c.forbidden) {
			t.Errorf("%s: listed %v, forbidden %v, %v", name, plurals(found.Kinds), plurals(found.Forbidden), err)
		}
		for i, l := range found.Items {
			if l.Kind.Plural != c.listed[i] || l.Name != c.listed[i]+"-1" {
				t.Errorf("%s: %s is of kind %s", name, l.Name, l.Kind.Plural)
			}
		}
	}
}

func TestFilters(t *testing.T) {
	l := Item{&overview.Row{
		Name: "logs", Namespace: "payments", Phase: phase.Ready, Endpoint: "payments-logs", Provider: "prod",
		Requester: "oidc:ann",
		Object: &unstructured.Unstructured{
			Object: map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "a"}}},
		},
	}, &catalog.Kind{Name: "S3Bucket", Plural: "s3buckets", Title: "Bucket"}}
	selector := func(s string) labels.Selector {
		parsed, err := labels.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for _, c := range []struct {
		reason string
		filter Filter
		want   bool
	}{
		{"no filter", Filter{}, true},
		{"every one at once", Filter{
			Kind: "s3buckets", Namespace: "payments", Phase: phase.Ready, Provider: "prod",
			Requester: "oidc:ann", Labels: selector("team=a"), Words: "LOGS bucket s3 prod ann", Across: true,
		}, true},
		{"another kind", Filter{Kind: "sqsqueues"}, false},
		{"another namespace", Filter{Namespace: "search"}, false},
		{"another provider", Filter{Provider: "pro"}, false},
		{"another phase", Filter{Phase: phase.Paused}, false},
		{"somebody else", Filter{Requester: "oidc:bob"}, false},
		{"other labels", Filter{Labels: selector("!team")}, false},
		{"a word that is not there", Filter{Words: "logs queue"}, false},
		{"the namespace of a list of one", Filter{Words: "payments "}, true}, // it is in the endpoint
		{"the namespace of a list of all", Filter{Words: "payments", Across: true}, true},
		{"the beginning of a username", Filter{Words: "oidc"}, false},
		{"a whole username", Filter{Words: "oidc:ann"}, true},
	} {
		if got := c.filter.Matches(l); got != c.want {
			t.Errorf("%s: %v", c.reason, got)
		}
	}
}
