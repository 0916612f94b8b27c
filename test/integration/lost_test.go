//go:build integration

package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	route53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// startAgain starts a new cluster, with its own etcd and the sample provider, on the same AWS as the lost one.
func startAgain(t *testing.T) (*stack.Stack, client.Client) {
	t.Helper()
	s, err := stack.Start(t.Context(), stack.Options{
		Root: "../..", Parts: stack.ControlPlane | stack.AWS | stack.Gateways, AWSEndpoint: world.OutsideAWSEndpoint,
		Progress: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(s.Admin, client.Options{Scheme: scheme()})
	if err != nil {
		t.Fatal(err)
	}
	edit(t, c, &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}},
		func(p *v1alpha1.AWSProvider) {
			p.Spec.Endpoint, p.Spec.AssumeRoleARN = world.AWSEndpoint, stack.RoleARN(stack.AccountID)
		})
	return s, c
}

// startOperatorIn runs the operator with its production permissions in another cluster, under the cluster ID of world.
func startOperatorIn(t *testing.T, s *stack.Stack) {
	t.Helper()
	cfg, err := s.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-operator")
	if err != nil {
		t.Fatal(err)
	}
	startOperatorAs(t, cfg, operatorOptions{clusterID: uidOf(t, admin(t), metav1.NamespaceSystem)})
}

func uidOf(t *testing.T, c client.Client, namespace string) string {
	t.Helper()
	ns := &corev1.Namespace{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: namespace}, ns); err != nil {
		t.Fatal(err)
	}
	return string(ns.UID)
}

// makesOrRemoves reports whether the call creates, deletes or restores something in AWS. CreateTags is excluded,
// because it writes ownership tags.
func makesOrRemoves(c awsproxy.Call) bool {
	for _, verb := range []string{"Create", "Delete", "Run", "Terminate", "Request", "Restore"} {
		if c.Write && strings.HasPrefix(c.Operation, verb) && c.Operation != "CreateTags" {
			return true
		}
	}
	return false
}

// setsSenders reports whether the call sets who can send, or to where.
func setsSenders(c awsproxy.Call) bool {
	return slices.Contains([]string{
		"SetQueueAttributes", "SetTopicAttributes", "Subscribe", "Unsubscribe",
		"PutBucketPolicy", "PutBucketNotificationConfiguration",
	}, c.Operation)
}

// copyOf returns an object as a backup contains it: without what the old cluster added.
func copyOf[T client.Object](obj T) T {
	made := obj.DeepCopyObject().(T)
	made.SetUID("")
	made.SetResourceVersion("")
	made.SetFinalizers(nil)
	made.SetManagedFields(nil)
	return made
}

