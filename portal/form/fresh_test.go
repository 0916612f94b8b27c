package form

import (
	"net/url"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

func TestFormsBeginAsTheTeamWants(t *testing.T) {
	accounts := func(names ...string) (all []Provider) {
		for _, name := range names {
			all = append(all, Provider{Name: name, Ready: true})
		}
		return all
	}
	for name, c := range map[string]struct {
		kind             string
		accounts         []Provider
		defaults         v1alpha1.TeamDefaults
		account, deleted string
	}{
		"nothing is said":                      {"S3Bucket", accounts("main", "other"), v1alpha1.TeamDefaults{}, "", ""},
		"the only account":                     {"S3Bucket", accounts("main"), v1alpha1.TeamDefaults{}, "main", ""},
		"one of several accounts":              {"S3Bucket", accounts("main", "other"), v1alpha1.TeamDefaults{Provider: "other"}, "other", ""},
		"an account that is not open":          {"S3Bucket", accounts("main", "other"), v1alpha1.TeamDefaults{Provider: "closed"}, "", ""},
		"what is deleted here stays in AWS":    {"RDSInstance", accounts("main"), v1alpha1.TeamDefaults{DeletionPolicy: v1alpha1.DeletionRetain}, "main", "Retain"},
		"the kind does it anyway":              {"S3Bucket", accounts("main"), v1alpha1.TeamDefaults{DeletionPolicy: v1alpha1.DeletionDelete}, "main", ""},
		"the kind has nothing that could stay": {"WebApp", nil, v1alpha1.TeamDefaults{DeletionPolicy: v1alpha1.DeletionRetain}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			k, _ := catalogtest.Kinds(t).ByName(c.kind)
			facts := Facts{Team: views.Team{ID: "payments", Name: "payments"}, Namespace: "payments"}
			d := Fresh(k, url.Values{}, facts, Offers{Providers: c.accounts, Defaults: c.defaults})
			if account, deleted := d.values.Get(ProviderField),
				d.values.Get("spec.deletionPolicy"); account != c.account || deleted != c.deleted {
				t.Errorf("begins with the account %q and %q, want %q and %q", account, deleted, c.account, c.deleted)
			}
		})
	}
}
