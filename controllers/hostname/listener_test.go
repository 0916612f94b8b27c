package hostname

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

const gateways = "portico-gateways"

func TestWhatAHostnameWaitsForThatGoes(t *testing.T) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, gatewayv1.Install, albconfig.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	gateway := func(reason, message string, attached ...string) client.Object {
		g := &v1alpha1.PoolGateway{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "gw-00"}}
		g.Status.Attached = attached
		if reason != "" {
			g.Status.Conditions = []metav1.Condition{
				{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: message},
			}
		}
		return g
	}
	set := &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "dc-1"}}
	config := func(first string, others ...string) client.Object {
		c := &albconfig.LoadBalancerConfiguration{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "gw-00"}}
		c.Spec.ListenerConfigurations = []albconfig.ListenerConfiguration{
			{ProtocolPort: "HTTPS:443", DefaultCertificate: first, Certificates: others},
		}
		return c
	}
	for name, row := range map[string]struct {
		there  []client.Object
		serve  bool
		lost   bool
		reason string
		says   string
	}{
		"it was just asked for":                    {[]client.Object{gateway("", "")}, true, false, "Detaching", "being taken off"},
		"it was asked of a Gateway that never was": {[]client.Object{gateway("ClassNotFound", "there is no GatewayClass alb")}, true, false, "Detaching", "being taken off"},
		"nothing, the Gateway never was":           {[]client.Object{gateway("ClassNotFound", "there is no GatewayClass alb")}, false, false, "", ""},
		"its listener":                             {[]client.Object{gateway("", ""), set}, false, false, "Detaching", "being taken off"},
		"its listener, whose certificate is lost":  {[]client.Object{gateway("", ""), set}, false, true, "Detaching", "being taken off"},
		"its certificate":                          {[]client.Object{gateway("", "", "arn:1")}, false, false, "Detaching", "being taken off"},
		"a Gateway that is stuck": {
			[]client.Object{gateway("ClassNotFound", "there is no GatewayClass alb"), set},
			false, false,
			"GatewayFailed", "stuck: there is no GatewayClass alb",
		},
		"a Gateway that is to be deleted":   {[]client.Object{gateway(v1alpha1.ReasonInUse, "2 hostnames have a place on this Gateway"), set}, false, false, "Detaching", "being taken off"},
		"the configuration":                 {[]client.Object{gateway("", "", "arn:2"), config("arn:2", "arn:1")}, false, false, "Detaching", "out of the configuration"},
		"the configuration's default":       {[]client.Object{gateway("", "", "arn:2"), config("arn:1", "arn:2")}, false, false, "Detaching", "out of the configuration"},
		"nothing, it is off":                {[]client.Object{gateway("", "", "arn:2"), config("arn:2")}, false, false, "", ""},
		"nothing, the PoolGateway has gone": {nil, true, false, "", ""},
	} {
		req := &v1alpha1.GatewayHostnameRequest{}
		req.Status = v1alpha1.GatewayHostnameRequestStatus{
			Claim: "dc-1", Gateway: "gw-00",
			Certificate: &v1alpha1.HostnameCertificate{ARN: "arn:1", Serve: row.serve},
		}
		if row.lost {
			req.Status.Certificate = &v1alpha1.HostnameCertificate{Attempt: 2}
		}
		reader := fake.NewClientBuilder().WithScheme(s).WithObjects(row.there...).Build()
		r := &reconciliation{
			Reconciler: Reconciler{Reader: reader, Allocator: pool.Allocator{Namespace: gateways}},
			req:        req,
		}
		err := r.releaseListener(t.Context())
		if (err == nil) != (row.reason == "") || err != nil && reasonOf(err) != row.reason {
			t.Errorf("%s: error = %v, want %q", name, err, row.reason)
		}
		if !strings.Contains(fmt.Sprint(err), row.says) || req.Status.Certificate.Serve {
			t.Errorf("%s: error = %v, want %q in it; Serve = %v, want false", name, err, row.says,
				req.Status.Certificate.Serve)
		}
	}
}