func TestALostClustersResourcesAreTakenBackByAnAdminsWord(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	api, ns := outside(t, "test"), team(t, c)
	before := uidOf(t, c, ns)
	// resources with generated names are found again as well
	bucket, old, queue := nameless(ns, "kept"), nameless(ns, "old"), queueOf(ns, "kept")
	oldName := madeBefore(t, c, old)
	for _, obj := range []engine.Object{bucket, old, queue} {
		createReady(t, c, obj)
	}
	name, oldUID := bucket.Status.BucketName, string(bucket.UID)
	stop() // the cluster is lost

	s, c := startAgain(t)
	create(t, c, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{"portico.dev/aws": "allowed"}},
	})
	restored, restoredOld, restoredQueue := copyOf(bucket), copyOf(old), copyOf(queue)
	restored.Status, restoredOld.Status, restoredQueue.Status = v1alpha1.S3BucketStatus{}, v1alpha1.S3BucketStatus{},
		v1alpha1.SQSQueueStatus{}
	mark := world.Proxy.Mark()
	startOperatorIn(t, s)
	for _, obj := range []engine.Object{restored, restoredOld, restoredQueue} {
		create(t, c, obj)
		reason(t, c, obj, "AlreadyExists") // a namespace does not inherit from one with the same name
	}
	if calls := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes); len(calls) != 0 {
		t.Fatalf("without an admin's word: %v", calls)
	}

	annotate(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, v1alpha1.AnnotationFormerUID, before)
	for _, obj := range []engine.Object{restored, restoredOld, restoredQueue} {
		ready(t, c, obj) // the annotation triggers a reconcile
	}
	if restored.Status.BucketName != name || restoredOld.Status.BucketName != oldName {
		t.Errorf("buckets %s and %s, want %s and %s", restored.Status.BucketName, restoredOld.Status.BucketName, name,
			oldName)
	}
	if calls := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), makesOrRemoves); len(calls) != 0 {
		t.Errorf("created or deleted: %v", calls)
	}
	tags := tagsOf(t, api, name)
	if tags["portico.dev/namespace-uid"] != uidOf(t, c, ns) || tags["portico.dev/uid"] != string(restored.UID) ||
		string(restored.UID) == oldUID {
		t.Errorf("the marks are not of the new cluster: %v", tags)
	}

	rewritten := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes)
	if len(rewritten) != 3 {
		t.Errorf("%d writes, want one for the marks of each: %v", len(rewritten), rewritten)
	}
	mark = requestReconcile(t, c, restored, "1")
	if n := writes(name, mark); n != 0 {
		t.Errorf("the marks are written again: %d writes", n)
	}
}

// The annotation gives access to the resources of an earlier namespace or request: only those who can restore can set
// it, on a namespace or a request.
func TestOnlyWhoMayRestoreNamesFormerUIDs(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	dev := developer(t, c, ns)
	note := map[string]string{v1alpha1.AnnotationFormerUID: "of-another-team"}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "ask a platform admin") {
			t.Errorf("%s: %v, want a refusal that says whom to ask", what, err)
		}
	}
	keepsNamespaces(t, c, "dev-of-"+ns)

	request := &v1alpha1.GatewayHostnameRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "x", Annotations: note},
		Spec: v1alpha1.GatewayHostnameRequestSpec{
			Hostname: "x.example.com", ZoneID: "Z123456789", ProviderRef: v1alpha1.LocalRef{Name: stack.Provider},
			Visibility: v1alpha1.InternetFacing,
		},
	}
	refused("a request that is created with it", dev.Create(t.Context(), request.DeepCopy()))
	request.Annotations = nil
	create(t, dev, request)
	with := request.DeepCopy()
	with.Annotations = note
	refused("a request that gets it", dev.Patch(t.Context(), with, client.MergeFrom(request.DeepCopy())))
	refused("a namespace that is created with it",
		dev.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns + "-own", Annotations: note}}))
	space := &corev1.Namespace{}
	if err := dev.Get(t.Context(), client.ObjectKey{Name: ns}, space); err != nil {
		t.Fatal(err)
	}
	changed := space.DeepCopy()
	changed.Annotations = note
	refused("a namespace that gets it", dev.Patch(t.Context(), changed, client.MergeFrom(space)))
	refused("a namespace that gets it by finalize", dev.SubResource("finalize").Update(t.Context(), changed.DeepCopy()))

	annotate(t, c, space, v1alpha1.AnnotationFormerUID, "restored")
	left := space.DeepCopy()
	left.Annotations = nil
	refused("a namespace that loses it", dev.Patch(t.Context(), left, client.MergeFrom(space.DeepCopy())))
	annotate(t, dev, space, "example.com/other", "1") // other annotations can be changed as before
}

// keepsNamespaces lets a user create and change namespaces, as self-service for namespaces does.
func keepsNamespaces(t *testing.T, c client.Client, user string) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"namespaces", "namespaces/finalize"}, Verbs: []string{"get", "create", "update", "patch"},
	}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}
	for _, obj := range []client.Object{role, binding} {
		create(t, c, obj)
		t.Cleanup(func() { release(context.Background(), t, c, obj) })
	}
}

