package form

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// HostnameField is the input of a hostname.
const HostnameField = "spec.hostname"

// namesItself reports whether an object of the kind that is given no name gets one derived from its spec.
func (s subject) namesItself() bool { return s.kind.ID() == v1alpha1.KindGatewayHostnameRequest }

// nameFor returns the name of an object without one: shop for a request for shop.example.com or *.shop.example.com. It
// returns "" if that is no valid name, or the kind has no derived names.
func (s subject) nameFor(obj *unstructured.Unstructured) string {
	if !s.namesItself() {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.ToLower(catalog.TextAt(obj, "spec", "hostname")), "*."), ".")
	if len(validation.IsDNS1123Label(first)) > 0 {
		return ""
	}
	return first
}

// suggestHostnames shows the hostnames that the team's grant allows at the input.
func (b builder) suggestHostnames(fields []views.Field) {
	i := slices.IndexFunc(fields, func(f views.Field) bool { return f.Name == HostnameField })
	if b.Grant == nil || i < 0 {
		return
	}
	fields[i].Suggestions = suggestions(b.Grant.Suffixes)
	fields[i].Hint = "For example shop." + b.Grant.Suffixes[0] + ". " + grantWords(b.Team.Name, *b.Grant)
}

// narrowed returns the field with the options that the grant allows. A default that it does not allow is removed.
func (o Offers) narrowed(f catalog.Field) catalog.Field {
	if o.Grant == nil {
		return f
	}
	allowed := map[string][]string{
		ZoneField: texts(o.Grant.Zones), "spec.visibility": texts(o.Grant.Visibilities),
		"spec.environment": texts(o.Grant.Environments),
	}[f.Path]
	if f.Path == ZoneField && len(allowed) != 1 {
		f.Required = false // see Draft.WithZone
		f.Help = "Leave this empty, and Portico uses the hosted zone that holds the hostname. " + f.Help
	}
	if len(allowed) == 0 {
		return f
	}
	f.Options = allowed
	if f.Default != "" && !slices.Contains(allowed, f.Default) {
		f.Default, f.Required = "", true
	}
	return f
}

// zoneFields are the fields with IDs of hosted zones.
var zoneFields = []string{ZoneField, ValidationZoneField}

// worded returns the options of a hosted zone with the domain in front, if it is known.
func (o Offers) worded(f catalog.Field, options []views.Option) []views.Option {
	for i, option := range options {
		if domain := o.Zones[option.Value]; domain != "" && slices.Contains(zoneFields, f.Path) {
			options[i].Label = domain + " (" + option.Label + ")"
		}
	}
	return options
}

// zonesFor returns suggestions for a hosted zone of which any can be typed, by domain.
func (o Offers) zonesFor(f catalog.Field) []views.Choice {
	if !slices.Contains(zoneFields, f.Path) {
		return nil
	}
	var all []views.Choice
	for zone, domain := range o.Zones {
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

// grantWords describes what a grant allows.
func grantWords(team string, g v1alpha1.HostnameGrantSpec) string {
	text := team + " can have " + strings.Join(g.Suffixes, ", ") + " and every name below"
	if g.Wildcards {
		return text + ", wildcards too."
	}
	return text + ", but no wildcards."
}
