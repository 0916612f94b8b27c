//go:build integration

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/test/stack"
)

// ownerOf returns an owner reference to a paused WebApp, so that the garbage collector does not delete its dependents.
func ownerOf(t *testing.T, c client.Client, ns, name string) metav1.OwnerReference {
	t.Helper()
	app := appOf(ns, name)
	app.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	create(t, c, app)
	return *metav1.NewControllerRef(app, v1alpha1.GroupVersion.WithKind("WebApp"))
}

func TestAStolenOperatorTouchesNothingOfOthers(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	others := metav1.ObjectMeta{Namespace: ns, Name: "theirs", Labels: map[string]string{
		"app.kubernetes.io/managed-by": "portico",
	}}
	secret := &corev1.Secret{ObjectMeta: others}
	service := changed(markedService(ns), func(s *corev1.Service) { s.ObjectMeta = others })
	deployment := changed(markedDeployment(ns), func(d *appsv1.Deployment) {
		d.ObjectMeta = others
		// Without this another policy refuses it as well, and it is random which message is returned.
		d.Spec.Template.Spec.ServiceAccountName, d.Spec.Template.Spec.AutomountServiceAccountToken = "theirs",
			new(false)
	})
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: others}
	mine := &corev1.ServiceAccount{ObjectMeta: marked(ns, "mine", "WebApp", "mine")}
	mine.OwnerReferences = []metav1.OwnerReference{ownerOf(t, c, ns, "mine")}
	bare := changed(mine, func(a *corev1.ServiceAccount) {
		a.Name, a.Labels, a.OwnerReferences[0].Name = "bare", nil, "bare"
	})
	bare.OwnerReferences = []metav1.OwnerReference{ownerOf(t, c, ns, "bare")}
	bucket := bucketOf(ns, "docs")
	bucket.Annotations, bucket.Finalizers = map[string]string{v1alpha1.AnnotationPaused: "true"},
		[]string{"team.example/keep"}
	app := changed(appOf(ns, "back"), func(a *v1alpha1.WebApp) {
		a.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true", v1alpha1.AnnotationRollback: "previous"}
	})
	values := valuesOf(ns)
	values.Annotations = map[string]string{"team.example/note": "stays"}
	label := `{"metadata":{"labels":{"portico.dev/secret-values":"true"}}}`
	for _, obj := range []client.Object{values, secret, service, deployment, budget, mine, bare, bucket, app} {
		create(t, c, obj)
	}
	foreign := "belongs to no object of Portico"
	claim := `{"metadata":{"ownerReferences":[{"apiVersion":"portico.dev/v1alpha1","kind":"WebApp","name":"theirs","uid":"x","controller":true}]}}`
	judge(t, c, map[string]attempt{
		"a change of its own":               {patches(mine, `{"metadata":{"annotations":{"a":"b"}}}`), ""},
		"the label that somebody took away": {patches(bare, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"portico"}}}`), ""},
		"the label taken away":              {patches(mine, `{"metadata":{"labels":null}}`), "needs the label"},
		"the owner taken away":              {patches(mine, `{"metadata":{"ownerReferences":null}}`), foreign},
		"another owner":                     {patches(mine, strings.Replace(claim, "theirs", "mine", 1)), foreign},
		"a Deployment":                      {patches(deployment, `{"spec":{"replicas":0}}`), foreign},
		"a Deployment, with ours as owner":  {patches(deployment, claim), foreign},
		"a Service":                         {patches(service, `{"spec":{"selector":{"app":"x"}}}`), foreign},
		"a Secret":                          {patches(secret, `{"stringData":{"a":"b"}}`), foreign},
		"a Secret, with ours as owner":      {patches(secret, claim), foreign},
		"a Secret deleted":                  {deletes(secret), foreign},
		"a value of a person's":             {patches(values, `{"data":{"other":"eA=="},"metadata":{"annotations":{"portico.dev/values-set":"{}"}}}`), ""},
		"a person's Secret deleted":         {deletes(values), ""},
		"a person's Secret with a label":    {patches(values, `{"metadata":{"labels":{"a":"b"}}}`), "must be left alone"},
		"a person's Secret made a list":     {patches(values, `{"metadata":{"labels":{"portico.dev/secret-values":"index"}}}`), "must be left alone"},
		"a person's Secret without a label": {patches(values, `{"metadata":{"labels":null}}`), foreign},
		"a person's Secret with an owner":   {patches(values, claim), "belongs to nothing"},
		"a person's Secret held":            {patches(values, `{"metadata":{"finalizers":["team.example/keep"]}}`), "belongs to nothing"},
		"a note of others on it":            {patches(values, `{"metadata":{"annotations":null}}`), "changes only the values"},
		"a Secret taken for a person's":     {patches(secret, label), "must be left alone"},
		"a budget deleted":                  {deletes(budget), foreign},
		"all budgets deleted": {func(ctx context.Context, c client.Client) error {
			return c.DeleteAllOf(ctx, &policyv1.PodDisruptionBudget{}, client.InNamespace(ns))
		}, foreign},
		"a Deployment scaled": {func(ctx context.Context, c client.Client) error {
			return c.SubResource("scale").Update(ctx, deployment.DeepCopy(),
				client.WithSubResourceBody(&autoscalingv1.Scale{
					ObjectMeta: meta1(ns, "theirs"), Spec: autoscalingv1.ScaleSpec{Replicas: 9},
				}))
		}, "does not update apps/deployments/scale"},
		"the status of a Deployment": {func(ctx context.Context, c client.Client) error {
			return c.Status().Patch(ctx, deployment.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"status":{"replicas":3}}`)))
		}, "does not update apps/deployments/status"},
		"its own Deployment's account": {
			patches(&corev1.ServiceAccount{ObjectMeta: meta1(stack.Namespace, "portico-portal")},
				`{"metadata":{"labels":{"a":"b"}}}`), "which is a namespace of the system",
		},
		"an annotation on a namespace": {patches(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, `{"metadata":{"labels":{"portico.dev/aws":"allowed"}}}`), "is no namespace of a Team"},
		"its own policy": {func(ctx context.Context, c client.Client) error {
			return c.Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "stolen"},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			})
		}, "belongs to no object of Portico"},

		"its finalizer": {patches(bucket, `{"metadata":{"finalizers":["team.example/keep","portico.dev/release"]}}`), ""},
		"the status of a bucket": {func(ctx context.Context, c client.Client) error {
			return c.Status().Patch(ctx, bucket.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"status":{"bucketName":"x"}}`)))
		}, ""},
		"the finalizer of somebody else":   {patches(bucket, `{"metadata":{"finalizers":["portico.dev/release"]}}`), "only its own finalizer"},
		"the pause of a request":           {patches(bucket, `{"metadata":{"annotations":{"portico.dev/paused":null}}}`), "only its own finalizer"},
		"a label of a request":             {patches(bucket, `{"metadata":{"labels":{"a":"b"}}}`), "only its own finalizer"},
		"what a request asks for":          {patches(bucket, `{"spec":{"deletionPolicy":"Retain"}}`), "does not change the spec"},
		"a request deleted":                {deletes(bucket), "does not delete s3buckets"},
		"an image":                         {patches(&v1alpha1.WebApp{ObjectMeta: meta1(ns, "mine")}, `{"spec":{"image":"registry.example.com/evil:1"}}`), "does not change the spec"},
		"a rollback that was asked for":    {patches(app, `{"metadata":{"annotations":{"portico.dev/rollback":null}},"spec":{"image":"registry.example.com/shop:0.9"}}`), ""},
		"a rollback of more than an image": {patches(app, `{"metadata":{"annotations":{"portico.dev/rollback":null}},"spec":{"replicas":9}}`), "does not change the spec"},
	})
}

// Anybody who can create requests in every namespace could have a web app in the operator's namespace read the keys of
// AWS accounts.
func TestNothingIsRequestedInNamespacesOfTheSystem(t *testing.T) {
	c := admin(t)
	for _, ns := range []string{"kube-system", "kube-public", stack.Namespace, controllers.DefaultGatewayNamespace} {
		for _, obj := range []client.Object{appOf(ns, "x"), bucketOf(ns, "x"), &v1alpha1.HostnameGrant{
			ObjectMeta: meta1(ns, v1alpha1.HostnameGrantName), Spec: v1alpha1.HostnameGrantSpec{
				Suffixes: []string{"x.example"},
			},
		}} {
			err := c.Create(t.Context(), obj, client.DryRunAll)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "nothing can be requested in "+ns) {
				t.Errorf("%T in %s: %v", obj, ns, err)
			}
		}
	}
}

// The API server checks the policies' expressions against the schemas of the matched types, and reports warnings in
// their status only.
func TestThePoliciesFitTheSchemas(t *testing.T) {
	c := admin(t)
	for _, name := range []string{"portico-operator", "portico-operator-pods", "portico-namespaces"} {
		policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
		await(t, name+" to be checked", func() (bool, string) {
			err := c.Get(t.Context(), client.ObjectKeyFromObject(policy), policy)
			return err == nil && policy.Status.TypeChecking != nil, fmt.Sprintf("unchecked: %v", err)
		})
		for _, w := range policy.Status.TypeChecking.ExpressionWarnings {
			t.Errorf("%s: %s: %s", name, w.FieldRef, w.Warning)
		}
	}
}

// Without the ClusterRoleBinding portico-operator-secrets, the operator works in namespaces where its role is bound,
// and reports the missing permission in others.
func TestSecretsCanBeLimitedToNamespacesOfTeams(t *testing.T) {
	c := admin(t)
	here, elsewhere := team(t, c), team(t, c)
	account := rbacv1.Subject{Kind: "ServiceAccount", Namespace: here, Name: "narrow"}
	ref := func(kind, name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
	}
	create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(here, account.Name)})
	for _, binding := range []client.Object{
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: here},
			RoleRef:    ref("ClusterRole", "portico-operator"), Subjects: []rbacv1.Subject{account},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: here + "-teams"},
			RoleRef:    ref("ClusterRole", "portico-operator-teams"), Subjects: []rbacv1.Subject{account},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: meta1(stack.Namespace, here), RoleRef: ref("Role", "portico-operator"),
			Subjects: []rbacv1.Subject{account},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: meta1(gateways, here), RoleRef: ref("Role", "portico-operator"),
			Subjects: []rbacv1.Subject{account},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: meta1(here, here), RoleRef: ref("ClusterRole", "portico-operator-secrets"),
			Subjects: []rbacv1.Subject{account},
		},
	} {
		create(t, c, binding)
		t.Cleanup(func() { release(context.Background(), t, c, binding) })
	}
	cfg, err := world.ServiceAccountConfig(t.Context(), here, account.Name)
	if err != nil {
		t.Fatal(err)
	}
	startOperatorAs(t, cfg, operatorOptions{})
	bucket, other := bucketOf(here, "docs"), bucketOf(elsewhere, "docs")
	create(t, c, bucket)
	create(t, c, other)
	ready(t, c, bucket)
	await(t, "the other to say what is missing", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(other), other)
		said := conditionMessage(other)
		return err == nil && strings.Contains(said, `cannot create resource "secrets"`), said
	})
}

func conditionMessage(b *v1alpha1.S3Bucket) string {
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		return c.Message
	}
	return ""
}
