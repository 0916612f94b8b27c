//go:build integration

package integration

import (
	"context"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// asOperator returns two dry-run clients with the operator's username: one with its permissions, and one with all
// permissions, so that only the policies can refuse its requests.
func asOperator(t *testing.T, c client.Client) (bound, unbound client.Client) {
	t.Helper()
	own, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-everything-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "test:everything"}},
	}
	create(t, c, binding)
	t.Cleanup(func() { release(context.Background(), t, c, binding) })
	all := rest.CopyConfig(world.Admin)
	all.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + stack.Namespace +
		":portico-operator", Groups: []string{"test:everything"}}
	return dryClient(t, own), dryClient(t, all)
}

func dryClient(t *testing.T, cfg *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{Scheme: scheme(), DryRun: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// attempt is one write with the operator's token, and a part of the message with which the policies refuse it, or "" if
// they allow it.
type attempt struct {
	do   func(context.Context, client.Client) error
	says string
}

func creates(obj client.Object) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, obj.DeepCopyObject().(client.Object))
	}
}

func patches(obj client.Object, merge string) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, obj.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, []byte(merge)))
	}
}

func deletes(obj client.Object) func(context.Context, client.Client) error {
	return func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, obj.DeepCopyObject().(client.Object))
	}
}

// judge makes every attempt with both clients. With the operator's permissions, it only checks that refused attempts
// are forbidden.
func judge(t *testing.T, c client.Client, attempts map[string]attempt) {
	t.Helper()
	bound, unbound := asOperator(t, c)
	await(t, "the rights to be known", func() (bool, string) {
		err := unbound.List(t.Context(), &rbacv1.ClusterRoleList{})
		return err == nil, "none"
	})
	for name, a := range attempts {
		err := a.do(t.Context(), unbound)
		switch {
		case a.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case a.says != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), a.says)):
			t.Errorf("%s: %v, want it refused with %q", name, err, a.says)
		}
		if err := a.do(t.Context(), bound); a.says != "" && !apierrors.IsForbidden(err) {
			t.Errorf("%s, with the operator's rights: %v", name, err)
		}
	}
}

// marked returns metadata as the operator writes it for an owner of this kind.
func marked(ns, name, kind, owner string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: ns, Name: name, Labels: map[string]string{"app.kubernetes.io/managed-by": "portico"},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: owner, UID: "made-up", Controller: new(true),
		}},
	}
}

// changed returns a changed copy of obj.
func changed[T client.Object](obj T, change func(T)) T {
	other := obj.DeepCopyObject().(T)
	change(other)
	return other
}

func markedSecret(ns string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: marked(ns, "docs-s3bucket-binding", "S3Bucket", "docs"),
		Type:       "servicebinding.io/s3",
	}
}

// valuesOf returns a Secret as the operator creates it for values that somebody sets.
func valuesOf(ns string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "keys", Labels: map[string]string{operatorapi.LabelSecretValues: operatorapi.SecretValues}},
		Type:       corev1.SecretTypeOpaque, Data: map[string][]byte{"token": []byte("x")},
	}
}

func asIndex(s *corev1.Secret) {
	s.Name, s.Labels[operatorapi.LabelSecretValues], s.Data = operatorapi.SecretIndexName, operatorapi.SecretIndex,
		map[string][]byte{"keys": {}}
}

func markedService(ns string) *corev1.Service {
	return &corev1.Service{ObjectMeta: marked(ns, "stolen", "WebApp", "stolen"), Spec: corev1.ServiceSpec{
		Selector: map[string]string{v1alpha1.LabelWebApp: "stolen"}, Ports: []corev1.ServicePort{{Port: 80}},
	}}
}

