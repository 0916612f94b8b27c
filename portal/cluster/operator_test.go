package cluster

import (
	"errors"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// TestTheOperatorGetsATokenForItself: a token for the API server must not be sent to anybody else.
func TestTheOperatorGetsATokenForItself(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	client := fake.NewClientset()
	var asked []*authenticationv1.TokenRequest
	var fail error
	client.PrependReactor("create", "serviceaccounts/token", func(a clienttesting.Action) (
		bool, runtime.Object, error,
	) {
		create := a.(clienttesting.CreateActionImpl)
		if create.Namespace != "portico-system" || create.Name != "portico-portal" {
			t.Errorf("a token of %s/%s", create.Namespace, create.Name)
		}
		r := create.GetObject().(*authenticationv1.TokenRequest)
		asked = append(asked, r)
		return true, &authenticationv1.TokenRequest{Status: authenticationv1.TokenRequestStatus{
			Token: "token", ExpirationTimestamp: metav1.NewTime(
				clock.Now().Add(time.Duration(*r.Spec.ExpirationSeconds) * time.Second)),
		}}, fail
	})
	access := newOperatorAccess(client, "portico-system", clock)
	mint := func(want int) {
		t.Helper()
		if token, err := access.Token(t.Context()); err != nil || token != "token" || len(asked) != want {
			t.Errorf("%q, %v after %d requests", token, err, len(asked))
		}
	}
	mint(1)
	mint(1)
	clock.SetTime(clock.Now().Add(9 * time.Minute))
	mint(2)
	access.Drop("another")
	mint(2)
	access.Drop("token")
	mint(3)
	for _, r := range asked {
		if !slices.Equal(r.Spec.Audiences, []string{operatorapi.Audience}) || *r.Spec.ExpirationSeconds > 600 {
			t.Errorf("asked for %+v", r.Spec)
		}
	}
	fail = errors.New("forbidden")
	access.Drop("token")
	if _, err := access.Token(t.Context()); err == nil {
		t.Error("no error")
	}
	if _, err := access.Lease(t.Context()); err == nil {
		t.Error("there is no Lease")
	}
}

func TestFeaturesAreForThoseWhoMayListClaims(t *testing.T) {
	j, may, _ := clustertest.NewRights()
	j.Allow = kubetest.Only("list domainclaims payments")
	var forbidden *failure.ForbiddenError
	if _, err := (&operatorPart{kinds: catalog.NewLive(catalogtest.Kinds(t)), rights: may}).Features(
		t.Context(), auth.Identity{Username: "oidc:dev"}); !errors.As(err, &forbidden) {
		t.Errorf("%v", err)
	}
}
