package campaign

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/test/stack"
)

// WithAWS are the labels of a namespace whose objects can use the sample provider.
var WithAWS = map[string]string{"portico.dev/aws": "allowed"}

// MakeTeam creates the namespace of a team, with more labels, and makes the group of its name developers there.
func (w *World) MakeTeam(ctx context.Context, name string, labels map[string]string) error {
	all := map[string]string{"portico.dev/team": name}
	maps.Copy(all, labels)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: all}}
	if err := w.Kube.Create(ctx, namespace); err != nil {
		return fmt.Errorf("make a namespace: %w", err)
	}
	return w.Kube.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "developers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: stack.Prefix + name}},
	})
}
