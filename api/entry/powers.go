package entry

import (
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// known are the powers of controllers that Portico knows, by group, or by its suffix if that begins with a dot. What
// the schema of a kind shows is added.
var known = map[string][]v1alpha1.CatalogPower{
	"gateway.networking.k8s.io":   {},
	"cert-manager.io":             {v1alpha1.PowerSecrets},
	"external-secrets.io":         {v1alpha1.PowerSecrets},
	".services.k8s.aws":           {},                      // ACK
	"iam.services.k8s.aws":        {v1alpha1.PowerRBAC},    // roles in AWS
	"eks.services.k8s.aws":        {v1alpha1.PowerRBAC},    // access entries, associations of roles
	"services.k8s.aws":            {v1alpha1.PowerSecrets}, // field exports
	"postgresql.cnpg.io":          {v1alpha1.PowerPods, v1alpha1.PowerSecrets},
	"argoproj.io":                 {v1alpha1.PowerObjects, v1alpha1.PowerPods},
	"tekton.dev":                  {v1alpha1.PowerPods},
	"kustomize.toolkit.fluxcd.io": {v1alpha1.PowerObjects},
	"helm.toolkit.fluxcd.io":      {v1alpha1.PowerObjects},
	"kro.run":                     {v1alpha1.PowerObjects},
	".crossplane.io":              {v1alpha1.PowerObjects},
	"kyverno.io":                  {v1alpha1.PowerPolicies},
	"cilium.io":                   {v1alpha1.PowerPolicies},
}

// powers returns the powers of the controller of a kind, sorted: those that are known of its group, and those that the
// schema of the kind shows. A group that is not known can have any.
func powers(group string, schema *apiext.JSONSchemaProps) []v1alpha1.CatalogPower {
	all, isKnown := known[group]
	for suffix, its := range known {
		if !isKnown && strings.HasPrefix(suffix, ".") && strings.HasSuffix(group, suffix) {
			all, isKnown = its, true
		}
	}
	if !isKnown {
		all = []v1alpha1.CatalogPower{v1alpha1.PowerUnknown}
	}
	spec := schema.Properties["spec"]
	all = append(slices.Clone(all), shown("", &spec)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// shown returns the powers that a field, and the fields below it, are for.
func shown(name string, s *apiext.JSONSchemaProps) (all []v1alpha1.CatalogPower) {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, ok := s.Properties[n]; return !ok })
	}
	switch {
	case has("containers"), has("image", "securityContext"), name == "serviceAccountName":
		all = append(all, v1alpha1.PowerPods)
	case has("apiGroups", "verbs"), has("roleRef"):
		all = append(all, v1alpha1.PowerRBAC)
	case strings.Contains(strings.ToLower(name), "secret"):
		all = append(all, v1alpha1.PowerSecrets)
	}
	for child, p := range s.Properties {
		all = append(all, shown(child, &p)...)
	}
	if s.Items != nil && s.Items.Schema != nil {
		all = append(all, shown(name, s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, shown(name, s.AdditionalProperties.Schema)...)
	}
	return all
}