// ownership returns the TXT records of the zone, which say who owns the hostnames.
func ownership(d domain) []string {
	d.t.Helper()
	var all []string
	for _, set := range d.sets() {
		if set.Type == route53types.RRTypeTxt {
			all = append(all, aws.ToString(set.Name)+" "+aws.ToString(set.ResourceRecords[0].Value))
		}
	}
	return all
}

func TestALostClustersHostnamesAreTakenBack(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	d := domainOf(t, c)
	asked := d.request("shop." + d.name)
	ready(t, c, asked)
	url, certificate, records := asked.Status.URL, asked.Status.Certificate.ARN, d.records()
	before, notes := uidOf(t, c, d.ns), ownership(d)
	held, place, grant := &v1alpha1.DomainClaim{}, &v1alpha1.PoolGateway{}, &v1alpha1.HostnameGrant{}
	for key, obj := range map[client.ObjectKey]client.Object{
		{Name: asked.Status.Claim}:                          held,
		{Namespace: gateways, Name: asked.Status.Gateway}:   place,
		{Namespace: d.ns, Name: v1alpha1.HostnameGrantName}: grant,
	} {
		if err := c.Get(t.Context(), key, obj); err != nil {
			t.Fatal(err)
		}
	}
	stop() // the cluster is lost

	s, c := startAgain(t)
	create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: d.ns, Labels: map[string]string{"portico.dev/aws": "allowed"}, Annotations: map[string]string{
			v1alpha1.AnnotationFormerUID: before,
		},
	}})
	request := copyOf(asked)
	request.Status, request.Annotations = v1alpha1.GatewayHostnameRequestStatus{},
		map[string]string{v1alpha1.AnnotationFormerUID: string(asked.UID)}
	for _, obj := range []client.Object{copyOf(grant), copyOf(place), copyOf(held)} {
		create(t, c, obj)
	}
	mark := world.Proxy.Mark()
	startOperatorIn(t, s)
	createReady(t, c, request)
	got := request.Status
	if got.URL != url || got.Certificate.ARN != certificate {
		t.Errorf("URL = %q, certificate %q, want %s, %s", got.URL, got.Certificate.ARN, url, certificate)
	}
	if got.Gateway != place.Name || got.Claim != held.Name {
		t.Errorf("Gateway = %q, Claim = %q, want %s, %s", got.Gateway, got.Claim, place.Name, held.Name)
	}
	ready(t, c, &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: held.Name}})
	// The new Gateway has another UID, so the load balancer controller creates another load balancer, and the
	// hostname's records follow it.
	calls := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes)
	if len(calls) != 1 || calls[0].Operation != "ChangeResourceRecordSets" {
		t.Errorf("writes %v, want one change of the addresses", calls)
	}
	if got := ownership(d); !slices.Equal(got, notes) {
		t.Errorf("the TXT record says %v, and said %v", got, notes)
	}
	if got := d.records(); !slices.Equal(got, records) {
		t.Errorf("records %v, were %v", got, records)
	}

	if err := erase(t, c, request); err != nil { // Portico can delete what it has adopted
		t.Fatal(err)
	}
	await(t, "the records to go", func() (bool, string) { return len(d.records()) == 0, fmt.Sprint(d.records()) })
}

