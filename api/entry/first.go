package entry

import (
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
)

const (
	// mostFirst is how many fields a first entry shows to everybody.
	mostFirst = 8
	// mostColumns is how many printer columns it puts on the page of an object.
	mostColumns = 5
)

// First returns an entry for a definition that has none, for an admin to complete: the title in words, the fields that
// are required, where users connect to an object, and what is known of the group's controller. It confirms no powers.
// The error says why the kind cannot be offered.
func First(crd *apiext.CustomResourceDefinition) (*v1alpha1.CatalogEntry, error) {
	d := v1alpha1.CatalogDefinition{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural, Version: preferred(crd)}
	e := &v1alpha1.CatalogEntry{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindCatalogEntry},
		ObjectMeta: metav1.ObjectMeta{Name: crd.Name},
		Spec:       v1alpha1.CatalogEntrySpec{Definition: d, Title: title(crd.Spec.Names.Kind)},
	}
	e.Spec.Controller = &v1alpha1.CatalogController{Name: "the controller of " + crd.Spec.Group}
	if c, known := controllerOf(crd.Spec.Group); known {
		e.Spec.Controller, e.Spec.States = &v1alpha1.CatalogController{Name: c.name}, c.states
	}
	if err := Check(&e.Spec, crd).Refused; err != nil && Reason(err) != v1alpha1.ReasonNotConfirmed {
		return nil, err
	}
	version, err := Version(crd, d.Version)
	if err != nil {
		return nil, err
	}
	e.Spec.Form.First = firstFields(version.Schema.OpenAPIV3Schema.Properties["spec"])
	e.Spec.Page = firstPage(version)
	return e, nil
}

// preferred returns the version that Kubernetes prefers among those that are served.
func preferred(crd *apiext.CustomResourceDefinition) string {
	best := ""
	for i := range crd.Spec.Versions {
		if v := &crd.Spec.Versions[i]; v.Served && (best == "" || v.Storage) {
			best = v.Name
		}
	}
	return best
}

// title returns the name of a kind in words: MessageQueue → Message queue, DNSRecord → DNS record.
func title(kind string) string {
	var out strings.Builder
	letters := []rune(kind)
	upper := func(i int) bool { return i < len(letters) && strings.ToUpper(string(letters[i])) == string(letters[i]) }
	for i, r := range letters {
		begins := i > 0 && upper(i) && (!upper(i-1) || i+1 < len(letters) && !upper(i+1))
		if begins {
			out.WriteByte(' ')
		}
		if begins && !upper(i+1) {
			out.WriteString(strings.ToLower(string(r)))
			continue
		}
		out.WriteRune(r)
	}
	return spoken.Upper(out.String())
}

// firstFields returns the fields that are required, and then simple ones: texts and lists of texts, numbers, and
// switches, which have defaults that suit most. Those of one sort are in the order of their names.
func firstFields(spec apiext.JSONSchemaProps) (all []v1alpha1.FieldName) {
	sorts := [5][]string{} // the last one is left out
	for name, p := range spec.Properties {
		sort := len(sorts) - 1
		switch {
		case slices.Contains(spec.Required, name):
			sort = 0
		case p.Type == "string", listOfTexts(&p):
			sort = 1
		case p.Type == "integer", p.Type == "number":
			sort = 2
		case p.Type == "boolean":
			sort = 3
		}
		sorts[sort] = append(sorts[sort], name)
	}
	for sort, names := range sorts[:len(sorts)-1] {
		slices.Sort(names)
		for _, name := range names {
			if sort == 0 || len(all) < mostFirst {
				all = append(all, v1alpha1.FieldName(name))
			}
		}
	}
	return all
}

func listOfTexts(p *apiext.JSONSchemaProps) bool {
	return p.Type == "array" && p.Items != nil && p.Items.Schema != nil && p.Items.Schema.Type == "string"
}

// endpoints are where objects of others usually say how to reach them, the best first.
var endpoints = []v1alpha1.CatalogPath{
	".status.url", ".status.endpoint", ".status.address", ".status.hostname", ".status.ackResourceMetadata.arn",
	".status.arn", ".status.loadBalancer.ingress[0].hostname",
}

func firstPage(version *apiext.CustomResourceDefinitionVersion) (page v1alpha1.CatalogPage) {
	f := &finder{version: version}
	for _, path := range endpoints {
		if f.missing = nil; page.Endpoint == "" {
			if f.jsonPaths(path); len(f.missing) == 0 {
				page.Endpoint = path
			}
		}
	}
	for _, c := range version.AdditionalPrinterColumns {
		usual := slices.Contains([]string{"age", "ready", "status", "synced", "reason"}, strings.ToLower(c.Name))
		if !usual && len(page.Columns) < mostColumns {
			page.Columns = append(page.Columns, c.Name)
		}
	}
	return page
}

// controller is what is known of the controller of a group.
type controller struct {
	name   string
	states *v1alpha1.CatalogStates // nil: it follows kstatus
}

// controllers are by group, or by its suffix if that begins with a dot.
var controllers = map[string]controller{
	"gateway.networking.k8s.io": {name: "the Gateway controller", states: &v1alpha1.CatalogStates{
		Conditions: ".status.parents[*].conditions",
		Ready:      []v1alpha1.CatalogState{{Condition: "Accepted"}, {Condition: "ResolvedRefs"}},
		Failed: []v1alpha1.CatalogState{
			{Condition: "Accepted", Values: []string{"False"}}, {Condition: "ResolvedRefs", Values: []string{"False"}},
		},
	}},
	".services.k8s.aws": {name: "ACK", states: &v1alpha1.CatalogStates{
		Ready: []v1alpha1.CatalogState{{Condition: "ACK.ResourceSynced"}},
		Failed: []v1alpha1.CatalogState{
			{Condition: "ACK.Terminal"},
			{Condition: "ACK.Recoverable"},
			{Condition: "ACK.ReferencesResolved", Values: []string{"False"}},
		},
	}},
	"cert-manager.io": {name: "cert-manager", states: &v1alpha1.CatalogStates{
		Failed: []v1alpha1.CatalogState{{Condition: "Issuing", Values: []string{"False"}}}, // it tries again after an hour
	}},
	"postgresql.cnpg.io": {name: "CloudNativePG"},
	"kro.run": {name: "kro", states: &v1alpha1.CatalogStates{
		Failed: []v1alpha1.CatalogState{{Field: ".status.state", Values: []string{"ERROR", "FAILED"}}},
	}},
	".crossplane.io": {name: "Crossplane"},
}

func controllerOf(group string) (controller, bool) {
	if c, ok := controllers[group]; ok {
		return c, true
	}
	for suffix, c := range controllers {
		if strings.HasPrefix(suffix, ".") && strings.HasSuffix(group, suffix) {
			return c, true
		}
	}
	return controller{}, false
}