func TestAStolenOperatorMakesNothingButItsOwn(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	secret, service := markedSecret(ns), markedService(ns)
	account := &corev1.ServiceAccount{ObjectMeta: marked(ns, "stolen", "WebApp", "stolen")}
	system := "which is a namespace of the system"
	judge(t, c, map[string]attempt{
		"a Secret, as the operator makes it":  {creates(secret), ""},
		"a Service, as the operator makes it": {creates(service), ""},
		"an account, as it is made":           {creates(account), ""},
		"a token Secret in kube-system": {
			creates(&corev1.Secret{Type: corev1.SecretTypeServiceAccountToken, ObjectMeta: metav1.ObjectMeta{
				Namespace: "kube-system", Name: "t", Annotations: map[string]string{
					corev1.ServiceAccountNameKey: "namespace-controller",
				},
			}}), system,
		},
		"a token Secret of a team": {creates(changed(secret, func(s *corev1.Secret) {
			s.Type, s.Annotations = corev1.SecretTypeServiceAccountToken,
				map[string]string{corev1.ServiceAccountNameKey: "default"}
		})), "not kubernetes.io/service-account-token"},
		"a Secret of another type": {creates(changed(secret, func(s *corev1.Secret) { s.Type = "example.com/x" })), "not example.com/x"},
		"a Secret for a controller": {
			creates(changed(secret, func(s *corev1.Secret) {
				s.Annotations = map[string]string{corev1.ServiceAccountNameKey: "x"}
			})), "annotations of kubernetes.io",
		},
		"a Secret of another name":          {creates(changed(secret, func(s *corev1.Secret) { s.Name = "sh.helm.release.v1.shop.v9" })), "has not the name"},
		"a Secret with a name to be made":   {creates(changed(secret, func(s *corev1.Secret) { s.Name, s.GenerateName = "", "x-" })), "has not the name"},
		"a Secret without an owner":         {creates(changed(secret, func(s *corev1.Secret) { s.OwnerReferences = nil })), "belongs to no object of Portico"},
		"a Secret of another's":             {creates(changed(secret, func(s *corev1.Secret) { s.OwnerReferences[0].APIVersion = "v1" })), "belongs to no object of Portico"},
		"a Secret without the label":        {creates(changed(secret, func(s *corev1.Secret) { s.Labels = nil })), "needs the label"},
		"a Secret in our own namespace":     {creates(changed(secret, func(s *corev1.Secret) { s.Namespace = stack.Namespace })), system},
		"a Secret beside the Gateways":      {creates(changed(secret, func(s *corev1.Secret) { s.Namespace = gateways })), system},
		"a Secret in a namespace of theirs": {creates(changed(secret, func(s *corev1.Secret) { s.Namespace = "kube-public" })), system},
		"an account in kube-system":         {creates(changed(account, func(a *corev1.ServiceAccount) { a.Namespace = "kube-system" })), system},
		"an account of another name":        {creates(changed(account, func(a *corev1.ServiceAccount) { a.Name = "deployer" })), "has not the name"},
		"an account of a bucket":            {creates(changed(account, func(a *corev1.ServiceAccount) { a.OwnerReferences[0].Kind = "S3Bucket" })), "has not the name or the kind"},
		"a Service to the world":            {creates(changed(service, func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeLoadBalancer })), "type ClusterIP only"},
		"a Service that takes addresses":    {creates(changed(service, func(s *corev1.Service) { s.Spec.ExternalIPs = []string{"10.0.0.1"} })), "no external IP addresses"},
		"a Service to other Pods":           {creates(changed(service, func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "vault"} })), "selects the Pods of its WebApp"},
		"values that somebody set":          {creates(valuesOf(ns)), ""},
		"the list of their names":           {creates(changed(valuesOf(ns), func(s *corev1.Secret) { asIndex(s) })), ""},
		"a list that has values":            {creates(changed(valuesOf(ns), func(s *corev1.Secret) { asIndex(s); s.Data = map[string][]byte{"a": []byte("b")} })), "has no values"},
		"a list of another name":            {creates(changed(valuesOf(ns), func(s *corev1.Secret) { asIndex(s); s.Name = "another" })), "and no other"},
		"values in place of the list":       {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Name = operatorapi.SecretIndexName })), "and no other"},
		"values of another purpose":         {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Labels[operatorapi.LabelSecretValues] = "yes" })), "belongs to no object of Portico"},
		"values for a controller":           {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Labels["owner"] = "helm" })), "changes only the values"},
		"values with a note for a program":  {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Annotations = map[string]string{"example.com/reflect": "true"} })), "changes only the values"},
		"values as a token": {creates(changed(valuesOf(ns), func(s *corev1.Secret) {
			s.Type = corev1.SecretTypeServiceAccountToken
			s.Annotations = map[string]string{corev1.ServiceAccountNameKey: "default"}
		})), "not kubernetes.io/service-account-token"},
		"values as a certificate":         {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Type = "servicebinding.io/x" })), "is of the type Opaque"},
		"values that belong to something": {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.OwnerReferences = markedSecret(ns).OwnerReferences })), "belongs to nothing"},
		"values in our own namespace":     {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Namespace = stack.Namespace })), system},
		"values in kube-system":           {creates(changed(valuesOf(ns), func(s *corev1.Secret) { s.Namespace = "kube-system" })), system},
		"a RoleBinding": {
			creates(&rbacv1.RoleBinding{ObjectMeta: marked(ns, "b", "WebApp", "b"), RoleRef: rbacv1.RoleRef{
				APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view",
			}}), "name or the kind of owner",
		},
		"a ClusterRole": {creates(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "stolen"}}), "belongs to no object of Portico"},
		"a Pod": {
			creates(&corev1.Pod{ObjectMeta: marked(ns, "p", "WebApp", "p"), Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "a", Image: "a"}},
			}}), "does not create /pods",
		},
		"a Namespace":               {creates(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "stolen"}}), "is no namespace of a Team"},
		"a ConfigMap":               {creates(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "x"}}), "does not create /configmaps x"},
		"the ledger of others":      {creates(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "portico-hostname-ledger"}}), "does not create /configmaps"},
		"the Lease of a controller": {creates(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "portico-operator"}}), "does not create coordination.k8s.io/leases"},
		"another Lease of ours":     {creates(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "x"}}), "does not create coordination.k8s.io/leases x"},
		"a route in kube-system":    {creates(&gatewayv1.HTTPRoute{ObjectMeta: marked("kube-system", "stolen", "WebApp", "stolen")}), system},
		"a Gateway in a team's namespace": {
			creates(&gatewayv1.Gateway{ObjectMeta: marked(ns, "g", "PoolGateway", "g"), Spec: gatewayv1.GatewaySpec{
				GatewayClassName: "alb", Listeners: []gatewayv1.Listener{
					{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType},
				},
			}}), "in portico-gateways only",
		},
		"a bucket": {creates(bucketOf(ns, "b")), "that is for people"},
		"a token": {func(ctx context.Context, c client.Client) error {
			return c.SubResource("token").Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "default")},
				&authenticationv1.TokenRequest{})
		}, "does not create /serviceaccounts/token"},
	})
}