// From a lost cluster to an empty one on the same AWS, with portico backup and portico restore alone.
func TestABackupBringsALostClusterBack(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	stop := startOperator(t, operatorOptions{})
	d := domainOf(t, c)
	bucket, queue, asked := bucketOf(d.ns, "kept"), queueOf(d.ns, "kept"), d.request("shop."+d.name)
	bucket.Spec.BucketName = ""
	database, machine, topic := databases.object(d.ns, "kept"), machines.object(d.ns, "kept"),
		topics.object(d.ns, "kept")
	queue.Spec.AllowFrom = v1alpha1.Senders{{TopicRef: refTo("kept")}, {BucketRef: refTo("kept")}}
	topic.(*v1alpha1.SNSTopic).Spec.Subscriptions = []v1alpha1.SNSSubscription{{QueueRef: refTo("kept")}}
	bucket.Spec.Notifications = []v1alpha1.S3Notification{{
		QueueRef: refTo("kept"),
		Events:   []string{"s3:ObjectCreated:*"},
	}}
	for _, obj := range []client.Object{bucket, queue, database, machine, topic} {
		create(t, c, obj)
	}
	developer(t, c, d.ns)
	all := []engine.Object{bucket, queue, database, machine, topic, asked}
	for _, obj := range all {
		ready(t, c, obj)
	}
	name, certificate, records, notes := bucket.Status.BucketName, asked.Status.Certificate.ARN, d.records(),
		ownership(d)
	portico, file := newTerminal(t), filepath.Join(t.TempDir(), "portico.yaml")
	_, said := portico.run(0, "backup", "--kubeconfig", world.AdminKubeconfig, "--file", file)
	says(t, said, "the cluster with the ID "+uidOf(t, c, metav1.NamespaceSystem))
	says(t, said, "portico-system/")
	_, said = portico.run(2, "backup", "--kubeconfig", world.AdminKubeconfig, "--file", file)
	says(t, said, "is there already")
	stop() // the cluster is lost

	s, c := startAgain(t)
	restore := []string{"restore", file, "--yes", "--kubeconfig", s.AdminKubeconfig}
	operators := func(n int) {
		t.Helper()
		patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
		if err := c.Patch(t.Context(), &appsv1.Deployment{ObjectMeta: meta1(stack.Namespace, "portico-operator")},
			patch); err != nil {
			t.Fatal(err)
		}
	}
	operators(1)
	_, said = portico.run(1, restore...)
	says(t, said, "the operator runs in this cluster")
	operators(0)
	if err := c.Get(t.Context(), client.ObjectKey{Name: d.ns}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("something was restored: %v", err)
	}
	_, said = portico.run(0, restore...)
	says(t, said, "create Namespace "+d.ns)
	says(t, said, "create RoleBinding "+d.ns+"/")
	says(t, said, "--cluster-id="+uidOf(t, admin(t), metav1.NamespaceSystem))
	_, said = portico.run(0, restore...)
	says(t, said, "There is nothing to restore")

	edit(t, c, queue, func(q *v1alpha1.SQSQueue) { q.Labels = map[string]string{"changed": "since"} })
	_, said = portico.run(0, restore...)
	says(t, said, "SQSQueue "+d.ns+"/kept is there and differs")
	_, said = portico.run(0, append(restore, "--overwrite")...)
	says(t, said, "overwrite SQSQueue "+d.ns+"/kept")

	mark := world.Proxy.Mark()
	startOperatorIn(t, s)
	for _, obj := range all {
		ready(t, c, obj)
	}
	ready(t, c, &v1alpha1.DomainClaim{ObjectMeta: metav1.ObjectMeta{Name: asked.Status.Claim}})
	if calls := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), makesOrRemoves); len(calls) != 0 {
		t.Errorf("created or deleted: %v", calls)
	}
	if calls := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes,
		setsSenders); len(calls) != 0 {
		t.Errorf("who may send was written: %v", calls)
	}
	if bucket.Status.BucketName != name || asked.Status.Certificate.ARN != certificate {
		t.Errorf("bucket %q, certificate %q, want %s, %s", bucket.Status.BucketName, asked.Status.Certificate.ARN, name,
			certificate)
	}
	if got := d.records(); !slices.Equal(got, records) {
		t.Errorf("records %v, want %v", got, records)
	}
	if got := ownership(d); !slices.Equal(got, notes) {
		t.Errorf("ownership %v, want %v", got, notes)
	}
	if len(queue.Labels) != 0 {
		t.Errorf("labels %v", queue.Labels)
	}
}
