package form

import (
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// WithoutUser returns the databases to which the form newly binds an application without setting a user, by the inputs
// of the user. Drafts in YAML are left alone.
func (d Draft) WithoutUser() map[string]string {
	if d.kind.ID() != v1alpha1.KindWebApp || d.inYAML {
		return nil
	}
	bound := map[string]bool{} // before
	if d.Edit != nil {
		for _, b := range bindingsOf(d.Edit.Object) {
			bound[b.Name] = bound[b.Name] || b.Kind == v1alpha1.KindRDSInstance
		}
	}
	databases := map[string]string{}
	for i := range d.rows["spec.bindings"] {
		row := catalog.Index("spec.bindings", i)
		name := d.values.Get(row + ".name")
		if d.values.Get(row+".kind") == v1alpha1.KindRDSInstance && name != "" && !bound[name] &&
			d.values.Get(row+".user") == "" {
			databases[row+".user"] = name
		}
	}
	return databases
}

// WithOwnUsers returns the draft in which these inputs give the application its own database user.
func (d Draft) WithOwnUsers(inputs []string) Draft {
	entered := map[string]string{}
	for _, input := range inputs {
		entered[input] = string(v1alpha1.BindingUserOwn)
	}
	return d.with(entered)
}
