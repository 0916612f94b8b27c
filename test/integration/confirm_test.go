//go:build integration

package integration

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/stack"
)

// madeIn creates obj in a namespace whose label has this value for confirmations, with the status of an object with a
// resource in AWS.
func madeIn(t *testing.T, c client.Client, label string, obj engine.Object) {
	t.Helper()
	ns := team(t, c)
	if label != "" {
		edit(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, func(n *corev1.Namespace) {
			n.Labels[v1alpha1.LabelConfirmDeletion] = label
		})
	}
	obj.SetNamespace(ns)
	create(t, c, obj)
	made := client.RawPatch(types.MergePatchType, []byte(`{"status":{"accountID":"123456789012"}}`))
	if err := c.Status().Patch(t.Context(), obj, made); err != nil {
		t.Fatal(err)
	}
}

func protected(o engine.Object) engine.Object {
	o.SetAnnotations(map[string]string{v1alpha1.AnnotationDeletionProtection: "true"})
	return o
}

func hostnameFor(env v1alpha1.Environment) engine.Object {
	return &v1alpha1.GatewayHostnameRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: v1alpha1.GatewayHostnameRequestSpec{
			ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}, Hostname: "shop.example.com", ZoneID: "Z123456789",
			Environment: env,
		},
	}
}

// Where a deletion would remove data, a production hostname or something protected, it needs the name; elsewhere it
// does not.
func TestADeletionIsConfirmedWhereItCostsSomething(t *testing.T) {
	c := admin(t)
	bucket := func(change func(*v1alpha1.S3Bucket)) engine.Object {
		return changed(bucketOf(unique("confirm"), "docs"), change)
	}
	for name, row := range map[string]struct {
		label string
		obj   engine.Object
		says  string // empty: no confirmation is needed
	}{
		"a queue":                             {"", queueOf(unique("confirm"), "jobs"), ""},
		"a bucket that stays":                 {"", bucket(func(b *v1alpha1.S3Bucket) { b.Spec.DeletionPolicy = v1alpha1.DeletionRetain }), ""},
		"a bucket that is observed":           {"", bucket(func(b *v1alpha1.S3Bucket) { b.Spec.ManagementPolicy = v1alpha1.ManagementObserve }), ""},
		"a bucket of a namespace of trials":   {"optional", bucket(func(*v1alpha1.S3Bucket) {}), ""},
		"a hostname for tests":                {"", hostnameFor(v1alpha1.EnvironmentDev), ""},
		"a hostname of production":            {"", hostnameFor(v1alpha1.EnvironmentProd), "hostname of production"},
		"a queue that is protected":           {"", protected(queueOf(unique("confirm"), "jobs")), "protected by its annotation"},
		"a queue that is protected, trials":   {"optional", protected(queueOf(unique("confirm"), "jobs")), "protected by its annotation"},
		"a queue where all is confirmed":      {"required", queueOf(unique("confirm"), "jobs"), "its namespace asks for one"},
		"an application where all is":         {"required", appOf(unique("confirm"), "shop"), "its namespace asks for one"},
		"a bucket that is kept, where all is": {"required", bucket(func(b *v1alpha1.S3Bucket) { b.Spec.DeletionPolicy = v1alpha1.DeletionRetain }), "its namespace asks for one"},
	} {
		t.Run(name, func(t *testing.T) {
			madeIn(t, c, row.label, row.obj)
			confirmedFor(t, c, row.obj, row.says)
		})
	}
	for _, s := range specimens() {
		if s.stateful {
			t.Run(s.kind, func(t *testing.T) {
				obj := s.object(unique("confirm"), "data")
				madeIn(t, c, "", obj)
				confirmedFor(t, c, obj, "deleted with it")
			})
		}
	}
}

// confirmedFor checks the reason why the deletion of obj is refused, and that the name, and only the name, is
// sufficient.
func confirmedFor(t *testing.T, c client.Client, obj engine.Object, says string) {
	t.Helper()
	await(t, "the label of the namespace to be known", func() (bool, string) {
		err := c.Delete(t.Context(), obj, client.DryRunAll)
		return (err == nil) == (says == ""), "another answer"
	})
	if says == "" {
		return
	}
	err := c.Delete(t.Context(), obj, client.DryRunAll)
	line := "kubectl annotate "
	if !apierrors.IsForbidden(err) {
		t.Fatalf("error = %v, want it forbidden because of %q", err, says)
	}
	typed := "portico.dev/confirm-deletion=" + obj.GetName() + " && kubectl delete "
	for _, want := range []string{says, line, typed} {
		if !strings.Contains(err.Error(), want) {
			t.Fatalf("error = %v, want %q in it", err, want)
		}
	}
	annotate(t, c, obj, v1alpha1.AnnotationConfirmDeletion, "another")
	if err := c.Delete(t.Context(), obj, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("confirmed by another name: %v", err)
	}
	annotate(t, c, obj, v1alpha1.AnnotationConfirmDeletion, obj.GetName())
	if err := c.Delete(t.Context(), obj, client.DryRunAll); err != nil {
		t.Errorf("confirmed: %v", err)
	}
}

