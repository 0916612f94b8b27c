package entry_test

import (
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestAFirstEntryIsOfferedOnceItsPowersAreConfirmed(t *testing.T) {
	for group, want := range map[string]struct{ controller, ready string }{
		"example.com":            {controller: "the controller of example.com"},
		"cert-manager.io":        {controller: "cert-manager"},
		"sqs.services.k8s.aws":   {controller: "ACK", ready: "ACK.ResourceSynced"},
		"database.crossplane.io": {controller: "Crossplane"},
	} {
		t.Run(group, func(t *testing.T) {
			crd := parse[apiext.CustomResourceDefinition](t, strings.ReplaceAll(definition, "example.com", group))
			crd.Spec.Names.Kind = "HTTPWidgetSet"
			first, err := entry.First(crd)
			if err != nil {
				t.Fatal(err)
			}
			s := first.Spec
			if s.Title != "HTTP widget set" || s.Definition.Version != "v1" || s.Controller.Name != want.controller {
				t.Errorf("got %q, %s, %q; want HTTP widget set, v1, %q", s.Title, s.Definition.Version,
					s.Controller.Name, want.controller)
			}
			ready := ""
			if s.States != nil && len(s.States.Ready) > 0 {
				ready = s.States.Ready[0].Condition
			}
			if ready != want.ready {
				t.Errorf("it is ready by %q, want %q", ready, want.ready)
			}
			if s.Page.Endpoint != ".status.url" || !slices.Equal(s.Page.Columns, []string{"Size"}) {
				t.Errorf("page %+v", s.Page)
			}
			if !slices.Equal(s.Form.First, []v1alpha1.FieldName{"size"}) {
				t.Errorf("first fields %q", s.Form.First)
			}
			report := entry.Check(&s, crd)
			if len(report.Missing) > 0 {
				t.Errorf("it names what does not exist: %q", report.Missing)
			}
			s.Confirmed = report.Powers
			if err := entry.Check(&s, crd).Refused; err != nil {
				t.Errorf("with its powers confirmed: %v", err)
			}
		})
	}
}

// TestTheFirstFieldsAreThoseThatPeopleFill checks their order: required ones, then texts and their lists, numbers, and
// switches.
func TestTheFirstFieldsAreThoseThatPeopleFill(t *testing.T) {
	text := strings.ReplaceAll(definition, "size: {type: integer}", `size: {type: integer}
              shared: {type: boolean}
              names: {type: array, items: {type: string}}
              count: {type: integer}
              about: {type: string}
              more: {type: object}`)
	first, err := entry.First(parse[apiext.CustomResourceDefinition](t, text))
	if err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.FieldName{"about", "names", "count", "size", "shared"}
	if got := first.Spec.Form.First; !slices.Equal(got, want) {
		t.Errorf("first fields %q, want %q", got, want)
	}
}

func TestNoFirstEntryIsWrittenForWhatCannotBeOffered(t *testing.T) {
	text := strings.Replace(definition, "scope: Namespaced", "scope: Cluster", 1)
	crd := parse[apiext.CustomResourceDefinition](t, text)
	if _, err := entry.First(crd); err == nil || !strings.Contains(err.Error(), "cluster-scoped") {
		t.Errorf("got %v", err)
	}
}

func TestRolesGiveWhatTheEntryNames(t *testing.T) {
	for name, c := range map[string]struct {
		more string
		want []string // labels, and verbs
	}{
		"all verbs": {"", []string{
			"portal: get list watch",
			"admin developer owner viewer: get list watch",
			"impersonator: impersonate-on:user-info:create impersonate-on:serviceaccount:create " +
				"impersonate-on:user-info:update impersonate-on:serviceaccount:update " +
				"impersonate-on:user-info:patch impersonate-on:serviceaccount:patch " +
				"impersonate-on:user-info:delete impersonate-on:serviceaccount:delete",
			"admin developer owner: create update patch delete",
		}},
		"only reading": {"verbs: [get, list, watch]", []string{
			"portal: get list watch", "admin developer owner viewer: get list watch",
		}},
		"only by admins": {"writers: Admins\nverbs: [get, list, watch, delete]", []string{
			"portal: get list watch", "admin developer owner viewer: get list watch",
			"impersonator: impersonate-on:user-info:delete impersonate-on:serviceaccount:delete", "admin: delete",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &v1alpha1.CatalogEntry{Spec: *parse[v1alpha1.CatalogEntrySpec](t, plain+c.more)}
			var got []string
			for _, r := range entry.Roles(e) {
				var to []string
				for label := range r.Labels {
					if role, ok := strings.CutPrefix(label, entry.AggregateTo); ok {
						to = append(to, role)
					}
				}
				slices.Sort(to)
				got = append(got, strings.Join(to, " ")+": "+strings.Join(r.Rules[0].Verbs, " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
