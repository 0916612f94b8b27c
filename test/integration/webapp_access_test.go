//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestAnApplicationIsToldWhatItMayDoInAWS binds a bucket read-only and a queue, and then sets a role.
func TestAnApplicationIsToldWhatItMayDoInAWS(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	bucket, queue := bucketOf(ns, "receipts"), queueOf(ns, "orders")
	createReady(t, c, bucket)
	createReady(t, c, queue)
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{
		{Kind: "S3Bucket", Name: "receipts", Access: v1alpha1.AccessRead},
		{Kind: "SQSQueue", Name: "orders"},
	}
	createReady(t, c, app)
	if got := conditionOf(app, v1alpha1.ConditionAWSAccess); got.Status != metav1.ConditionFalse ||
		got.Reason != "NoIdentity" || !strings.Contains(got.Message, "S3Bucket receipts, SQSQueue orders") {
		t.Errorf("without an identity: %+v", got)
	}
	for _, part := range []string{`"s3:GetObject"`, bucket.Status.ARN + "/*", `"sqs:SendMessage"`, queue.Status.ARN} {
		if !strings.Contains(app.Status.AccessPolicy, part) {
			t.Errorf("the policy lacks %s: %s", part, app.Status.AccessPolicy)
		}
	}
	if strings.Contains(app.Status.AccessPolicy, "s3:PutObject") {
		t.Errorf("who reads may write: %s", app.Status.AccessPolicy)
	}
	edit(t, c, app, func(app *v1alpha1.WebApp) {
		app.Spec.Identity = &v1alpha1.WebAppIdentity{AWSRoleARN: "arn:aws:iam::123456789012:role/shop"}
		app.Spec.Bindings = app.Spec.Bindings[1:]
	})
	ready(t, c, app)
	if got := conditionOf(app, v1alpha1.ConditionAWSAccess); got.Status != metav1.ConditionUnknown ||
		got.Reason != "RoleNotChecked" || strings.Contains(app.Status.AccessPolicy, "s3:") {
		t.Errorf("with a role, and without the bucket: %+v, %s", got, app.Status.AccessPolicy)
	}
	edit(t, c, app, func(app *v1alpha1.WebApp) { app.Spec.Bindings = nil })
	ready(t, c, app)
	if got := conditionOf(app, v1alpha1.ConditionAWSAccess); got.Type != "" || app.Status.AccessPolicy != "" {
		t.Errorf("without bindings: %+v, %s", got, app.Status.AccessPolicy)
	}
}

func TestAnApplicationGetsDetailsAsFiles(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	restrict(t, c, ns)
	queue := queueOf(ns, "orders")
	createReady(t, c, queue)
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{
		{Kind: "SQSQueue", Name: "orders", Files: &v1alpha1.WebAppBindingFiles{OnChange: v1alpha1.OnChangeReload}},
	}
	createReady(t, c, app)
	before := child(t, c, app, &appsv1.Deployment{})
	pod := before.Spec.Template.Spec
	if v := pod.Volumes[1].Secret; v == nil || v.SecretName != "orders-sqsqueue-binding" ||
		pod.Containers[0].VolumeMounts[1].MountPath != "/bindings/orders" {
		t.Errorf("volumes %+v, mounts %+v", pod.Volumes, pod.Containers[0].VolumeMounts)
	}
	if !slices.ContainsFunc(pod.Containers[0].Env, func(e corev1.EnvVar) bool {
		return e.Name == "SERVICE_BINDING_ROOT" && e.Value == "/bindings"
	}) {
		t.Errorf("variables %+v", pod.Containers[0].Env)
	}
	// The connection details change, and the Pods are not replaced: the kubelet updates the files.
	version := app.Status.Bindings[0].ResourceVersion
	edit(t, c, &corev1.Secret{ObjectMeta: meta1(ns, "orders-sqsqueue-binding")}, func(s *corev1.Secret) {
		s.Data["url"] = []byte("http://evil.example.com")
	})
	wakeNow(t, c, queue)
	await(t, "the new details to be noted", func() (bool, string) {
		now := child(t, c, app, &v1alpha1.WebApp{}).Status.Bindings
		return len(now) == 1 && now[0].ResourceVersion != version, version
	})
	if now := child(t, c, app, &appsv1.Deployment{}); now.Generation != before.Generation {
		t.Errorf("the Deployment was changed: generation %d, before %d", now.Generation, before.Generation)
	}
}

func TestBindingsThatMakeNoSenseAreRefused(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	files := &v1alpha1.WebAppBindingFiles{}
	for want, b := range map[string]v1alpha1.WebAppBinding{
		"access is for buckets, queues and topics": {Kind: "RDSInstance", Name: "ledger", Access: v1alpha1.AccessRead},
		"nobody reads from a topic":                {Kind: "SNSTopic", Name: "news", Access: v1alpha1.AccessRead},
		"set files.folder instead":                 {Kind: "SQSQueue", Name: "orders", Prefix: "MAIL", Files: files},
		"Unsupported value":                        {Kind: "SQSQueue", Name: "orders", Access: "All"},
		"folder":                                   {Kind: "SQSQueue", Name: "orders", Files: &v1alpha1.WebAppBindingFiles{Folder: "../etc"}},
	} {
		app := appOf(ns, "shop")
		app.Spec.Bindings = []v1alpha1.WebAppBinding{b}
		if err := c.Create(t.Context(), app); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", b, err, want)
		}
	}
}
