//go:build integration

package integration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// thing is a bucket and a queue of a team, by the names that calls use.
type thing struct {
	bucket, queue string
}

// things creates a bucket and a queue with this name, with one object in the bucket.
func (a *rightsAccount) things(t *testing.T, c client.Client, ns, name string) thing {
	t.Helper()
	bucket, queue := bucketOf(ns, name), queueOf(ns, name)
	bucket.Spec.ProviderRef.Name, queue.Spec.ProviderRef.Name = a.provider.Name, a.provider.Name
	createReady(t, c, bucket)
	createReady(t, c, queue)
	if _, err := bucketsOf(a.outside()).PutObject(
		t.Context(), &s3.PutObjectInput{
			Bucket: &bucket.Status.BucketName, Key: aws.String("there"),
			Body: strings.NewReader("text"),
		}); err != nil {
		t.Fatal(err)
	}
	return thing{bucket.Status.BucketName, queue.Status.QueueURL}
}

func bucketsOf(cfg aws.Config) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

// calls returns the calls that an application may try on a bucket and a queue.
func (a thing) calls(cfg aws.Config) map[string]func(context.Context) error {
	buckets, queues := bucketsOf(cfg), sqs.NewFromConfig(cfg)
	return map[string]func(context.Context) error{
		"list": func(ctx context.Context) error {
			_, err := buckets.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &a.bucket})
			return err
		},
		"get": func(ctx context.Context) error {
			_, err := buckets.GetObject(ctx, &s3.GetObjectInput{Bucket: &a.bucket, Key: aws.String("there")})
			return err
		},
		"put": func(ctx context.Context) error {
			_, err := buckets.PutObject(
				ctx, &s3.PutObjectInput{Bucket: &a.bucket, Key: aws.String("new"), Body: strings.NewReader("text")})
			return err
		},
		"delete": func(ctx context.Context) error {
			_, err := buckets.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &a.bucket, Key: aws.String("new")})
			return err
		},
		"delete the bucket": func(ctx context.Context) error {
			_, err := buckets.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &a.bucket})
			return err
		},
		"open the bucket": func(ctx context.Context) error {
			_, err := buckets.DeletePublicAccessBlock(ctx, &s3.DeletePublicAccessBlockInput{Bucket: &a.bucket})
			return err
		},
		"send": func(ctx context.Context) error {
			_, err := queues.SendMessage(
				ctx, &sqs.SendMessageInput{QueueUrl: &a.queue, MessageBody: aws.String("text")})
			return err
		},
		"receive": func(ctx context.Context) error {
			_, err := queues.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &a.queue})
			return err
		},
		"purge": func(ctx context.Context) error {
			_, err := queues.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &a.queue})
			return err
		},
		"delete the queue": func(ctx context.Context) error {
			_, err := queues.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &a.queue})
			return err
		},
	}
}

// mayOnly tries every call, and fails unless exactly the given ones are allowed. It returns how many were refused.
func (a thing) mayOnly(t *testing.T, who string, cfg aws.Config, allowed ...string) (refused int) {
	t.Helper()
	for name, call := range a.calls(cfg) {
		err := call(t.Context())
		if slices.Contains(allowed, name) {
			if err != nil {
				t.Errorf("%s may not %s: %v", who, name, err)
			}
			continue
		}
		refused++
		if !isDenied(err) {
			t.Errorf("%s may %s: %v", who, name, err)
		}
	}
	return refused
}

func isDenied(err error) bool {
	var e smithy.APIError
	return errors.As(err, &e) && strings.HasPrefix(e.ErrorCode(), "AccessDenied")
}

