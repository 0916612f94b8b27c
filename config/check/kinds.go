package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/v1alpha1"
)

var (
	entriesResource     = v1alpha1.GroupVersion.WithResource("catalogentries")
	definitionsResource = apiext.SchemeGroupVersion.WithResource("customresourcedefinitions")
)

// Entries returns the catalog entries of kinds of others; with names, those.
func (c *Cluster) Entries(ctx context.Context, names ...string) (all []v1alpha1.CatalogEntry, err error) {
	list, err := c.objects.Resource(entriesResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the catalog entries: %w", err)
	}
	for i := range list.Items {
		var e v1alpha1.CatalogEntry
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &e); err != nil {
			return nil, fmt.Errorf("read the entry %s: %w", list.Items[i].GetName(), err)
		}
		if entry.Own(e.Spec.Definition.Group) || len(names) > 0 && !slices.Contains(names, e.Name) {
			continue
		}
		all = append(all, e)
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(e v1alpha1.CatalogEntry) bool { return e.Name == name }) {
			return nil, fmt.Errorf("there is no catalog entry %s of a kind of others", name)
		}
	}
	return all, nil
}

// Definition returns the custom resource definition of that name; nil if there is none.
func (c *Cluster) Definition(ctx context.Context, name string) (*apiext.CustomResourceDefinition, error) {
	got, err := c.objects.Resource(definitionsResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read the definition %s: %w", name, err)
	}
	crd := &apiext.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, crd); err != nil {
		return nil, fmt.Errorf("read the definition %s: %w", name, err)
	}
	return crd, nil
}

// Kind returns what the cluster lacks for the kind of an entry: its definition, what the entry names, and the rights of
// the portal and of teams.
func (c *Cluster) Kind(ctx context.Context, e *v1alpha1.CatalogEntry) ([]Finding, error) {
	crd, err := c.Definition(ctx, e.Name)
	if err != nil {
		return nil, err
	}
	report := entry.Check(&e.Spec, crd)
	offered := Finding{About: "Entry", State: OK, Says: "the kind is offered"}
	if report.Refused != nil {
		offered.State, offered.Says, offered.Fix = Lacking, report.Refused.Error(), "change the entry, or what it names"
	}
	all := []Finding{offered}
	for _, missing := range report.Missing {
		all = append(all, Finding{
			About: "Entry", State: Lacking, Says: "the definition has no " + missing, Fix: "take it out of the entry",
		})
	}
	if crd == nil {
		return all, nil
	}
	for _, look := range []func(context.Context, *v1alpha1.CatalogEntry) ([]Finding, error){
		c.portalRights, c.teamRights,
	} {
		found, err := look(ctx, e)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// fixRoles says how a kind of others gets its roles.
func fixRoles(e *v1alpha1.CatalogEntry) string {
	return "portico kind roles " + e.Name + " | kubectl apply -f -"
}

// portalRights asks whether the portal can read the objects of the kind, and act for its users.
func (c *Cluster) portalRights(ctx context.Context, e *v1alpha1.CatalogEntry) (all []Finding, err error) {
	for _, role := range entry.Roles(e) {
		var account, can string
		switch {
		case role.Labels[entry.AggregateTo+"portal"] != "":
			account, can = "portico-portal", "read its objects"
		case role.Labels[entry.AggregateTo+"impersonator"] != "":
			account, can = "portico-impersonator", "change its objects for users"
		default:
			continue
		}
		f := Finding{About: "Rights of the portal", State: OK, Says: "it can " + can}
		for _, verb := range role.Rules[0].Verbs {
			allowed, err := c.allows(ctx, right{does: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:" + c.names.Namespace + ":" + account,
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: role.Rules[0].APIGroups[0], Resource: role.Rules[0].Resources[0],
				},
			}})
			if err != nil {
				return nil, fmt.Errorf("ask what the portal can do: %w", err)
			}
			if !allowed {
				f.State, f.Says, f.Fix = Lacking, "it cannot "+can, fixRoles(e)
			}
		}
		all = append(all, f)
	}
	return all, nil
}

// teamRights looks whether Portico's roles for members of teams have the rules for the kind.
func (c *Cluster) teamRights(ctx context.Context, e *v1alpha1.CatalogEntry) (all []Finding, err error) {
	roles := c.objects.Resource(rbacv1.SchemeGroupVersion.WithResource("clusterroles"))
	for _, name := range []string{"viewer", "developer"} {
		got, err := roles.Get(ctx, "portico-"+name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("read the role portico-%s: %w", name, err)
		}
		var has rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(got.Object, &has); err != nil {
			return nil, err
		}
		f := Finding{About: "Role portico-" + name, State: OK, Says: "has what the entry allows"}
		if lacks := lacking(has.Rules, e, name); len(lacks) > 0 {
			f.State, f.Says, f.Fix = Off, "does not give "+strings.Join(lacks, ", "), fixRoles(e)
		}
		all = append(all, f)
	}
	return all, nil
}

// lacking returns the verbs that the entry allows to the role of that name, and that the rules do not give.
func lacking(rules []rbacv1.PolicyRule, e *v1alpha1.CatalogEntry, name string) (verbs []string) {
	for _, role := range entry.Roles(e) {
		if role.Labels[entry.AggregateTo+name] == "" {
			continue
		}
		for _, verb := range role.Rules[0].Verbs {
			if !gives(rules, verb, role.Rules[0].APIGroups[0], role.Rules[0].Resources[0]) {
				verbs = append(verbs, verb)
			}
		}
	}
	return verbs
}

// gives reports whether one of the rules gives the right.
func gives(rules []rbacv1.PolicyRule, verb, group, resource string) bool {
	in := func(all []string, one string) bool { return slices.Contains(all, one) || slices.Contains(all, "*") }
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return in(r.Verbs, verb) && in(r.APIGroups, group) && in(r.Resources, resource) && len(r.ResourceNames) == 0
	})
}
