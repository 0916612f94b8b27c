package admin

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

func (p *Pages) addGrants(ctx context.Context, o tabRequest, view *views.Admin) error {
	all, hidden, err := p.overseen(ctx, o.id, page.GrantKind)
	view.Hidden = hidden
	for _, obj := range all {
		g := &v1alpha1.HostnameGrant{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, g); err != nil {
			return err
		}
		view.Grants = append(view.Grants, views.Grant{
			Resource: p.ResourceNamed(page.GrantKind, obj), Team: g.Namespace,
			Suffixes: strings.Join(g.Spec.Suffixes, ", "), Wildcards: g.Spec.Wildcards,
			Limits: availability.Limits(g.Spec), InUse: g.Status.InUse, Hostnames: int(g.Status.Hostnames),
		})
	}
	return err
}