// TestAnApplicationHasTheRightsOfItsBindings uses an application's own SDK on what it is bound to, and tries
// everything else: other actions, other resources, another team's resources, and changes of its own permissions.
func TestAnApplicationHasTheRightsOfItsBindings(t *testing.T) {
	calm(t)
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000101", v1alpha1.WorkloadIdentityPodIdentity)
	ns, others := team(t, c), team(t, c)
	bound, beside, theirs := a.things(t, c, ns, "bound"), a.things(t, c, ns, "beside"), a.things(t, c, others, "theirs")
	app := appOf(ns, "shop")
	app.Spec.Bindings = []v1alpha1.WebAppBinding{
		{Kind: "S3Bucket", Name: "bound", Access: v1alpha1.AccessRead},
		{Kind: "SQSQueue", Name: "bound", Access: v1alpha1.AccessWrite, Prefix: "QUEUE"},
	}
	mark := world.Proxy.Mark()
	createReady(t, c, app)
	all := slices.Concat(world.Proxy.CallsSince(mark, awsproxy.To("iam")),
		world.Proxy.CallsSince(mark, awsproxy.To("eks")))
	t.Logf("calls for the application's rights: %v", called(all))
	if got := slices.DeleteFunc(called(all), func(name string) bool {
		return strings.HasPrefix(name, "Get") || strings.HasPrefix(name, "List") || strings.HasPrefix(name, "Describe")
	}); !slices.Equal(got, []string{"CreateRole", "PutRolePolicy", "CreatePodIdentityAssociation"}) {
		t.Errorf("it wrote %v", got)
	}
	if got := conditionOf(app, v1alpha1.ConditionAWSAccess); got.Status != metav1.ConditionTrue ||
		got.Reason != "Granted" {
		t.Errorf("%+v", got)
	}

	used := child(t, c, &v1alpha1.WebApp{ObjectMeta: meta1(ns, "bound")}, &v1alpha1.S3Bucket{})
	if !slices.Equal(used.Status.UsedBy, []v1alpha1.ObjectRef{{Kind: "WebApp", Name: "shop"}}) {
		t.Errorf("the bucket is used by %v", used.Status.UsedBy)
	}

	pod := podOf(t, c, app)
	cfg := a.pod(t, c, pod)
	refused := bound.mayOnly(t, "the application", cfg, "list", "get", "send")
	refused += beside.mayOnly(t, "the application, with what is beside,", cfg)
	refused += theirs.mayOnly(t, "the application, with what is another team's,", cfg)
	refused += mayNotChangeRights(t, cfg, a, ns)

	edit(t, c, app, func(app *v1alpha1.WebApp) {
		app.Spec.Bindings[0].Access = ""
		app.Spec.Bindings = app.Spec.Bindings[:1]
	})
	ready(t, c, app)
	cfg = a.pod(t, c, podOf(t, c, app, string(pod.UID)))
	refused += bound.mayOnly(t, "the application, with other bindings,", cfg, "list", "get", "put", "delete")
	refused += beside.mayOnly(t, "the application, with other bindings,", cfg)
	t.Logf("%d attempts were refused", refused)

	edit(t, c, app, func(app *v1alpha1.WebApp) { app.Spec.Bindings = nil })
	await(t, "the rights to go with the last binding", func() (bool, string) {
		return len(a.associations(t, ns)) == 0 && len(a.roles(t, ns)) == 0, strings.Join(a.roles(t, ns), " ")
	})
	awaitGone(t, c, &v1alpha1.AccessBinding{ObjectMeta: app.ObjectMeta})
}

// mayNotChangeRights tries to give an application more permissions with its own credentials.
func mayNotChangeRights(t *testing.T, cfg aws.Config, a *rightsAccount, ns string) int {
	t.Helper()
	list := a.associations(t, ns)
	roles := a.roles(t, ns)
	if len(list) != 1 || len(roles) != 1 {
		t.Fatalf("associations %v, roles %v", list, roles)
	}
	for name, call := range map[string]func() error{
		"delete its association": func() error {
			_, err := eks.NewFromConfig(cfg).DeletePodIdentityAssociation(
				t.Context(), &eks.DeletePodIdentityAssociationInput{
					ClusterName: aws.String(stack.ClusterName), AssociationId: list[0].AssociationId,
				})
			return err
		},
		"widen its policy": func() error {
			_, err := eks.NewFromConfig(cfg).UpdatePodIdentityAssociation(
				t.Context(), &eks.UpdatePodIdentityAssociationInput{
					ClusterName:   aws.String(stack.ClusterName),
					AssociationId: list[0].AssociationId, Policy: aws.String(""),
				})
			return err
		},
		"widen its role": func() error {
			_, err := iam.NewFromConfig(cfg).PutRolePolicy(
				t.Context(), &iam.PutRolePolicyInput{
					RoleName: &roles[0], PolicyName: aws.String("more"),
					PolicyDocument: aws.String(
						`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`),
				})
			return err
		},
	} {
		if err := call(); !isDenied(err) {
			t.Errorf("the application may %s: %v", name, err)
		}
	}
	return 3
}

// called lists the operations of calls, in order.
func called(all []awsproxy.Call) (names []string) {
	for _, call := range all {
		names = append(names, call.Operation)
	}
	return names
}

// hands creates the ServiceAccount of worker, unless it exists.
func hands(t *testing.T, c client.Client, ns, name string) {
	t.Helper()
	if err := c.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta1(ns, name)}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// worker returns an AccessBinding for Pods that Portico does not run.
