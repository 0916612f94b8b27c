package pages

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// hostnameField is the input whose value is checked while it is typed; those in checkedWith have a say in it.
const hostnameField = "spec.hostname"

var checkedWith = []string{hostnameField, "spec.zoneId", "spec.visibility", "spec.environment"}

// grants adds to the form of a hostname what the team's grant allows. Without one there is no form to fill in.
func (p *Pages) grants(ctx context.Context, a *asking) (err error) {
	if !isHostname(a.kind) {
		return nil
	}
	if a.grant, err = p.cluster.HostnameGrant(ctx, a.id, a.space.namespace); err != nil {
		return err
	}
	if a.zones, err = p.cluster.Zones(ctx, a.id, a.space.namespace); err != nil {
		return err
	}
	if a.grant == nil {
		team := a.space.team.Name
		a.form.Closed = views.Closed{
			Title: team + " may not have hostnames yet",
			Text: "A platform admin gives a team a HostnameGrant, which says under which domains it may have hostnames. " +
				"Tell your platform team which domain " + team + " needs.",
		}
	}
	return nil
}

// narrowed is the field with the choices that the grant leaves. A default that it does not allow is none.
func (a asking) narrowed(f catalog.Field) catalog.Field {
	if a.grant == nil {
		return f
	}
	allowed := map[string][]string{
		"spec.zoneId": texts(a.grant.Zones), "spec.visibility": texts(a.grant.Visibilities), "spec.environment": texts(a.grant.Environments),
	}[f.Path]
	if len(allowed) == 0 {
		return f
	}
	f.Options = allowed
	if f.Default != "" && !slices.Contains(allowed, f.Default) {
		f.Default, f.Required = "", true
	}
	return f
}

// zoneFields name hosted zones, by their IDs.
var zoneFields = []string{"spec.zoneId", "spec.validationZoneId"}

// worded are the options of a hosted zone with the domain in front, where it is known.
func (a asking) worded(f catalog.Field, options []views.Option) []views.Option {
	for i, o := range options {
		if domain := a.zones[o.Value]; domain != "" && slices.Contains(zoneFields, f.Path) {
			options[i].Label = domain + " (" + o.Label + ")"
		}
	}
	return options
}

// zonesFor are the hosted zones to suggest where any may be typed, by domain.
func (a asking) zonesFor(f catalog.Field) []views.Choice {
	if !slices.Contains(zoneFields, f.Path) {
		return nil
	}
	var all []views.Choice
	for zone, domain := range a.zones {
		all = append(all, views.Choice{Value: zone, Label: domain})
	}
	slices.SortFunc(all, func(x, y views.Choice) int {
		return cmp.Or(cmp.Compare(x.Label, y.Label), cmp.Compare(x.Value, y.Value))
	})
	return all
}

func suggestions(values []string) []views.Choice {
	out := make([]views.Choice, 0, len(values))
	for _, v := range values {
		out = append(out, views.Choice{Value: v})
	}
	return out
}

func texts[T ~string](all []T) []string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, string(s))
	}
	return out
}

// initial are the values of a fresh form: what can only be one thing, and the object that the address names.
func (a asking) initial(query url.Values) url.Values {
	values := url.Values{}
	if len(a.providers) == 1 {
		values.Set("spec.providerRef.name", a.providers[0].Name)
	}
	for _, f := range a.kind.Fields {
		if f = a.narrowed(f); f.Required && len(f.Options) == 1 {
			values.Set(f.Path, f.Options[0])
		}
	}
	for _, r := range a.kind.Refers {
		if name := query.Get(r.Path); name != "" && r.Beside == "" { // no other field: a link must not fill in what nobody sees
			values.Set(r.Path, name)
		}
	}
	return values
}

