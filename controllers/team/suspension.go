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

// onlyLooking are the ClusterRoles that only permit reading.
var onlyLooking = []string{v1alpha1.TeamViewer.ClusterRole(), "view"}

// suspended returns the condition's message for a suspended team. RoleBindings that others created, for example for a
// tool, are not the Team's to change: the message lists those that may permit more than reading.
func (p *pass) suspended(ctx context.Context) (string, error) {
	var all []string
	err := p.each(ctx, func(ctx context.Context, namespace string) error {
		list := &rbacv1.RoleBindingList{}
		// The cache has only Portico's own RoleBindings.
		if err := p.APIReader.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list the role bindings of %s: %w", namespace, err)
		}
		for i := range list.Items {
			if who := p.beside(&list.Items[i]); len(who) > 0 {
				b := &list.Items[i]
				all = append(all, fmt.Sprintf("%s in %s (%s %s of %s)", b.Name, namespace, b.RoleRef.Kind,
					b.RoleRef.Name, strings.Join(who, " and ")))
			}
		}
		return nil
	})
	words := count(len(p.team.Spec.Members), "member") + " can only look: the team is suspended"
	if len(all) > 0 {
		slices.Sort(all)
		words += ". RoleBindings that others made go on: " + guardrails.Shorten(all) +
			". Delete those that are meant to end, too"
	}
	return words, err
}

// beside returns the subjects to whom the RoleBinding may grant more than reading, unless the Team owns the binding. It
// leaves out the platform's ServiceAccounts, which act for users and tools.
func (p *pass) beside(b *rbacv1.RoleBinding) (who []string) {
	if metav1.IsControlledBy(b, p.team) || b.RoleRef.Kind == "ClusterRole" && slices.Contains(
		onlyLooking, b.RoleRef.Name) {
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