// A confirmation applies to the current object: not in advance, and not for another spec. Editing it and confirming
// in one request is allowed.
func TestAConfirmationDoesNotLinger(t *testing.T) {
	c := admin(t)
	b := bucketOf(unique("confirm"), "docs")
	b.Annotations = map[string]string{v1alpha1.AnnotationConfirmDeletion: "docs"}
	madeIn(t, c, "", b)
	confirmed := func() bool {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			t.Fatal(err)
		}
		return b.Annotations[v1alpha1.AnnotationConfirmDeletion] != ""
	}
	if confirmed() {
		t.Error("confirmed in advance")
	}
	annotate(t, c, b, v1alpha1.AnnotationConfirmDeletion, "docs")
	annotate(t, c, b, "example.com/note", "x")
	if !confirmed() {
		t.Error("another annotation took the confirmation away")
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.ForceDestroy = true })
	if confirmed() {
		t.Error("confirmed for another spec")
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Spec.ForceDestroy = false
		b.Annotations[v1alpha1.AnnotationConfirmDeletion] = "docs"
	})
	if !confirmed() {
		t.Error("a confirmation along with an edit is not taken")
	}
}

// With the operator's token, requests can only be recreated unchanged, and Secrets change their owner only with their
// data.
func TestAStolenOperatorKeepsNothingElse(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	again := bucketOf(ns, "again")
	again.Annotations = map[string]string{v1alpha1.AnnotationKeptFrom: "x", v1alpha1.AnnotationRequestedBy: "oidc:jane"}
	app := changed(appOf(ns, "again"), func(a *v1alpha1.WebApp) { a.Annotations = again.Annotations })
	owned, let := markedSecret(ns), markedSecret(ns)
	docs := bucketOf(ns, "docs") // it must exist, or the garbage collector deletes the Secret
	create(t, c, docs)
	owned.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(docs, v1alpha1.GroupVersion.WithKind(v1alpha1.KindS3Bucket)),
	}
	let.Name, let.OwnerReferences, let.Annotations = "let-s3bucket-binding", nil,
		map[string]string{v1alpha1.AnnotationKeptFor: "x"}
	plain := changed(let, func(s *corev1.Secret) { s.Name, s.Annotations = "plain-s3bucket-binding", nil })
	for _, s := range []*corev1.Secret{owned, let, plain} {
		create(t, c, s)
	}
	uid := string(owned.OwnerReferences[0].UID)
	lets := `{"metadata":{"ownerReferences":null,"annotations":{"portico.dev/kept-for":"` + uid + `"}}`
	takes := `{"metadata":{"annotations":{"portico.dev/kept-for":null},"ownerReferences":[{"apiVersion":"portico.dev/v1alpha1","kind":"S3Bucket","name":"let","uid":"y","controller":true}]}`
	people, foreign := "that is for people", "belongs to no object of Portico"
	judge(t, c, map[string]attempt{
		"a bucket that is made again":         {creates(again), ""},
		"one that is not":                     {creates(changed(again, func(b *v1alpha1.S3Bucket) { delete(b.Annotations, v1alpha1.AnnotationKeptFrom) })), people},
		"an application made again":           {creates(app), people},
		"a bucket with an owner":              {creates(changed(again, func(b *v1alpha1.S3Bucket) { b.OwnerReferences = owned.OwnerReferences })), people},
		"a bucket in a namespace of ours":     {creates(changed(again, func(b *v1alpha1.S3Bucket) { b.Namespace = stack.Namespace })), "namespace"},
		"a Secret let go":                     {patches(owned, lets+`}`), ""},
		"a Secret let go with other data":     {patches(owned, lets+`,"data":{"a":"Yg=="}}`), foreign},
		"a Secret let go for another":         {patches(owned, strings.Replace(lets, uid, "other", 1)+`}`), foreign},
		"a Secret taken up":                   {patches(let, takes+`}`), ""},
		"a Secret taken up with other data":   {patches(let, takes+`,"data":{"a":"Yg=="}}`), foreign},
		"a Secret taken up by a kind not its": {patches(let, strings.Replace(takes, "S3Bucket", "WebApp", 1)+`}`), foreign},
		"a Secret that nobody let go":         {patches(plain, takes+`}`), foreign},
		"a record":                            {creates(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "portico-kept-x"}}), ""},
		"a record in a team's namespace":      {creates(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "portico-kept-x"}}), "does not create /configmaps"},
		"the ledger deleted":                  {deletes(ledgerOf(t, c)), "does not delete /configmaps"},
	})
}

// ledgerOf returns another ConfigMap of the operator's namespace.
func ledgerOf(t *testing.T, c client.Client) *corev1.ConfigMap {
	t.Helper()
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: unique("theirs")}}
	create(t, c, other)
	t.Cleanup(func() { release(context.Background(), t, c, other) })
	return other
}

// A custom resource definition of Portico goes only with its name confirmed: all objects of the kind go with it.
func TestADefinitionOfAKindIsDeletedOnlyIfConfirmed(t *testing.T) {
	c := installer(t)
	const annotation = "portico.dev/confirm-crd-deletion"
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "s3buckets.portico.dev"}}
	err := c.Delete(t.Context(), crd, client.DryRunAll)
	for _, want := range []string{
		"deletes every S3Bucket of the cluster", "kubectl get s3buckets -A",
		"kubectl annotate crd s3buckets.portico.dev --overwrite portico.dev/confirm-crd-deletion=s3buckets.portico.dev",
	} {
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	confirm := func(value string) {
		t.Helper()
		edit(t, c, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
			if value == "" {
				delete(crd.Annotations, annotation)
				return
			}
			crd.Annotations[annotation] = value
		})
	}
	defer confirm("")
	confirm("yes")
	if err := c.Delete(t.Context(), crd, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("another confirmation: %v", err)
	}
	confirm(crd.Name)
	if err := c.Delete(t.Context(), crd, client.DryRunAll); err != nil {
		t.Errorf("confirmed: %v", err)
	}
	other := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "gateways.gateway.networking.k8s.io",
	}}
	if err := c.Delete(t.Context(), other, client.DryRunAll); err != nil {
		t.Errorf("of somebody else: %v", err)
	}
}