// A hostname that answers stays attached while the load balancer controller cannot make changes; one that never
// answered, or is refused or closed itself, does not.
func TestAHostnameIsServedAsBefore(t *testing.T) {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, gatewayv1.Install} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	condition := func(kind string, status metav1.ConditionStatus, reason string, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, ObservedGeneration: generation}
	}
	programmed := condition(v1alpha1.StepProgrammed, metav1.ConditionTrue, "Done", 1)
	trouble := condition(v1alpha1.StepProgrammed, metav1.ConditionFalse, v1alpha1.ReasonChangesWait, 1)
	accepted := []metav1.Condition{
		condition("Accepted", metav1.ConditionTrue, "Accepted", 1),
		condition("Programmed", metav1.ConditionTrue, "Programmed", 1),
	}
	old := []metav1.Condition{
		condition("Accepted", metav1.ConditionTrue, "Accepted", 0),
		condition("Programmed", metav1.ConditionTrue, "Programmed", 0),
	}
	for name, row := range map[string]struct {
		gateway metav1.Condition
		set     []metav1.Condition
		before  metav1.ConditionStatus // of ListenerAttached; empty: it never answered
		arn     string                 // on the load balancer
		closed  string
		reason  string
		says    string
	}{
		"all is well":                       {programmed, accepted, metav1.ConditionTrue, "arn", "", "", "serves the certificate"},
		"the Gateway is in trouble":         {trouble, accepted, metav1.ConditionTrue, "arn", "", "", "served as before; changes wait: the load balancer controller cannot change"},
		"and an earlier step was not known": {trouble, accepted, metav1.ConditionUnknown, "arn", "", "", "served as before"},
		"its listener's change waits":       {programmed, old, metav1.ConditionTrue, "arn", "", "", "served as before; changes wait: the load balancer controller has not taken up"},
		"it never answered":                 {trouble, accepted, "", "arn", "", "ListenerPending", "cannot change the load balancer"},
		"it was found wanting":              {trouble, accepted, metav1.ConditionFalse, "arn", "", "ListenerPending", "cannot change the load balancer"},
		"its certificate is off":            {trouble, accepted, metav1.ConditionTrue, "another", "", "ListenerPending", "certificate is not on the load balancer"},
		"its own listener is refused": {
			trouble,
			[]metav1.Condition{condition("Accepted", metav1.ConditionFalse, "HostnameConflict", 1)},
			metav1.ConditionTrue, "arn", "", "ListenerPending", "refuses its listener: HostnameConflict",
		},
		"its routes exceed the budget": {
			programmed, accepted, metav1.ConditionTrue, "arn", "dc-1",
			v1alpha1.ReasonOverBudget, "shop.example.com does not answer: its routes need 14 load balancer rules (3 " +
				"are kept for it)",
		},
		"those of another hostname exceed theirs": {trouble, accepted, metav1.ConditionTrue, "arn", "dc-2", "", "served as before"},
		"the controller has not seen a new Gateway": {
			condition(v1alpha1.StepProgrammed, metav1.ConditionFalse, "GatewayPending", 1), accepted, "", "arn", "",
			"ListenerPending", "its Gateway is not programmed",
		},
	} {
		g := &v1alpha1.PoolGateway{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "gw-00"}}
		g.Status.LoadBalancer, g.Status.Attached, g.Status.Conditions = &v1alpha1.PoolLoadBalancer{}, []string{row.arn},
			[]metav1.Condition{row.gateway}
		if row.closed != "" {
			g.Status.Closed = []v1alpha1.ClosedHostname{
				{
					Claim: row.closed, Hostname: "shop.example.com", Needs: v1alpha1.LoadBalancerBudget{Rules: 14},
					Budget: v1alpha1.LoadBalancerBudget{Rules: 3},
				},
			}
		}
		set := &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "dc-1", Generation: 1}}
		set.Status.Conditions = row.set
		req := &v1alpha1.GatewayHostnameRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "payments"}}
		req.Status = v1alpha1.GatewayHostnameRequestStatus{
			Claim: "dc-1", Gateway: "gw-00",
			Certificate: &v1alpha1.HostnameCertificate{ARN: "arn"},
		}
		if row.before != "" {
			req.Status.LoadBalancer = "lb.example"
			req.Status.Conditions = []metav1.Condition{condition(v1alpha1.StepListenerAttached, row.before, "Any", 1)}
		}
		r := &reconciliation{Reconciler: Reconciler{
			Reader: fake.NewClientBuilder().WithScheme(s).WithObjects(g, set).Build(), Allocator: pool.Allocator{
				Namespace: gateways,
			},
		}, req: req}
		text, err := r.requestListener(t.Context())
		if (err == nil) != (row.reason == "") || err != nil && reasonOf(err) != row.reason {
			t.Errorf("%s: error = %v, want %q", name, err, row.reason)
		}
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, row.says) {
			t.Errorf("%s: says %q, want %q in it", name, text, row.says)
		}
	}
}
