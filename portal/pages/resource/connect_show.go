package resource

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// addConnect adds how to connect to the object, once its connection details exist. Callers who can see a password get a
// link to the page that shows it.
func (p *Pages) addConnect(ctx context.Context, l objectRequest, obj *unstructured.Unstructured,
	d *views.Detail,
) error {
	name := catalog.TextAt(obj, "status", "binding", "name")
	if !l.ref.Kind.Tells("binding") || name == "" || l.tab != views.TabOverview {
		return nil
	}
	keys, _, _ := unstructured.NestedStringSlice(obj.Object, "status", "binding", "keys")
	c := &views.Connect{Secret: name, Password: slices.Contains(keys, "password")}
	if l.ref.Kind.ID() == v1alpha1.KindRDSInstance {
		c.CLI = "portico connect " + l.ref.Name + " -n " + l.ref.Namespace
	}
	if !c.Password && c.CLI == "" {
		return nil
	}
	if c.Password {
		may, err := p.Cluster.People.Passwords(ctx, l.id, l.ref, obj, name)
		if err != nil {
			return err
		}
		c.Own = may.Own != ""
		if may.Object || c.Own {
			c.Show = views.PasswordPath(d.Resource.Href)
		}
	}
	d.Connect = c
	return nil
}

// namedSecrets returns the Secrets of the application's variables, except those of bindings.
func namedSecrets(app *v1alpha1.WebApp, team string) (all []views.NamedSecret) {
	keys, whole := map[string][]string{}, map[string]bool{} // by the Secret's name
	for _, e := range app.Spec.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			ref := e.ValueFrom.SecretKeyRef
			keys[ref.Name] = append(keys[ref.Name], ref.Key)
		}
	}
	for _, e := range app.Spec.EnvFrom {
		if e.SecretRef != nil {
			keys[e.SecretRef.Name], whole[e.SecretRef.Name] = nil, true
		}
	}
	for _, b := range app.Status.Bindings {
		delete(keys, b.Secret)
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		one := views.NamedSecret{Name: name, Href: views.SecretPath(team, name, "") + "#set"}
		if !whole[name] {
			slices.Sort(keys[name])
			one.Keys = slices.Compact(keys[name])
		}
		all = append(all, one)
	}
	return all
}
