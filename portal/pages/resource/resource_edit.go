package resource

import (
	"context"

	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// mayEdit reports whether there is a form in which the caller may change objects like that of l.
func (p *Pages) mayEdit(ctx context.Context, l objectRequest) (bool, error) {
	k := l.ref.Kind
	if _, ok := page.Editable(l.space).ByPlural(k.Plural); !ok || k.Fixed != "" {
		return false, nil
	}
	return p.cluster.Can(ctx, l.id, "update", k, l.space.Namespace)
}

// anotherPath returns where the caller may ask for one more like the object of l, "" for those who may not.
func (p *Pages) anotherPath(ctx context.Context, l objectRequest) (string, error) {
	if _, ok := l.space.Kinds.ByPlural(l.ref.Kind.Plural); !ok {
		return "", nil
	}
	may, err := p.cluster.Can(ctx, l.id, "create", l.ref.Kind, l.space.Namespace)
	if err != nil || !may {
		return "", err
	}
	return views.AnotherPath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name), nil
}