// withCheck adds to the input of the hostname what can be had, and the answer for what stands there now.
func (p *Pages) withCheck(ctx context.Context, a asking, d draft, view *views.Form) error {
	i := slices.IndexFunc(view.Basic, func(f views.Field) bool { return f.Name == hostnameField })
	if a.grant == nil || i < 0 {
		return nil
	}
	f := &view.Basic[i]
	f.Suggestions = suggestions(a.grant.Suffixes)
	f.Hint = "Such as shop." + a.grant.Suffixes[0] + ". " + grantWords(a.space.team.Name, *a.grant)
	check, err := p.checkOf(ctx, a.id, a.space, queryOfObject(d.object))
	f.Check = &check
	return err
}

// grantWords say what a grant allows.
func grantWords(team string, g v1alpha1.HostnameGrantSpec) string {
	text := team + " may have " + strings.Join(g.Suffixes, ", ") + " and every name below"
	if g.Wildcards {
		return text + ", wildcards too."
	}
	return text + ", but no wildcards."
}

// hostnameCheck answers for a hostname that is being typed: the part of the form that tells whether it can be had.
func (p *Pages) hostnameCheck(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s, q := p.spaceOf(r), r.URL.Query()
	check, err := p.checkOf(r.Context(), id, s, availability.Query{
		Hostname: strings.TrimSpace(q.Get(hostnameField)), Zone: q.Get("spec.zoneId"),
		Visibility: q.Get("spec.visibility"), Environment: q.Get("spec.environment"),
	})
	if err != nil {
		return err
	}
	return p.show(w, r, http.StatusOK, views.CheckPart(check))
}

// checkOf is what the form says of a hostname; nothing of none.
func (p *Pages) checkOf(ctx context.Context, id auth.Identity, s space, q availability.Query) (views.Check, error) {
	check := views.Check{Field: hostnameField, Href: views.HostnameCheckPath(s.team.ID), With: checkedWith}
	answer, err := p.cluster.CheckHostname(ctx, id, s.namespace, q)
	if err != nil || q.Hostname == "" {
		return check, err
	}
	check.Look = checkLook(answer)
	if link := p.holderLink(answer.Holder); link.Value != "" {
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

// grantLink leads to the team's grant, for those who may see it.
func (p *Pages) grantLink(ctx context.Context, id auth.Identity, s space) ([]views.Choice, error) {
	ref, ok := p.grantRef(s.namespace)
	if !ok {
		return nil, nil
	}
	may, err := p.cluster.Can(ctx, id, "get", ref.Kind, s.namespace)
	if err != nil || !may {
		return nil, err
	}
	return []views.Choice{{Value: views.ResourcePath(s.team.ID, ref.Kind.Plural, ref.Name), Label: "See what " + s.team.Name + " may have"}}, nil
}

func checkLook(a availability.Answer) views.Look {
	l := views.Look{Icon: "alert", Tone: "warn", Text: prose.Sentence(a.Message)}
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

// judged is what a review says of a hostname: an error where it can never be had, a warning where it may be later.
func (p *Pages) judged(ctx context.Context, a asking, obj *unstructured.Unstructured) (catalog.FieldErrors, []string, error) {
	if !isHostname(a.kind) {
		return nil, nil, nil
	}
	answer, err := p.cluster.CheckHostname(ctx, a.id, a.space.namespace, queryOfObject(obj))
	switch {
	case err != nil || answer.State == availability.Free:
		return nil, nil, err
	case answer.State == availability.Invalid:
		return catalog.FieldErrors{{Field: hostnameField, Message: answer.Message}}, nil, nil
	}
	words := prose.Sentence(answer.Message)
	if link := p.holderLink(answer.Holder); link.Label != "" {
		words += " It is " + link.Label + "."
	}
	return nil, []string{words + " You can ask for it all the same: the request waits until it can be had."}, nil
}

// queryOfObject reads an object that may not be valid yet.
func queryOfObject(obj *unstructured.Unstructured) availability.Query {
	return availability.Query{
		Hostname: nested(obj, "spec", "hostname"), Zone: nested(obj, "spec", "zoneId"),
		Visibility: nested(obj, "spec", "visibility"), Environment: nested(obj, "spec", "environment"),
	}
}