func (a *rightsAccount) worker(ns string) *v1alpha1.AccessBinding {
	return &v1alpha1.AccessBinding{ObjectMeta: meta1(ns, "worker"), Spec: v1alpha1.AccessBindingSpec{
		ProviderRef: v1alpha1.LocalRef{Name: a.provider.Name}, ServiceAccountName: "worker",
		Resources: []v1alpha1.AccessBindingResource{
			{Kind: "SQSQueue", Name: "bound", Access: v1alpha1.AccessRead},
			{Kind: "S3Bucket", Name: "bound", Access: v1alpha1.AccessWrite},
		},
	}}
}

// workerPod creates a Pod that Portico does not manage, with the ServiceAccount worker.
func workerPod(t *testing.T, c client.Client, ns string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, GenerateName: "worker-"}, Spec: corev1.PodSpec{
		ServiceAccountName: "worker", Containers: []corev1.Container{
			{Name: "worker", Image: "registry.example.com/worker:1"},
		},
	}}
	await(t, "the Pod to be let in", func() (bool, string) {
		err := c.Create(t.Context(), pod)
		return err == nil, "refused"
	})
	return pod
}

func TestPodsOfSomebodysOwnGetRights(t *testing.T) {
	for name, row := range map[string]struct {
		account string
		mode    v1alpha1.WorkloadIdentityMode
	}{
		"associated": {"230000000102", v1alpha1.WorkloadIdentityPodIdentity},
		"by token":   {"230000000103", v1alpha1.WorkloadIdentityIRSA},
	} {
		t.Run(name, func(t *testing.T) {
			calm(t)
			c := withOperator(t)
			a := newRightsAccount(t, c, row.account, row.mode)
			ns := team(t, c)
			bound, beside := a.things(t, c, ns, "bound"), a.things(t, c, ns, "beside")
			create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "worker")})
			worker := a.worker(ns)
			create(t, c, worker)
			if row.mode == v1alpha1.WorkloadIdentityIRSA {
				reason(t, c, worker, "WaitingForServiceAccount")
				edit(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "worker")}, func(s *corev1.ServiceAccount) {
					s.Annotations = map[string]string{v1alpha1.AnnotationRoleARN: worker.Status.RoleARN}
				})
				wakeNow(t, c, worker)
			}
			ready(t, c, worker)
			cfg := a.pod(t, c, workerPod(t, c, ns))
			bound.mayOnly(t, "the worker", cfg, "receive", "put", "delete")
			beside.mayOnly(t, "the worker, with what is beside,", cfg)
			gone(t, c, worker)
			if left := a.roles(t, ns); len(left) > 0 || len(a.associations(t, ns)) > 0 {
				t.Errorf("left behind: roles %v, associations %v", left, a.associations(t, ns))
			}
		})
	}
}

// TestAServiceAccountThatHasRightsIsLeftAlone refuses a ServiceAccount that names a role, and one with an association
// that is not Portico's.
func TestAServiceAccountThatHasRightsIsLeftAlone(t *testing.T) {
	c := withOperator(t)
	a := newRightsAccount(t, c, "230000000104", v1alpha1.WorkloadIdentityPodIdentity)
	ns := team(t, c)
	a.things(t, c, ns, "bound")
	create(t, c, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "worker", Annotations: map[string]string{
			v1alpha1.AnnotationRoleARN: "arn:aws:iam::230000000104:role/legacy",
		}},
	})
	worker := a.worker(ns)
	create(t, c, worker)
	reason(t, c, worker, "ServiceAccountHasRole")
	if roles := a.roles(t, ns); len(roles) > 0 || len(a.associations(t, ns)) > 0 {
		t.Errorf("made: roles %v, associations %v", roles, a.associations(t, ns))
	}
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"pods.eks.amazonaws.com"},"Action":["sts:AssumeRole","sts:TagSession"]}]}`
	role, err := a.iam().CreateRole(
		t.Context(), &iam.CreateRoleInput{RoleName: aws.String("legacy"), AssumeRolePolicyDocument: &trust})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "somebody's association", func() (bool, string) {
		_, err := a.eks().CreatePodIdentityAssociation(t.Context(), &eks.CreatePodIdentityAssociationInput{
			ClusterName: aws.String(stack.ClusterName), Namespace: &ns, ServiceAccount: aws.String("worker"),
			RoleArn: role.Role.Arn,
		})
		return err == nil, "refused"
	})
	edit(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, "worker")}, func(s *corev1.ServiceAccount) {
		s.Annotations = nil
	})
	wakeNow(t, c, worker)
	reason(t, c, worker, "AlreadyExists")
	gone(t, c, worker)
	if got := a.associations(t, ns); len(got) != 1 {
		t.Errorf("somebody's associations: %v", got)
	}
}
