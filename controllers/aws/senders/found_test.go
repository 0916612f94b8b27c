package senders_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// While a cluster is restored, no object has an ARN yet: senders that AWS lets in keep their access until they have
// one, and nobody else gets it.
func TestSendersThatAreAboutToComeStayLetIn(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	session := &cloud.Session{
		Config: aws.Config{Region: "eu-west-1"}, AccountID: "111122223333", Partition: "aws",
		Identity: cloud.Identity{Cluster: "c"},
	}
	at := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }
	news, docs := &v1alpha1.SNSTopic{ObjectMeta: at("news")}, &v1alpha1.S3Bucket{ObjectMeta: at("docs")}
	named := &v1alpha1.S3Bucket{ObjectMeta: at("named"), Spec: v1alpha1.S3BucketSpec{BucketName: "pictures"}}
	objects := []client.Object{news, docs, named}
	arns := map[string]string{
		"news": "arn:aws:sns:eu-west-1:111122223333:" + session.Identity.GeneratedName(news, 256),
		"gone": "arn:aws:sns:eu-west-1:111122223333:" +
			session.Identity.GeneratedName(&metav1.ObjectMeta{Namespace: "shop", Name: "gone"}, 256),
		"closed":  "arn:aws:sns:eu-west-1:111122223333:closed",
		"docs":    "arn:aws:s3:::" + session.Identity.GeneratedBucketName(docs, 63),
		"named":   "arn:aws:s3:::pictures",
		"foreign": "arn:aws:events:eu-west-1:111122223333:rule/nightly",
	}
	var had []iampolicy.Source
	for _, name := range []string{"news", "gone", "closed", "docs", "named"} {
		had = append(had, iampolicy.Source{ARN: arns[name], Account: "111122223333"})
	}
	// another's
	had = append(had, iampolicy.Source{ARN: "arn:aws:sns:us-east-1:999900001111:" + session.Identity.GeneratedName(
		news, 256)})

	kube := external.Kube{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	found, err := senders.Resolve(t.Context(), kube, session, "shop", v1alpha1.Senders{
		{TopicRef: &v1alpha1.LocalRef{Name: "news"}},
		{TopicRef: &v1alpha1.LocalRef{Name: "gone"}},
		{BucketRef: &v1alpha1.LocalRef{Name: "docs"}},
		{BucketRef: &v1alpha1.LocalRef{Name: "named"}},
		{ARN: arns["foreign"]},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := iampolicy.LetInBy(found.LetIn("sqs:SendMessage", queue)); !slices.Equal(got, []string{arns["foreign"]}) {
		t.Errorf("of a new queue: %q", got)
	}
	found.Had(iampolicy.LetIn("sqs:SendMessage", queue, had))
	want := []string{arns["docs"], arns["named"], arns["news"], arns["foreign"]}
	slices.Sort(want)
	own := found.LetIn("sqs:SendMessage", queue)
	if got := iampolicy.LetInBy(own); !slices.Equal(got, want) {
		t.Errorf("of a queue that was there: %q, want %q", got, want)
	}
	for _, s := range iampolicy.SourcesOf(own) {
		if (s.Account != "") != (s.ARN == arns["docs"] || s.ARN == arns["named"]) {
			t.Errorf("the account of %s is %q", s.ARN, s.Account)
		}
	}
}
