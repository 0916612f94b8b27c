//go:build integration

package integration

import (
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/stack"
)

// identityOf returns the identity that the namespace's buckets have.
func identityOf(t *testing.T, c client.Client, ns string) cloud.Identity {
	t.Helper()
	return cloud.Identity{Cluster: uidOf(t, c, metav1.NamespaceSystem), Kind: "S3Bucket", NamespaceUID: uidOf(t, c, ns)}
}

// nameless returns a bucket with a generated name.
func nameless(ns, name string) *v1alpha1.S3Bucket {
	b := bucketOf(ns, name)
	b.Spec.BucketName = ""
	return b
}

// madeBefore creates the bucket of b as an earlier version did, with a generated name without the prefix, and returns
// its name.
func madeBefore(t *testing.T, c client.Client, b *v1alpha1.S3Bucket) string {
	t.Helper()
	id, earlier := identityOf(t, c, b.Namespace), b.DeepCopy()
	earlier.UID = "of-an-earlier-life"
	name := id.GeneratedName(b, 63)
	_, err := outside(t, "test").CreateBucket(
		t.Context(), &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: "eu-west-1",
			Tags: cloud.TagList(id.OwnershipTags(earlier), func(key, value *string) s3types.Tag {
				return s3types.Tag{Key: key, Value: value}
			}),
		}})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// creations returns the operator's creations since m.
func creations(m awsproxy.Mark) []awsproxy.Call {
	return world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), func(call awsproxy.Call) bool {
		return call.Operation == "CreateBucket"
	})
}

// Generated names begin with the prefix. A bucket from before the prefix keeps its name, whether or not the name is
// in its object.
func TestPickedNamesBeginWithThePrefixAndOldOnesStay(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	providerIsChecked(t, c, ns)
	fresh := nameless(ns, "fresh")
	m := world.Proxy.Mark()
	createReady(t, c, fresh)
	if want := identityOf(t, c, ns).GeneratedBucketName(fresh, 63); fresh.Status.BucketName != want ||
		!strings.HasPrefix(want, cloud.BucketPrefix(uidOf(t, c, metav1.NamespaceSystem), ns)+"-"+ns+"-fresh-") {
		t.Errorf("the bucket is %s, want %s", fresh.Status.BucketName, want)
	}
	// The operator looks once for a bucket with the name that an earlier version would have generated.
	if got := world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator),
		awsproxy.About(identityOf(t, c, ns).GeneratedName(fresh, 63))); len(got) != 1 {
		t.Errorf("calls %v", got)
	}
	if got := operations(fresh.Status.BucketName, m); len(got) != 4 {
		t.Errorf("create → settled took %v", got)
	}

	old := nameless(ns, "old")
	name := madeBefore(t, c, old)
	m = world.Proxy.Mark()
	createReady(t, c, old)
	if old.Status.BucketName != name || len(creations(m)) != 0 {
		t.Errorf("the bucket is %s, want %s, after %v", old.Status.BucketName, name, creations(m))
	}
	m = requestReconcile(t, c, old, "1")
	ready(t, c, old)
	if n := writes(name, m); n != 0 || old.Status.BucketName != name {
		t.Errorf("%d writes, bucket %s", n, old.Status.BucketName)
	}
	gone(t, c, old)
	if tagsOf(t, outside(t, "test"), name) != nil {
		t.Error("the old bucket is left")
	}
}

// strictly limits the role of an account to buckets with generated names, as the policy without chosen names does.
func strictly(t *testing.T, account string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/iam/s3bucket.json")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := awsproxy.ParsePolicy(text)
	if err != nil {
		t.Fatal(err)
	}
	policies := iampolicy.Policies{Identity: []*iampolicy.Policy{policy}}
	t.Cleanup(world.Proxy.AttachPolicies(stack.RoleARN(account), policies))
}

// Without the policy for chosen names, buckets with generated names work, and others report what to do.
func TestAChosenNameThatIsNotAllowedIsExplained(t *testing.T) {
	c := withOperator(t)
	const home = "240000000093"
	p, ns := account(t, c, home), team(t, c)
	strictly(t, home)
	picked, chosen := nameless(ns, "picked"), bucketOf(ns, "chosen")
	for _, b := range []*v1alpha1.S3Bucket{picked, chosen} {
		b.Spec.ProviderRef.Name = p.Name
		create(t, c, b)
	}
	ready(t, c, picked)
	message := reason(t, c, chosen, "NameTakenOrDenied").Message
	for _, help := range []string{
		chosen.Spec.BucketName, "without bucketName", "s3bucket-chosen-names.json",
		picked.Status.BucketName[:17] + "-",
	} {
		if !strings.Contains(message, help) {
			t.Errorf("%q does not speak of %s", message, help)
		}
	}
	gone(t, c, chosen)
	gone(t, c, picked)
}
