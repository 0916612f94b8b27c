package request

import (
	"context"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// checkedWith are the inputs on which the check of a hostname depends.
var checkedWith = []string{form.HostnameField, "spec.zoneId", "spec.visibility", "spec.environment"}

// withoutGrant returns why a team without a grant cannot request hostnames.
func withoutGrant(team string) views.Closed {
	return views.Closed{
		Title: team + " cannot have hostnames yet",
		Text: "A platform admin gives a team a HostnameGrant, which says under which domains it can have hostnames. " +
			"Tell a platform admin which domain " + team + " needs.",
	}
}

// hostnameCheck responds, while a hostname is typed, with the part of the form that says whether it is available.
func (p *Pages) hostnameCheck(w http.ResponseWriter, r *http.Request) error {
	id, err := page.Caller(r)
	if err != nil {
		return err
	}
	s, q := p.SpaceOf(r), r.URL.Query()
	check, err := p.checkOf(r.Context(), id, s, availability.Query{
		Hostname: strings.TrimSpace(q.Get(form.HostnameField)), Zone: q.Get("spec.zoneId"),
		Visibility: q.Get("spec.visibility"), Environment: q.Get("spec.environment"),
	})
	if err != nil {
		return err
	}
	return p.Show(w, r, http.StatusOK, views.CheckPart(check))
}

// checkOf returns the check of a hostname; empty without one.
func (p *Pages) checkOf(ctx context.Context, id auth.Identity, s page.Space, q availability.Query) (
	views.Check, error,
) {
	check := views.Check{Field: form.HostnameField, Href: views.HostnameCheckPath(s.Team.ID), With: checkedWith}
	answer, err := p.Cluster.Hostnames.Check(ctx, id, s.Namespace, q)
	if err != nil || q.Hostname == "" {
		return check, err
	}
	check.Look = checkLook(answer)
	if link := p.HolderLink(answer.Holder); link.Value != "" {
		check.Links = append(check.Links, views.Choice{Value: link.Value, Label: "See " + link.Label})
	}
	if answer.State == availability.NotGranted {
		link, err := p.grantLink(ctx, id, s)
		if err != nil {
			return check, err
		}
		check.Links = append(check.Links, link...)
	}
	return check, nil
}

// grantLink returns a link to the team's grant, for callers who can see it.
func (p *Pages) grantLink(ctx context.Context, id auth.Identity, s page.Space) ([]views.Choice, error) {
	ref, ok := p.grantRef(s.Namespace)
	if !ok {
		return nil, nil
	}
	may, err := p.Cluster.Rights.Can(ctx, id, "get", ref.Kind, s.Namespace)
	if err != nil || !may {
		return nil, err
	}
	return []views.Choice{{Value: views.ResourcePath(s.Team.ID, ref.Kind.Plural, ref.Name), Label: "See what " +
		s.Team.Name + " may have"}}, nil
}

func checkLook(a availability.Answer) views.Look {
	l := views.Look{Icon: "alert", Tone: "warn", Text: humanize.Sentence(a.Message)}
	switch a.State {
	case availability.Free:
		l.Word, l.Icon, l.Tone = "Free", "check", "good"
	case availability.Invalid:
		l.Word = "Not valid"
	case availability.Taken:
		l.Word, l.Tone = "Taken", "bad"
	case availability.Overlaps:
		l.Word, l.Tone = "Overlaps", "bad"
	case availability.Yours:
		l.Word, l.Icon, l.Tone = "Yours", "info", "busy"
	case availability.NoGrant, availability.NotGranted:
		l.Word, l.Tone = "Not granted", "bad"
	}
	return l
}

// judged returns what no validation of the cluster finds: errors, and why the object could not become Ready at present.
func (p *Pages) judged(ctx context.Context, f formRequest, obj *unstructured.Unstructured) (
	catalog.FieldErrors, []string, error,
) {
	if f.kind.ID() == page.TeamKind {
		return p.judgedTeam(ctx, f, obj)
	}
	if !page.IsHostname(f.kind) {
		return wrongPolicy(obj), nil, nil
	}
	answer, err := p.Cluster.Hostnames.Check(ctx, f.id, f.space.Namespace, queryOfObject(obj))
	switch {
	case err != nil || answer.State == availability.Free:
		return nil, nil, err
	case answer.State == availability.Invalid:
		return catalog.FieldErrors{{Field: form.HostnameField, Message: answer.Message}}, nil, nil
	}
	words := humanize.Sentence(answer.Message)
	if link := p.HolderLink(answer.Holder); link.Label != "" {
		words += " It is " + link.Label + "."
	}
	return nil, []string{words}, nil
}

// queryOfObject returns the query for an object that may be invalid.
func queryOfObject(obj *unstructured.Unstructured) availability.Query {
	return availability.Query{
		Hostname: catalog.TextAt(obj, "spec", "hostname"), Zone: catalog.TextAt(obj, "spec", "zoneId"),
		Visibility: catalog.TextAt(obj, "spec", "visibility"), Environment: catalog.TextAt(obj, "spec", "environment"),
	}
}

// grantRef returns the one HostnameGrant of a namespace.
func (p *Pages) grantRef(namespace string) (catalog.Ref, bool) {
	k, ok := p.Cluster.Kinds.Now().ByName(page.GrantKind)
	return catalog.Ref{Kind: k, Namespace: namespace, Name: v1alpha1.HostnameGrantName}, ok
}
