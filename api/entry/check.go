// Package entry judges CatalogEntries by the definitions of their kinds: whether a kind can be offered, which powers
// its controller has, and which fields an entry names that do not exist. The operator writes the result into the status
// of the entry, and the portal comes to the same result by itself: it does not depend on the operator, and nobody can
// forge a status.
package entry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Report is the result for an entry.
type Report struct {
	// Refused says why the kind is not offered, as an *Error; nil if it is.
	Refused error
	// Powers are those of the kind's controller.
	Powers []v1alpha1.CatalogPower
	// Missing are what the entry names and the definition does not have, as paths in the entry's words. The kind is
	// offered without.
	Missing []string
	// Schema is the SHA-256 hash of the version's schema, "" without one.
	Schema string
}

// Error is why a kind is not offered.
type Error struct {
	Reason string // of the condition Ready
	Text   string
}

func (e *Error) Error() string { return e.Text }

func refuse(reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// Check judges the entry. crd is nil if there is none of its name.
func Check(spec *v1alpha1.CatalogEntrySpec, crd *apiext.CustomResourceDefinition) Report {
	name := spec.Definition.Resource + "." + spec.Definition.Group
	if err := allowed(spec.Definition); err != nil {
		return Report{Refused: err}
	}
	if crd == nil {
		return Report{Refused: refuse(v1alpha1.ReasonNoDefinition, "there is no custom resource definition %s: "+
			"install what brings it", name)}
	}
	version, err := Version(crd, spec.Definition.Version)
	if err != nil {
		return Report{Refused: err}
	}
	root := version.Schema.OpenAPIV3Schema
	r := Report{Missing: missing(spec, version), Schema: hash(root)}
	if !Own(spec.Definition.Group) {
		r.Powers = powers(spec.Definition.Group, root)
		if err := bounded(spec, crd, r.Powers); err != nil {
			r.Refused = err
		}
	}
	return r
}

// bounded returns why a kind of others is not offered.
func bounded(spec *v1alpha1.CatalogEntrySpec, crd *apiext.CustomResourceDefinition, has []v1alpha1.CatalogPower) error {
	if crd.Spec.Scope != apiext.NamespaceScoped {
		return refuse(v1alpha1.ReasonInvalidSpec, "%s is cluster-scoped: its objects belong to no team, and the "+
			"writer of one reaches all. Only namespaced kinds are offered", crd.Spec.Names.Kind)
	}
	if spec.Writers == v1alpha1.WritersPortico {
		return refuse(v1alpha1.ReasonInvalidSpec, "spec.writers is Portico, which writes no objects of kinds of "+
			"others: use Teams or Admins")
	}
	var open []string
	for _, p := range has {
		if !slices.Contains(spec.Confirmed, p) {
			open = append(open, string(p))
		}
	}
	if len(open) > 0 {
		return refuse(v1alpha1.ReasonNotConfirmed, "the controller of %s uses powers for the writer of an object: %s. "+
			"Read what each can do in docs/kinds/catalogentry.md, and add them to spec.confirmed if your teams can "+
			"have them", crd.Spec.Names.Kind, spoken.And(open))
	}
	return nil
}

// Version returns the version of a definition, which must be served, with a schema.
func Version(crd *apiext.CustomResourceDefinition, name string) (*apiext.CustomResourceDefinitionVersion, error) {
	var served []string
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		switch {
		case !v.Served:
			continue
		case v.Name != name:
			served = append(served, v.Name)
			continue
		case v.Schema == nil || v.Schema.OpenAPIV3Schema == nil:
			return nil, refuse(v1alpha1.ReasonNoDefinition, "the version %s of %s has no schema", name, crd.Name)
		case !established(crd):
			return nil, refuse(v1alpha1.ReasonNoDefinition, "Kubernetes does not serve %s: %s", crd.Name, cmp.Or(
				namesRefused(crd), "its definition is not established yet"))
		}
		return v, nil
	}
	return nil, refuse(v1alpha1.ReasonNoDefinition, "%s does not serve the version %s: name one of %s in "+
		"spec.definition.version", crd.Name, name, spoken.Or(served))
}

// established reports whether the API server serves the kind. A manifest that no API server has seen counts.
func established(crd *apiext.CustomResourceDefinition) bool {
	return len(crd.Status.Conditions) == 0 || slices.ContainsFunc(crd.Status.Conditions,
		func(c apiext.CustomResourceDefinitionCondition) bool {
			return c.Type == apiext.Established && c.Status == apiext.ConditionTrue
		})
}

// namesRefused returns why the API server does not accept the names of the kind, "" if it does.
func namesRefused(crd *apiext.CustomResourceDefinition) string {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiext.NamesAccepted && c.Status == apiext.ConditionFalse {
			return c.Message
		}
	}
	return ""
}

// hash returns the SHA-256 hash of a schema in hexadecimal.
func hash(schema *apiext.JSONSchemaProps) string {
	raw, err := json.Marshal(schema)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Reason returns the reason of the condition Ready for why a kind is not offered.
func Reason(err error) string {
	if said, ok := errors.AsType[*Error](err); ok {
		return said.Reason
	}
	return v1alpha1.ReasonFailed
}
