package sessions

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
)

// withRenewals returns a client with the lists of renewals, which answers a patch that does not apply as the API server
// does.
func withRenewals(t *testing.T) *fake.Clientset {
	t.Helper()
	var all []runtime.Object
	for list := range renewalLists {
		all = append(all, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: RenewalSecret(list)},
		})
	}
	client := fake.NewClientset(all...)
	apply := clienttesting.ObjectReaction(client.Tracker())
	var one sync.Mutex
	client.PrependReactor("patch", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		one.Lock()
		defer one.Unlock()
		done, o, err := apply(a)
		if err != nil && !apierrors.IsNotFound(err) {
			gr := schema.GroupResource{}
			err = apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", gr, "", err.Error(), 0,
				false)
		}
		return done, o, err
	})
	return client
}

const turnKey = "0123456789abcdef0123456789abcdef"

func TestATurnIsTakenByOne(t *testing.T) {
	client, now := withRenewals(t), clocktesting.NewFakePassiveClock(time.Now())
	secrets := client.CoreV1().Secrets("portico-system")
	for _, when := range []string{"the first one of the list", "another one", "one that is over"} {
		key := turnKey
		if when == "another one" {
			key = "1" + turnKey[1:]
		}
		var taken sync.Map
		var wg sync.WaitGroup
		for replica := range 8 {
			wg.Go(func() {
				mine, left, err := NewTurns(secrets).Take(t.Context(), key, now.Now(), now.Now().Add(time.Minute))
				if err != nil || left != "" {
					t.Errorf("%s: %q, %v", when, left, err)
				}
				if mine {
					taken.Store(replica, true)
				}
			})
		}
		wg.Wait()
		n := 0
		taken.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Errorf("%s: %d have the turn", when, n)
		}
		now.SetTime(now.Now().Add(2 * time.Minute))
	}
}

func TestWhatIsLeftIsFound(t *testing.T) {
	client, now := withRenewals(t), clocktesting.NewFakePassiveClock(time.Now())
	secrets := client.CoreV1().Secrets("portico-system")
	one, other := NewTurns(secrets), NewTurns(secrets)
	if mine, _, err := one.Take(t.Context(), turnKey, now.Now(), now.Now().Add(time.Minute)); !mine || err != nil {
		t.Fatal(err)
	}
	if err := one.Leave(t.Context(), turnKey, "sealed", now.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	mine, left, err := other.Take(t.Context(), turnKey, now.Now(), now.Now().Add(time.Minute))
	if mine || left != "sealed" || err != nil {
		t.Errorf("mine %v, left %q, %v", mine, left, err)
	}
	now.SetTime(now.Now().Add(time.Minute))
	if mine, _, err := other.Take(t.Context(), turnKey, now.Now(), now.Now().Add(time.Minute)); !mine || err != nil {
		t.Errorf("after its end: %v, %v", mine, err)
	}
}

func TestTurnsThatAreOverAreTakenOut(t *testing.T) {
	client, now := withRenewals(t), clocktesting.NewFakePassiveClock(time.Now())
	secrets := client.CoreV1().Secrets("portico-system")
	turns := NewTurns(secrets)
	keys := []string{turnKey, "1" + turnKey[1:], "2" + turnKey[1:]} // of one list
	for _, key := range keys {
		if mine, _, err := turns.Take(t.Context(), key, now.Now(), now.Now().Add(time.Second)); !mine || err != nil {
			t.Fatal(mine, err)
		}
		if err := turns.Leave(t.Context(), key, strings.Repeat("x", 100), now.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		now.SetTime(now.Now().Add(forgetAfter + 2*time.Second))
	}
	got, err := secrets.Get(t.Context(), RenewalSecret(renewalList(turnKey)), metav1.GetOptions{})
	if err != nil || len(got.Data) != 1 || got.Data[keys[2]] == nil {
		t.Errorf("left are %d, %v", len(got.Data), err)
	}
}

func TestAListWithoutRoomTellsThatThereWasATurn(t *testing.T) {
	client, now := withRenewals(t), clocktesting.NewFakePassiveClock(time.Now())
	client.PrependReactor("patch", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if len(a.(clienttesting.PatchAction).GetPatch()) > 1000 {
			return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "x", nil)
		}
		return false, nil, nil
	})
	turns := NewTurns(client.CoreV1().Secrets("portico-system"))
	until := now.Now().Add(time.Minute)
	if mine, _, err := turns.Take(t.Context(), turnKey, now.Now(), until); !mine || err != nil {
		t.Fatal(err)
	}
	if err := turns.Leave(t.Context(), turnKey, strings.Repeat("x", 2000), until); err != nil {
		t.Fatal(err)
	}
	if mine, left, err := turns.Take(t.Context(), turnKey, now.Now(), until); mine || left != "" || err != nil {
		t.Errorf("mine %v, left %q, %v", mine, left, err)
	}
}

func TestWithoutItsListNobodyHasATurn(t *testing.T) {
	turns := NewTurns(fake.NewClientset().CoreV1().Secrets("portico-system"))
	if mine, _, err := turns.Take(t.Context(), turnKey, time.Now(), time.Now()); mine || !apierrors.IsNotFound(err) {
		t.Errorf("%v, %v", mine, err)
	}
}
