package sweep

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

const account = "111122223333"

// callerIdentity is the answer of the fake STS.
const callerIdentity = `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::` + account +
	`:user/x</Arn><Account>` + account + `</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`

type secrets struct{}

func (secrets) Version(context.Context, string) (string, error)              { return "1", nil }
func (secrets) Value(context.Context, v1alpha1.SecretKeyRef) (string, error) { return "key", nil }

// sweeper returns a Sweeper over objects; list returns what the fake AWS has.
func sweeper(t *testing.T, list func(context.Context, *cloud.Session) ([]string, error), objects ...external.Object) (
	*Sweeper, *[]string,
) {
	t.Helper()
	sts := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(callerIdentity)) }))
	t.Cleanup(sts.Close)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	ref := &v1alpha1.SecretKeyRef{Name: "aws", Key: "k"}
	provider := &v1alpha1.AWSProvider{
		ObjectMeta: metav1.ObjectMeta{Name: "aws", UID: "p"},
		Spec:       v1alpha1.AWSProviderSpec{Region: "eu-west-1", AccessKeyIDRef: ref, SecretAccessKeyRef: ref, Endpoint: sts.URL},
		Status:     v1alpha1.AWSProviderStatus{CommonStatus: v1alpha1.CommonStatus{Conditions: []metav1.Condition{{Type: v1alpha1.ConditionAuthenticated, Status: metav1.ConditionTrue}}}},
	}
	sessions := cloud.NewSessions(secrets{}, "cluster", "", &cloud.Limiters{Rates: cloud.DefaultRates(), Now: time.Now})
	sessions.Endpoints = cloud.Endpoints{sts.URL}
	var mu sync.Mutex
	woken := &[]string{}
	return &Sweeper{
		Reader:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(provider).Build(),
		Sessions: sessions,
		Every:    time.Minute,
		Kinds: []Kind{{
			Name: "S3Bucket", List: list,
			Objects: func(_ context.Context, each func(external.Object)) error {
				for _, o := range objects {
					each(o)
				}
				return nil
			},
			Enqueue: func(_ context.Context, obj external.Object) {
				mu.Lock()
				defer mu.Unlock()
				*woken = append(*woken, obj.GetName())
			},
		}},
	}, woken
}

func bucket(name string, change ...func(*v1alpha1.S3Bucket)) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID(name)}}
	b.Spec.ProviderRef.Name = "aws"
	s := &b.Status
	s.ARN, s.AccountID, s.Region, s.Ready = "arn:"+name, account, "eu-west-1", true
	for _, c := range change {
		c(b)
	}
	return b
}

func TestASweepWakesWhatIsMissing(t *testing.T) {
	now := metav1.Time{Time: time.Unix(1, 0)}
	var mu sync.Mutex
	var lists []string
	list := func(ctx context.Context, s *cloud.Session) ([]string, error) {
		if !engine.IsRoutine(ctx) {
			t.Error("a sweep is not routine work")
		}
		mu.Lock()
		defer mu.Unlock()
		lists = append(lists, s.Config.Region)
		return []string{"arn:there", "arn:foreign"}, nil
	}
	s, woken := sweeper(t, list,
		bucket("there"), bucket("gone"), bucket("elsewhere", func(b *v1alpha1.S3Bucket) {
			b.Status.Region = "us-east-1"
		}),
		bucket("new", func(b *v1alpha1.S3Bucket) { b.Status.ARN = "" }),
		bucket("waiting", func(b *v1alpha1.S3Bucket) { b.Status.Ready = false }),
		bucket("dying", func(b *v1alpha1.S3Bucket) { b.DeletionTimestamp = &now }),
		bucket("observed", func(b *v1alpha1.S3Bucket) { b.Spec.ManagementPolicy = v1alpha1.ManagementObserve }),
		bucket("paused", func(b *v1alpha1.S3Bucket) {
			b.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
		}),
	)
	s.Sweep(t.Context())
	slices.Sort(*woken)
	if !slices.Equal(*woken, []string{"elsewhere", "gone"}) {
		t.Errorf("woken %v", *woken)
	}
	slices.Sort(lists)
	if !slices.Equal(lists, []string{"eu-west-1", "us-east-1"}) {
		t.Errorf("listed %v, want each region once", lists)
	}
}

func TestAFailedListingProvesNothing(t *testing.T) {
	for name, row := range map[string]struct {
		err    error
		change func(*v1alpha1.S3Bucket)
	}{
		"page 2 failed":    {err: errors.New("page 2")},
		"another account":  {change: func(b *v1alpha1.S3Bucket) { b.Status.AccountID = "999988887777" }},
		"no such provider": {change: func(b *v1alpha1.S3Bucket) { b.Spec.ProviderRef.Name = "gone" }},
	} {
		b := bucket("b")
		if row.change != nil {
			row.change(b)
		}
		s, woken := sweeper(t, func(context.Context, *cloud.Session) ([]string, error) { return nil, row.err }, b)
		s.Sweep(t.Context())
		if len(*woken) != 0 {
			t.Errorf("%s: woken %v", name, *woken)
		}
	}
}

func TestSweepsComeAtTheirIntervalUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		swept := 0
		s := &Sweeper{
			Every: time.Minute,
			Kinds: []Kind{{Name: "S3Bucket", Objects: func(context.Context, func(external.Object)) error {
				swept++
				return errors.New("no cache")
			}}},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Start(ctx) }()
		time.Sleep(10*time.Minute + time.Second)
		cancel()
		if err := <-done; err != nil || swept < 9 || swept > 11 {
			t.Errorf("%d sweeps in ten minutes, %v", swept, err)
		}
	})
}
