package reference

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/controllers/external"
)

// Tagged is a resource with its tags; nil: they are not known yet.
type Tagged struct {
	Name string
	Tags map[string]string
}

// Usable returns which of the account's resources of a kind a namespace can name, as Admit decides for an object to
// which nothing is offered. It asks AWS only for tags that are not known.
func (c *Checker) Usable(ctx context.Context, namespace, kind string, all []Tagged) (map[string]bool, error) {
	usable := map[string]bool{}
	var ask []external.Reference
	of := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
	for _, one := range all {
		r := external.Reference{Kind: kind, Name: one.Name}
		switch {
		case Narrowed(c.session, r) != nil:
		case Listed(c.session, r), everybodys(r):
			usable[one.Name] = true
		case one.Tags != nil:
			usable[one.Name] = c.session.Identity.SharedWith(of, one.Tags)
		default:
			ask = append(ask, r)
		}
	}
	tags, err := c.tags(ctx, ask)
	if err != nil {
		return nil, err
	}
	for r, has := range tags {
		usable[r.Name] = c.session.Identity.SharedWith(of, has)
	}
	return usable, nil
}
