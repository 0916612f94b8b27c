package hostname

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestWhatOfAPoolGatewayConcernsWhom(t *testing.T) {
	status := func(change func(*v1alpha1.PoolGatewayStatus)) *v1alpha1.PoolGateway {
		g := &v1alpha1.PoolGateway{Status: v1alpha1.PoolGatewayStatus{
			Attached: []string{"a", "b"}, LoadBalancer: &v1alpha1.PoolLoadBalancer{DNSName: "lb"},
			CommonStatus: v1alpha1.CommonStatus{
				Conditions: []metav1.Condition{
					{Type: v1alpha1.StepProgrammed, Status: metav1.ConditionTrue},
					{Type: v1alpha1.StepLoadBalancer, Status: metav1.ConditionTrue},
				},
			},
		}}
		change(&g.Status)
		return g
	}
	same := func(*v1alpha1.PoolGatewayStatus) {}
	for name, row := range map[string]struct {
		change       func(*v1alpha1.PoolGatewayStatus)
		all, waiting bool
	}{
		"nothing":                      {same, false, false},
		"how full it is":               {func(s *v1alpha1.PoolGatewayStatus) { s.Rules = 3 }, false, false},
		"a certificate that came":      {func(s *v1alpha1.PoolGatewayStatus) { s.Attached = []string{"a", "b", "c"} }, false, true},
		"a certificate that went":      {func(s *v1alpha1.PoolGatewayStatus) { s.Attached = []string{"b"} }, true, true},
		"another address":              {func(s *v1alpha1.PoolGatewayStatus) { s.LoadBalancer = &v1alpha1.PoolLoadBalancer{DNSName: "lb2"} }, true, false},
		"a Gateway that does not work": {func(s *v1alpha1.PoolGatewayStatus) { s.Conditions[0].Status = metav1.ConditionFalse }, true, true},
		"certificates on their way":    {func(s *v1alpha1.PoolGatewayStatus) { s.Conditions[1].Status = metav1.ConditionFalse }, false, true},
		"one that is stuck": {func(s *v1alpha1.PoolGatewayStatus) {
			s.Conditions = append(s.Conditions,
				metav1.Condition{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue})
		}, true, true},
	} {
		e := event.UpdateEvent{ObjectOld: status(same), ObjectNew: status(row.change)}
		if got := poolServingChanged().Update(e); got != row.all {
			t.Errorf("%s: wakes all %v", name, got)
		}
		if got := poolStatusChanged().Update(e); got != row.waiting {
			t.Errorf("%s: wakes those that wait %v", name, got)
		}
	}
}

func TestWhichHostnamesWait(t *testing.T) {
	now := metav1.Now()
	ready, leaving, taken := &v1alpha1.GatewayHostnameRequest{}, &v1alpha1.GatewayHostnameRequest{},
		&v1alpha1.GatewayHostnameRequest{}
	ready.Status.Ready, leaving.Status.Ready = true, true
	leaving.DeletionTimestamp = &now
	taken.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonTaken}}
	if notReadyOrDeleting(ready) || !notReadyOrDeleting(leaving) || !notReadyOrDeleting(taken) {
		t.Errorf("waiting: ready %v, leaving %v, taken %v", notReadyOrDeleting(ready), notReadyOrDeleting(leaving),
			notReadyOrDeleting(taken))
	}
	if waitsForClaim(ready) || !waitsForClaim(taken) {
		t.Errorf("lost: ready %v, taken %v", waitsForClaim(ready), waitsForClaim(taken))
	}
}

func TestWhatMovesTheMembersOfAPool(t *testing.T) {
	request := func(change func(*v1alpha1.GatewayHostnameRequestStatus)) *v1alpha1.GatewayHostnameRequest {
		r := &v1alpha1.GatewayHostnameRequest{
			Status: v1alpha1.GatewayHostnameRequestStatus{Gateway: "gw-00", Certificate: &v1alpha1.HostnameCertificate{
				ARN: "a",
			}},
		}
		change(&r.Status)
		return r
	}
	for name, row := range map[string]struct {
		change func(*v1alpha1.GatewayHostnameRequestStatus)
		want   bool
	}{
		"a certificate to serve": {func(s *v1alpha1.GatewayHostnameRequestStatus) { s.Certificate.Serve = true }, true},
		"another Gateway":        {func(s *v1alpha1.GatewayHostnameRequestStatus) { s.Gateway = "gw-01" }, true},
		"its own state":          {func(s *v1alpha1.GatewayHostnameRequestStatus) { s.Ready, s.URL = true, "https://a" }, false},
	} {
		e := event.UpdateEvent{
			ObjectOld: request(func(*v1alpha1.GatewayHostnameRequestStatus) {}),
			ObjectNew: request(row.change),
		}
		if got := membershipChanged().Update(e); got != row.want {
			t.Errorf("%s: wakes %v", name, got)
		}
	}
}
