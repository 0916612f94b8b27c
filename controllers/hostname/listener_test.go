package hostname

import (
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
			g.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: message}}
		}
		return g
	}
	set := &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "dc-1"}}
	config := func(first string, others ...string) client.Object {
		c := &albconfig.LoadBalancerConfiguration{ObjectMeta: metav1.ObjectMeta{Namespace: gateways, Name: "gw-00"}}
		c.Spec.ListenerConfigurations = []albconfig.ListenerConfiguration{{ProtocolPort: "HTTPS:443", DefaultCertificate: first, Certificates: others}}
		return c
	}
	for name, row := range map[string]struct {
		there  []client.Object
		serve  bool
		lost   bool
		reason string
		says   string
	}{
		"it was just asked for":                   {[]client.Object{gateway("", "")}, true, false, "Detaching", "being taken off"},
		"its listener":                            {[]client.Object{gateway("", ""), set}, false, false, "Detaching", "being taken off"},
		"its listener, whose certificate is lost": {[]client.Object{gateway("", ""), set}, false, true, "Detaching", "being taken off"},
		"its certificate":                         {[]client.Object{gateway("", "", "arn:1")}, false, false, "Detaching", "being taken off"},
		"a Gateway that is stuck":                 {[]client.Object{gateway("ClassNotFound", "there is no GatewayClass alb"), set}, false, false, "GatewayFailed", "stuck: there is no GatewayClass alb"},
		"a Gateway that is to be deleted":         {[]client.Object{gateway(pool.ReasonInUse, "2 hostnames have a place on this Gateway"), set}, false, false, "Detaching", "being taken off"},
		"the configuration":                       {[]client.Object{gateway("", "", "arn:2"), config("arn:2", "arn:1")}, false, false, "Detaching", "out of the configuration"},
		"the configuration's default":             {[]client.Object{gateway("", "", "arn:2"), config("arn:1", "arn:2")}, false, false, "Detaching", "out of the configuration"},
		"nothing, it is off":                      {[]client.Object{gateway("", "", "arn:2"), config("arn:2")}, false, false, "", ""},
		"nothing, the PoolGateway has gone":       {nil, true, false, "", ""},
	} {
		req := &v1alpha1.GatewayHostnameRequest{}
		req.Status = v1alpha1.GatewayHostnameRequestStatus{Claim: "dc-1", Gateway: "gw-00", Certificate: &v1alpha1.HostnameCertificate{ARN: "arn:1", Serve: row.serve}}
		if row.lost {
			req.Status.Certificate = &v1alpha1.HostnameCertificate{Attempt: 2}
		}
		reader := fake.NewClientBuilder().WithScheme(s).WithObjects(row.there...).Build()
		r := &run{Work: Work{Reader: reader, Places: pool.Places{Namespace: gateways}}, req: req}
		err := r.detach(t.Context())
		if row.reason == "" && err != nil || row.reason != "" && (reasonOf(err) != row.reason || !strings.Contains(err.Error(), row.says)) || req.Status.Certificate.Serve {
			t.Errorf("%s: %v", name, err)
		}
	}
}
