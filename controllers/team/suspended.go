package team

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// onlyLooking are the ClusterRoles that leave everything as it is.
var onlyLooking = []string{v1alpha1.TeamViewer.ClusterRole(), "view"}

// suspended says what becomes of a team while it is suspended. RoleBindings that others made, such as one for a tool,
// are not the Team's to change: those that may give more than looking are named.
func (p *pass) suspended(ctx context.Context) (string, error) {
	var all []string
	err := p.each(ctx, func(ctx context.Context, namespace string) error {
		list := &rbacv1.RoleBindingList{}
		if err := p.APIReader.List(ctx, list, client.InNamespace(namespace)); err != nil { // the cache has Portico's own alone
			return fmt.Errorf("list the role bindings of %s: %w", namespace, err)
		}
		for i := range list.Items {
			if who := p.beside(&list.Items[i]); len(who) > 0 {
				b := &list.Items[i]
				all = append(all, fmt.Sprintf("%s in %s (%s %s of %s)", b.Name, namespace, b.RoleRef.Kind, b.RoleRef.Name, strings.Join(who, " and ")))
			}
		}
		return nil
	})
	words := count(len(p.team.Spec.Members), "member") + " can only look: the team is suspended"
	if len(all) > 0 {
		slices.Sort(all)
		words += ". RoleBindings that others made go on: " + guardrails.Shorten(all) + ". Delete those that are meant to end, too"
	}
	return words, err
}

// beside returns those to whom the RoleBinding may give more than looking, unless it is the Team's own. The platform's
// ServiceAccounts, which act for users and tools, are not among them.
func (p *pass) beside(b *rbacv1.RoleBinding) (who []string) {
	if metav1.IsControlledBy(b, p.team) || b.RoleRef.Kind == "ClusterRole" && slices.Contains(onlyLooking, b.RoleRef.Name) {
		return nil
	}
	for _, s := range b.Subjects {
		switch {
		case s.Kind != rbacv1.ServiceAccountKind:
			who = append(who, strings.ToLower(s.Kind)+" "+s.Name)
		case !slices.Contains(p.System, s.Namespace):
			who = append(who, "ServiceAccount "+s.Namespace+"/"+s.Name)
		}
	}
	return who
}
