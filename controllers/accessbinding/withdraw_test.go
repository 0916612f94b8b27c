package accessbinding

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

var closings = []string{
	v1alpha1.ReasonProviderNotAllowed, v1alpha1.ReasonProviderDeleting,
	v1alpha1.ReasonRegionNotAllowed,
}

// If an account is closed to a namespace, the rights are removed first, and then the error is reported.
func TestAClosedAccountTakesRightsAway(t *testing.T) {
	for _, reason := range closings {
		d := newDesk(t)
		if err := d.settle(); err != nil {
			t.Fatal(err)
		}
		d.writes, d.closed = nil, reason
		d.others = []v1alpha1.AccessBinding{{}} // also leaves, and none can know that it is the last
		for range 2 {
			if got := reasonOf(d.pass()); got != reason {
				t.Errorf("%s: says %s", reason, got)
			}
		}
		d.wrote("DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole")
		s := d.obj.Status
		if left := s.AccountID + s.Policy + s.RoleARN + s.AssociationARN; left != "" {
			t.Errorf("%s: status %+v, want no account, policy, role or association", reason, s)
		}
		d.closed = ""
		if err := d.settle(); err != nil || d.association == nil {
			t.Errorf("%s: opened again: %v", reason, err)
		}
	}
}

// If reads or removals fail, the status is kept: they are tried again.
func TestTroubleIsNoClosing(t *testing.T) {
	d := newDesk(t)
	_ = d.settle()
	d.writes, d.closed = nil, v1alpha1.ReasonProviderNotReady
	if got := reasonOf(d.pass()); got != v1alpha1.ReasonProviderNotReady || d.association == nil ||
		d.obj.Status.AccountID == "" {
		t.Errorf("%s: %+v", got, d.obj.Status)
	}
	d.closed, d.refuse["DeletePodIdentityAssociation"] = v1alpha1.ReasonProviderNotAllowed, code("AccessDenied")
	if err := d.pass(); err == nil || d.obj.Status.AccountID == "" {
		t.Errorf("%v: %+v", err, d.obj.Status)
	}
	d.wrote()
}

// A pause keeps no rights in a closed account, and changes nothing else.
func TestAPauseKeepsNothingThatIsNotAllowed(t *testing.T) {
	for _, reason := range append([]string{""}, closings...) {
		d := newDesk(t)
		_ = d.settle()
		d.writes, d.closed = nil, reason
		d.obj.Spec.Resources = nil // not followed while paused
		for range 2 {
			_ = d.reconciler().Withdraw(t.Context(), d.obj, engine.NewPass(nil))
		}
		if reason == "" {
			d.wrote()
		} else {
			d.wrote("DeletePodIdentityAssociation", "DeleteRolePolicy", "DeleteRole")
		}
	}
	d := newDesk(t)
	_ = d.settle()
	d.writes, d.identity = nil, nil
	if err := d.reconciler().Withdraw(t.Context(), d.obj, engine.NewPass(nil)); err != nil || d.association != nil {
		t.Errorf("an account that gives no rights any more: %v", err)
	}
}

// Nothing is created for a ServiceAccount that does not exist; one that is deleted keeps its rights.
func TestNothingIsMadeForAServiceAccountThatIsNotThere(t *testing.T) {
	d := newDesk(t)
	d.account = nil
	if err := d.pass(); reasonOf(err) != v1alpha1.ReasonWaitingForServiceAccount ||
		!strings.Contains(err.Error(), "no ServiceAccount worker") {
		t.Error(err)
	}
	d.wrote()
	d.account = &metav1.PartialObjectMetadata{}
	if err := d.settle(); err != nil {
		t.Error(err)
	}
	d.writes, d.account = nil, nil
	if err := d.settle(); err != nil {
		t.Errorf("later: %v", err)
	}
	d.wrote()
}

// A namespace has a share of the account's quota: objects with rights keep them, and of the others the older come
// first.
func TestANamespaceHasAShare(t *testing.T) {
	two := int32(2)
	holder := func(n int) v1alpha1.AccessBinding {
		return v1alpha1.AccessBinding{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("holder-", n), UID: types.UID(fmt.Sprint(n))},
			Status:     v1alpha1.AccessBindingStatus{AccountID: "1"},
		}
	}
	waiting := func(age time.Duration) v1alpha1.AccessBinding {
		return v1alpha1.AccessBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "waiting", UID: "w", CreationTimestamp: metav1.Time{
				Time: time.Unix(1000, 0).Add(-age),
			}},
		}
	}
	for name, row := range map[string]struct {
		others  []v1alpha1.AccessBinding
		most    *int32
		refused bool
	}{
		"it is the only one":                 {nil, &two, false},
		"there is room for one more":         {[]v1alpha1.AccessBinding{holder(1)}, &two, false},
		"there is none":                      {[]v1alpha1.AccessBinding{holder(1), holder(2)}, &two, true},
		"an older one waits for the last":    {[]v1alpha1.AccessBinding{holder(1), waiting(time.Hour)}, &two, true},
		"a younger one waits for the last":   {[]v1alpha1.AccessBinding{holder(1), waiting(-time.Hour)}, &two, false},
		"none is allowed":                    {nil, new(int32), true},
		"by default there is room for some":  {[]v1alpha1.AccessBinding{holder(1), holder(2)}, nil, false},
		"there is an end to that, of course": {many(holder, 100), nil, true},
	} {
		d := newDesk(t)
		d.obj.CreationTimestamp = metav1.Time{Time: time.Unix(1000, 0)}
		d.others, d.identity.MaxPerNamespace = row.others, row.most
		err := d.settle()
		refused := reasonOf(err) == v1alpha1.ReasonQuotaExceeded
		if refused != row.refused {
			t.Errorf("%s: error = %v, want it refused: %v", name, err, row.refused)
		}
		if refused && (len(d.writes) > 0 || !strings.Contains(err.Error(), "maxPerNamespace")) {
			t.Errorf("%s: wrote %v, error = %v; want no write, and maxPerNamespace", name, d.writes, err)
		}
	}
	d := newDesk(t)
	_ = d.settle()
	d.writes, d.others, d.identity.MaxPerNamespace = nil, many(holder, 10), &two
	if err := d.settle(); err != nil {
		t.Errorf("a share that got smaller takes from one who has: %v", err)
	}
	d.wrote()
}

func many(one func(int) v1alpha1.AccessBinding, n int) (all []v1alpha1.AccessBinding) {
	for i := range n {
		all = append(all, one(i))
	}
	return all
}
