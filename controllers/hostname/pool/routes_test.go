package pool

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/apply"
)

// The controller attaches routes by comparing strings; test/stack/albsim has the same table.
func TestHostsAreThoseThatTheControllerAttaches(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, row := range []struct {
		listener string
		route    []gatewayv1.Hostname
		want     []string
	}{
		{"a.example", nil, []string{"a.example"}},
		{"a.example", []gatewayv1.Hostname{"a.example", "b.example"}, []string{"a.example"}},
		{"*.team.example", []gatewayv1.Hostname{
			"pr--7.team.example", "xn--a.team.example", "x.y.team.example",
			"team.example",
		}, []string{"pr--7.team.example", "x.y.team.example", "xn--a.team.example"}},
		{"*.team.example", []gatewayv1.Hostname{gatewayv1.Hostname(long + ".team.example"), gatewayv1.Hostname(long + "a.team.example")}, []string{long + ".team.example"}},
		{"a.team.example", []gatewayv1.Hostname{"*.team.example"}, []string{"a.team.example"}},
		{"*.b.example", []gatewayv1.Hostname{"*.example"}, []string{"*.b.example"}},
	} {
		r := routeTo("r", "dc-a", 1, "s")
		r.Spec.Hostnames = row.route
		of := teamRouteOf(r)
		if got := of.hosts(row.listener); !slices.Equal(got, row.want) {
			t.Errorf("%s, %s: %s", row.listener, row.route, got)
		}
	}
}

// Routes missing from the digest could not be suspected: a route without a matching hostname may get one, and an
// invalid DNS name is valid for the controller.
func TestEveryRouteOfAHostnameIsInItsDigest(t *testing.T) {
	weight := int32(1000)
	odd := routeTo("odd", "dc-a", 60, "s")
	odd.Spec.Hostnames, odd.Spec.Rules[0].BackendRefs[0].Weight = []gatewayv1.Hostname{
		"pr--7.team.example", "xn--a.team.example",
	}, &weight
	other := routeTo("other", "dc-a", 1, "s")
	other.Spec.Hostnames = []gatewayv1.Hostname{"elsewhere.example"}
	read := func(r *gatewayv1.HTTPRoute) demand {
		t.Helper()
		d, err := readDemand(t.Context(), cluster(t, interceptor.Funcs{}, r.DeepCopy()), space,
			member{claim: "dc-a", namespace: "payments", hostname: "*.team.example"})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := read(odd)
	if d.needs.Rules != 120 || !strings.Contains(d.fault, "the weight 1000") {
		t.Errorf("Rules = %d, fault = %q; want 120, the weight 1000", d.needs.Rules, d.fault)
	}
	if d.pending == "" || d.digest == "" {
		t.Errorf("pending = %q, digest = %q; want both", d.pending, d.digest)
	}
	d = read(other)
	if d.needs.Rules != 0 || d.fault != "" {
		t.Errorf("Rules = %d, fault = %q; want 0, none", d.needs.Rules, d.fault)
	}
	if d.pending != "" || d.digest == "" {
		t.Errorf("pending = %q, digest = %q; want none, a digest", d.pending, d.digest)
	}
}

// A condition from when the hostname was closed does not count once it is open.
func TestARouteThatWasNotAllowedIsPending(t *testing.T) {
	r := routeTo("r", "dc-a", 1, "s")
	for reason, pending := range map[gatewayv1.RouteConditionReason]bool{
		gatewayv1.RouteReasonNotAllowedByListeners: true, gatewayv1.RouteReasonNoMatchingListenerHostname: false,
	} {
		d := demand{rules: map[string]map[string]int{}}
		of := teamRouteOf(r)
		if d.expect(&of, &metav1.Condition{Status: metav1.ConditionFalse, Reason: string(reason)},
			[]string{"a.example"}, 1); (d.pending != "") != pending || len(d.rules) != 0 {
			t.Errorf("%s: %+v", reason, d)
		}
	}
}

func TestServicesAreInTheDigest(t *testing.T) {
	service := func(name string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
	}
	live := cluster(t, interceptor.Funcs{}, routeTo("r", "dc-a", 1, "s"), service("s"), service("t"))
	digest := func() string {
		t.Helper()
		r := &reconciliation{demands: map[string]demand{}}
		r.Applier = apply.Applier{Client: live, APIReader: live}
		d, err := readDemand(t.Context(), live, space,
			member{claim: "dc-a", namespace: "payments", hostname: "a.example"})
		if err != nil {
			t.Fatal(err)
		}
		r.members, r.demands["dc-a"] = []member{{claim: "dc-a"}}, d
		if err := r.addBackends(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r.demands["dc-a"].digest
	}
	before := digest()
	change := func(name string) {
		t.Helper()
		s := service(name)
		if err := live.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
			t.Fatal(err)
		}
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Port: 81})
		if err := live.Update(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if change("t"); digest() != before {
		t.Error("a Service that no route names counts")
	}
	if change("s"); digest() == before {
		t.Error("the Service of the route does not count")
	}
}
