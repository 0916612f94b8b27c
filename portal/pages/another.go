package pages

import (
	"context"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// another is the draft of an object like the one of that name: all but what only one can have, which is its name, the
// names of what it stands for, and what was asked of it for the moment.
func (p *Pages) another(ctx context.Context, a asking, like string) (draft, error) {
	obj, err := p.cluster.Get(ctx, a.id, cluster.Ref{Kind: a.kind, Namespace: a.space.namespace, Name: like})
	if err != nil {
		return draft{}, err
	}
	obj.SetName("")
	withoutOrders(obj)
	for _, name := range a.kind.Names {
		unstructured.RemoveNestedField(obj.Object, "spec", name)
	}
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return draft{}, err
	}
	d := a.fromYAML(string(text)).toForm()
	d.errs = nil
	return d, nil
}

// withoutOrders takes away what was asked of an object for the moment, consent to a loss among it: another one is not bound by it.
func withoutOrders(obj *unstructured.Unstructured) {
	notes := obj.GetAnnotations()
	maps.DeleteFunc(notes, func(key, _ string) bool { return strings.HasPrefix(key, "portico.dev/") })
	obj.SetAnnotations(notes)
}

// anotherPath is where the caller may ask for one more like the object of l, "" for those who may not.
func (p *Pages) anotherPath(ctx context.Context, l looking) (string, error) {
	if _, ok := l.space.kinds.ByPlural(l.ref.Kind.Plural); !ok {
		return "", nil
	}
	may, err := p.cluster.Can(ctx, l.id, "create", l.ref.Kind, l.space.namespace)
	if err != nil || !may {
		return "", err
	}
	return views.AnotherPath(l.space.team.ID, l.ref.Kind.Plural, l.ref.Name), nil
}
