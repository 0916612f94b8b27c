//go:build integration

package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/api/teamroute"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// forwarding returns a route with one rule that forwards to a Service.
func forwarding(ns, name string, parent *v1alpha1.HostnameParentRef, host string,
	edit ...func(*gatewayv1.HTTPRouteRule),
) *gatewayv1.HTTPRoute {
	r := routeOf(ns, name, parent, gatewayv1.Hostname(host))
	port := gatewayv1.PortNumber(80)
	rule := gatewayv1.HTTPRouteRule{
		BackendRefs: []gatewayv1.HTTPBackendRef{
			{BackendRef: gatewayv1.BackendRef{BackendObjectReference: gatewayv1.BackendObjectReference{
				Name: "app", Port: &port,
			}}},
		},
	}
	for _, e := range edit {
		e(&rule)
	}
	r.Spec.Rules = []gatewayv1.HTTPRouteRule{rule}
	return r
}

func pathOf(kind gatewayv1.PathMatchType, value string) func(*gatewayv1.HTTPRouteRule) {
	return func(r *gatewayv1.HTTPRouteRule) {
		r.Matches = []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{Type: &kind, Value: &value}}}
	}
}

func headersOf(values ...string) func(*gatewayv1.HTTPRouteRule) {
	return func(r *gatewayv1.HTTPRouteRule) {
		if len(r.Matches) == 0 {
			r.Matches = make([]gatewayv1.HTTPRouteMatch, 1)
		}
		for i, v := range values {
			r.Matches[0].Headers = append(r.Matches[0].Headers, gatewayv1.HTTPHeaderMatch{
				Name: gatewayv1.HTTPHeaderName(fmt.Sprintf("x-%d", i)), Value: v,
			})
		}
	}
}

func filterOf(f gatewayv1.HTTPRouteFilter) func(*gatewayv1.HTTPRouteRule) {
	return func(r *gatewayv1.HTTPRouteRule) {
		if f.Type == gatewayv1.HTTPRouteFilterRequestRedirect {
			r.BackendRefs = nil
		}
		r.Filters = append(r.Filters, f)
	}
}

func redirectOf(to gatewayv1.HTTPRequestRedirectFilter) func(*gatewayv1.HTTPRouteRule) {
	return filterOf(gatewayv1.HTTPRouteFilter{Type: gatewayv1.HTTPRouteFilterRequestRedirect, RequestRedirect: &to})
}

func replaced(full string) *gatewayv1.HTTPPathModifier {
	return &gatewayv1.HTTPPathModifier{Type: gatewayv1.FullPathHTTPPathModifier, ReplaceFullPath: &full}
}

func prefixed(prefix string) *gatewayv1.HTTPPathModifier {
	return &gatewayv1.HTTPPathModifier{Type: gatewayv1.PrefixMatchHTTPPathModifier, ReplacePrefixMatch: &prefix}
}

func rewriteOf(path *gatewayv1.HTTPPathModifier) func(*gatewayv1.HTTPRouteRule) {
	return filterOf(gatewayv1.HTTPRouteFilter{
		Type:       gatewayv1.HTTPRouteFilterURLRewrite,
		URLRewrite: &gatewayv1.HTTPURLRewriteFilter{Path: path},
	})
}

func weighing(weight int32) func(*gatewayv1.HTTPRouteRule) {
	return func(r *gatewayv1.HTTPRouteRule) { r.BackendRefs[0].Weight = &weight }
}

func ofKind(kind gatewayv1.Kind) func(*gatewayv1.HTTPRouteRule) {
	return func(r *gatewayv1.HTTPRouteRule) { r.BackendRefs[0].Kind = &kind }
}

// judgedRoutes returns edits of a rule by description, with the text of the refusal; "" means allowed.
func judgedRoutes() map[string]struct {
	edit []func(*gatewayv1.HTTPRouteRule)
	says string
} {
	type edits = []func(*gatewayv1.HTTPRouteRule)
	https, http, hostname, long := "https", "http", gatewayv1.PreciseHostname("other.example"),
		gatewayv1.PreciseHostname(strings.Repeat("a.", 65)+"example")
	again := func(edit func(*gatewayv1.BackendRef)) func(*gatewayv1.HTTPRouteRule) {
		return func(r *gatewayv1.HTTPRouteRule) {
			r.BackendRefs = append(r.BackendRefs, *r.BackendRefs[0].DeepCopy())
			edit(&r.BackendRefs[1].BackendRef)
		}
	}
	query := func(value string) func(*gatewayv1.HTTPRouteRule) {
		return func(r *gatewayv1.HTTPRouteRule) {
			r.Matches = []gatewayv1.HTTPRouteMatch{
				{QueryParams: []gatewayv1.HTTPQueryParamMatch{{Name: "q", Value: value}}},
			}
		}
	}
	moved := 308
	return map[string]struct {
		edit []func(*gatewayv1.HTTPRouteRule)
		says string
	}{
		"nothing special":             {nil, ""},
		"a prefix":                    {edits{pathOf("PathPrefix", "/a/b-c_d.e~f")}, ""},
		"a wildcard in a prefix":      {edits{pathOf("PathPrefix", "/a*b")}, "the path prefix /a*b is not one that the load balancer takes"},
		"a percent sign in a path":    {edits{pathOf("Exact", "/a%20b")}, "the path /a%20b is not one that the load balancer takes"},
		"a wildcard in an exact path": {edits{pathOf("Exact", "/a*b")}, ""},
		"two wildcards in a path":     {edits{pathOf("Exact", "/a*b*")}, "and one wildcard"},
		"a path of 128 characters":    {edits{pathOf("Exact", "/"+strings.Repeat("a", 127))}, ""},
		"a path of 200 characters":    {edits{pathOf("Exact", "/"+strings.Repeat("a", 199))}, "the path /aaaa"},
		"a prefix of 127 characters":  {edits{pathOf("PathPrefix", "/"+strings.Repeat("a", 126))}, "at most 126 letters"},
		"a regular expression":        {edits{pathOf("RegularExpression", "/a+")}, "a path of type RegularExpression cannot be checked"},
		"a regular expression in a header": {edits{headersOf("a+"), func(r *gatewayv1.HTTPRouteRule) {
			r.Matches[0].Headers[0].Type = new(gatewayv1.HeaderMatchRegularExpression)
		}}, "a regular expression for a header cannot be checked"},
		"two headers":                  {edits{headersOf("a", "b")}, ""},
		"a header of three values":     {edits{headersOf("a,b,*c")}, ""},
		"a header of four values":      {edits{headersOf("a,b,c,d")}, "a header is not one that the load balancer compares"},
		"a header of 200 characters":   {edits{headersOf(strings.Repeat("a", 200))}, "a header is not one"},
		"eight headers":                {edits{headersOf("1", "2", "3", "4", "5", "6", "7", "8")}, "a match compares more than the 5 values"},
		"a prefix and three headers":   {edits{pathOf("PathPrefix", "/a"), headersOf("1", "2", "3")}, "a match compares more than the 5 values"},
		"a prefix and two headers":     {edits{pathOf("PathPrefix", "/a"), headersOf("1", "2")}, ""},
		"a query parameter":            {edits{query("a(b)")}, ""},
		"a space in a query parameter": {edits{query("a b")}, "a query parameter is not one"},
		"a weight of 999":              {edits{weighing(999)}, ""},
		"a weight of 1000":             {edits{weighing(1000)}, "the weight 1000 of a backend is more than 999"},
		"somebody's target group":      {edits{ofKind("TargetGroupName")}, "a backend of kind TargetGroupName cannot be used"},
		"a Gateway as a backend":       {edits{ofKind("Gateway")}, "a backend of kind Gateway cannot be used"},
		"six backends": {edits{func(r *gatewayv1.HTTPRouteRule) {
			for i := range 5 {
				r.BackendRefs = append(r.BackendRefs, *r.BackendRefs[0].DeepCopy())
				r.BackendRefs[i+1].Name = gatewayv1.ObjectName(fmt.Sprintf("app-%d", i))
			}
		}}, "a rule has more than 5 backends"},
		"one Service twice":            {edits{again(func(*gatewayv1.BackendRef) {})}, "a rule names a Service and port twice"},
		"one Service at two ports":     {edits{again(func(b *gatewayv1.BackendRef) { b.Port = new(gatewayv1.PortNumber(81)) })}, ""},
		"a Service of whose namespace": {edits{again(func(b *gatewayv1.BackendRef) { b.Namespace = new(gatewayv1.Namespace("other")) })}, "a rule names a Service and port twice"},
		"one name in two namespaces": {
			edits{
				func(r *gatewayv1.HTTPRouteRule) { r.BackendRefs[0].Namespace = new(gatewayv1.Namespace("one")) },
				again(func(b *gatewayv1.BackendRef) {
					b.Namespace = new(gatewayv1.Namespace("other"))
				}),
			}, "",
		},
		"the host as a header": {edits{headersOf("a"), func(r *gatewayv1.HTTPRouteRule) { r.Matches[0].Headers[0].Name = "hOst" }}, "the header Host is not one that the load balancer compares"},
		"a host of one's own":  {edits{headersOf("a"), func(r *gatewayv1.HTTPRouteRule) { r.Matches[0].Headers[0].Name = "X-Host" }}, ""},
		"a redirect to https":  {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Scheme: &https})}, "a loop which the load balancer refuses"},
		"a redirect to port 443": {
			edits{
				pathOf("PathPrefix", "/old"),
				redirectOf(gatewayv1.HTTPRequestRedirectFilter{
					Port: new(gatewayv1.PortNumber(443)), Path: prefixed("/new"),
				}),
			},
			"a loop which the load balancer refuses",
		},
		"a redirect to port 8443":      {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Port: new(gatewayv1.PortNumber(8443))})}, ""},
		"a redirect to another host":   {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Scheme: &https, Hostname: &hostname})}, ""},
		"a redirect to http":           {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Scheme: &http, Hostname: &hostname})}, "a redirect leads to the scheme http, which"},
		"a redirect to a long host":    {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Hostname: &long})}, "which is longer than the 128 characters that the load balancer takes"},
		"a redirect to a path":         {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Path: replaced("/new")})}, ""},
		"a wildcard in a redirect":     {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Path: replaced("/a*")})}, "the path of a redirect is not one"},
		"a redirect to the same":       {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{})}, "a redirect leads to where the request came from"},
		"a redirect for ever by 308":   {edits{redirectOf(gatewayv1.HTTPRequestRedirectFilter{Hostname: &hostname, StatusCode: &moved})}, "301 or 302, and not 308"},
		"a rewrite":                    {edits{rewriteOf(replaced("/new"))}, ""},
		"a rewrite of a prefix":        {edits{pathOf("PathPrefix", "/old"), rewriteOf(prefixed("/new"))}, ""},
		"a rewrite of a prefix with +": {edits{pathOf("PathPrefix", "/o++d"), rewriteOf(prefixed("/new"))}, "replaces the prefix of a path that has a character"},
		"a variable in a rewrite":      {edits{rewriteOf(replaced("/$1"))}, "the path of a rewrite is not one"},
		"a header that is changed": {
			edits{filterOf(gatewayv1.HTTPRouteFilter{
				Type:                  "RequestHeaderModifier",
				RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{Remove: []string{"x"}},
			})},
			"the load balancer has no filter RequestHeaderModifier",
		},
		"an answer's header": {
			edits{filterOf(gatewayv1.HTTPRouteFilter{
				Type:                   "ResponseHeaderModifier",
				ResponseHeaderModifier: &gatewayv1.HTTPHeaderFilter{Remove: []string{"x"}},
			})},
			"the load balancer has no filter ResponseHeaderModifier",
		},
		"requests to another as well": {
			edits{
				filterOf(gatewayv1.HTTPRouteFilter{
					Type: "RequestMirror", RequestMirror: &gatewayv1.HTTPRequestMirrorFilter{
						BackendRef: gatewayv1.BackendObjectReference{
							Name: "app", Port: new(gatewayv1.PortNumber(80)),
						},
					},
				}),
			},
			"the load balancer has no filter RequestMirror",
		},
		"a configuration of one's own": {
			edits{
				filterOf(gatewayv1.HTTPRouteFilter{Type: "ExtensionRef", ExtensionRef: &gatewayv1.LocalObjectReference{
					Group: "gateway.k8s.aws", Kind: "ListenerRuleConfiguration", Name: "x",
				}}),
			},
			"the load balancer has no filter ExtensionRef",
		},
		"origins of a browser (CORS)": {
			edits{
				filterOf(gatewayv1.HTTPRouteFilter{
					Type: "CORS", CORS: &gatewayv1.HTTPCORSFilter{
						AllowOrigins: []gatewayv1.CORSOrigin{"https://a.example"},
					},
				}),
			},
			"the load balancer has no filter CORS",
		},
	}
}

// onlyOfNewRoutes are refusals of new routes only: existing routes that they apply to may work, so their hostnames stay
// open.
var onlyOfNewRoutes = []string{
	"cannot be checked", "a loop which the load balancer refuses",
	"names a Service and port twice",
}

// The API server and the operator refuse the same routes, those of one table.
func TestAdmissionAndTheOperatorJudgeRoutesTheSame(t *testing.T) {
	c := admin(t)
	d := domainOf(t, c)
	dev := developer(t, c, d.ns)
	parent := &v1alpha1.HostnameParentRef{Kind: "ListenerSet", Namespace: gateways, Name: "dc-1", SectionName: "https"}
	await(t, "the grant to be known", func() (bool, string) {
		err := dev.Create(t.Context(), forwarding(d.ns, "early", parent, "a."+d.name), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
	for name, row := range judgedRoutes() {
		route := forwarding(d.ns, "judged", parent, "a."+d.name, row.edit...)
		err := dev.Create(t.Context(), route, client.DryRunAll)
		judged(t, name, err, row.says)
		route = forwarding(d.ns, "judged", parent, "a."+d.name, row.edit...)
		asDefaulted(route)
		says := row.says
		if slices.ContainsFunc(onlyOfNewRoutes, func(text string) bool { return strings.Contains(says, text) }) {
			says = ""
		}
		if fault, err := teamroute.Judge(teamroute.HTTP, &route.Spec); err != nil || (fault == "") != (says == "") ||
			!strings.Contains(fault, says) {
			t.Errorf("%s: the operator says %q, %v", name, fault, err)
		}
		elsewhere := forwarding(d.ns, "elsewhere", &v1alpha1.HostnameParentRef{
			Kind: "Gateway", Namespace: d.ns, Name: "mine", SectionName: "https",
		}, "a."+d.name, row.edit...)
		if err := dev.Create(t.Context(), elsewhere, client.DryRunAll); err != nil {
			t.Errorf("%s, at a Gateway of one's own: %v", name, err)
		}
	}
	judgeGRPC(t, dev, d, parent)
}

// asDefaulted gives the route the types of paths and filters that the API server fills in.
func asDefaulted(r *gatewayv1.HTTPRoute) {
	for i := range r.Spec.Rules {
		if len(r.Spec.Rules[i].Matches) == 0 {
			r.Spec.Rules[i].Matches = make([]gatewayv1.HTTPRouteMatch, 1)
		}
		for j := range r.Spec.Rules[i].Matches {
			if m := &r.Spec.Rules[i].Matches[j]; m.Path == nil {
				m.Path = &gatewayv1.HTTPPathMatch{Type: new(gatewayv1.PathMatchPathPrefix), Value: new("/")}
			}
			for n := range r.Spec.Rules[i].Matches[j].Headers {
				r.Spec.Rules[i].Matches[j].Headers[n].Type = cmp.Or(r.Spec.Rules[i].Matches[j].Headers[n].Type,
					new(gatewayv1.HeaderMatchExact))
			}
			for n := range r.Spec.Rules[i].Matches[j].QueryParams {
				r.Spec.Rules[i].Matches[j].QueryParams[n].Type = cmp.Or(r.Spec.Rules[i].Matches[j].QueryParams[n].Type,
					new(gatewayv1.QueryParamMatchExact))
			}
		}
	}
}

func judgeGRPC(t *testing.T, dev client.Client, d domain, parent *v1alpha1.HostnameParentRef) {
	t.Helper()
	exact, regex := gatewayv1.GRPCMethodMatchExact, gatewayv1.GRPCMethodMatchRegularExpression
	method := func(kind *gatewayv1.GRPCMethodMatchType, service, method string) gatewayv1.GRPCRouteRule {
		return gatewayv1.GRPCRouteRule{
			Matches: []gatewayv1.GRPCRouteMatch{
				{Method: &gatewayv1.GRPCMethodMatch{Type: kind, Service: &service, Method: &method}},
			},
		}
	}
	for name, row := range map[string]struct {
		rule gatewayv1.GRPCRouteRule
		says string
	}{
		"every method":          {gatewayv1.GRPCRouteRule{}, ""},
		"a method":              {method(&exact, "pkg.Service", "Get"), ""},
		"a method of a regex":   {method(&regex, "pkg.*", "Get"), "a gRPC method is not one that the load balancer compares"},
		"a method that is long": {method(&exact, strings.Repeat("a", 100), strings.Repeat("b", 100)), "together at most 126 characters"},
		"a filter": {gatewayv1.GRPCRouteRule{Filters: []gatewayv1.GRPCRouteFilter{{
			Type: "RequestHeaderModifier", RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{Remove: []string{"x"}},
		}}}, "the load balancer has no filter RequestHeaderModifier for gRPC"},
		"a weight of 1000": {gatewayv1.GRPCRouteRule{
			BackendRefs: []gatewayv1.GRPCBackendRef{{BackendRef: gatewayv1.BackendRef{
				BackendObjectReference: gatewayv1.BackendObjectReference{
					Name: "app", Port: new(gatewayv1.PortNumber(80)),
				}, Weight: new(int32(1000)),
			}}},
		}, "the weight 1000 of a backend"},
		"the host as a header": {gatewayv1.GRPCRouteRule{Matches: []gatewayv1.GRPCRouteMatch{{Headers: []gatewayv1.GRPCHeaderMatch{{Name: "Host", Value: "1"}}}}}, "the header Host is not one"},
		"five headers": {gatewayv1.GRPCRouteRule{
			Matches: []gatewayv1.GRPCRouteMatch{{Headers: []gatewayv1.GRPCHeaderMatch{
				{Name: "a", Value: "1"}, {Name: "b", Value: "1"}, {Name: "c", Value: "1"}, {Name: "d", Value: "1"}, {Name: "e", Value: "1"},
			}}},
		}, "a match compares more than the 5 values"},
	} {
		r := &gatewayv1.GRPCRoute{ObjectMeta: metav1.ObjectMeta{Namespace: d.ns, Name: "judged"}}
		r.Spec.ParentRefs = routeOf(d.ns, "x", parent).Spec.ParentRefs
		r.Spec.Hostnames, r.Spec.Rules = []gatewayv1.Hostname{gatewayv1.Hostname("a." + d.name)},
			[]gatewayv1.GRPCRouteRule{row.rule}
		spec := r.Spec.DeepCopy()
		err := dev.Create(t.Context(), r, client.DryRunAll)
		judged(t, "gRPC, "+name, err, row.says)
		if fault, err := teamroute.Judge(teamroute.GRPC, spec); err != nil || (fault == "") != (row.says == "") ||
			!strings.Contains(fault, row.says) {
			t.Errorf("gRPC, %s: the operator says %q, %v", name, fault, err)
		}
	}
}

// withoutRoutePolicy removes the policies for routes until the test ends or restore is called, like a cluster from
// before them or without them.
func withoutRoutePolicy(t *testing.T, c client.Client, probe client.Object) (restore func()) {
	t.Helper()
	var taken []*admissionv1.ValidatingAdmissionPolicyBinding
	for _, name := range []string{"portico-shared-httproutes", "portico-shared-grpcroutes"} {
		b := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, b); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		taken = append(taken, &admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: b.Labels}, Spec: b.Spec,
		})
	}
	restored := false
	restore = func() {
		for _, b := range taken {
			if !restored {
				if err := c.Create(t.Context(), b); err != nil {
					t.Error(err)
				}
			}
		}
		restored = true
	}
	ctx := t.Context()
	t.Cleanup(func() {
		for _, b := range taken {
			if err := c.Create(context.WithoutCancel(ctx), b); err != nil && !apierrors.IsAlreadyExists(err) &&
				!restored {
				t.Error(err)
			}
		}
	})
	await(t, "the policy to be gone", func() (bool, string) {
		err := c.Create(t.Context(), probe.DeepCopyObject().(client.Object), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
	return restore
}

// Routes from before the policy that it would refuse now: their other parts, labels and finalizers can be edited, and
// what has been fixed cannot be broken again.
func TestWhatAnEditOfARouteLeavesAloneIsTaken(t *testing.T) {
	c := admin(t)
	d := domainOf(t, c)
	parent := &v1alpha1.HostnameParentRef{Kind: "ListenerSet", Namespace: gateways, Name: "dc-1", SectionName: "https"}
	route := forwarding(d.ns, "old", parent, "a."+d.name, pathOf("PathPrefix", "/a*b"))
	restore := withoutRoutePolicy(t, c, route)
	create(t, c, route)
	restore()
	await(t, "the policy to hold", func() (bool, string) {
		err := c.Create(t.Context(), forwarding(d.ns, "new", parent, "a."+d.name, pathOf("PathPrefix", "/a*b")),
			client.DryRunAll)
		return apierrors.IsForbidden(err), fmt.Sprint(err)
	})
	change := func(edit func(*gatewayv1.HTTPRoute)) error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(route), route); err != nil {
			t.Fatal(err)
		}
		before := route.DeepCopy()
		edit(route)
		return c.Patch(t.Context(), route, client.MergeFrom(before))
	}
	for name, edit := range map[string]func(*gatewayv1.HTTPRoute){
		"a label":         func(r *gatewayv1.HTTPRoute) { r.Labels = map[string]string{"a": "b"} },
		"another backend": func(r *gatewayv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Name = "other" },
		"another rule": func(r *gatewayv1.HTTPRoute) {
			r.Spec.Rules = append(r.Spec.Rules,
				forwarding("", "", nil, "", pathOf("PathPrefix", "/good")).Spec.Rules...)
		},
	} {
		if err := change(edit); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := change(func(r *gatewayv1.HTTPRoute) {
		r.Spec.Rules[0].BackendRefs[0].Weight = new(int32(1000))
	}); !apierrors.IsForbidden(err) {
		t.Errorf("another fault: %v", err)
	}
	elsewhere := forwarding(d.ns, "moved", &v1alpha1.HostnameParentRef{
		Kind: "Gateway", Namespace: d.ns, Name: "mine", SectionName: "https",
	}, "a."+d.name,
		pathOf("PathPrefix", "/a*b"))
	create(t, c, elsewhere)
	route = elsewhere
	if err := change(func(r *gatewayv1.HTTPRoute) {
		r.Spec.ParentRefs = routeOf(d.ns, "x", parent).Spec.ParentRefs
	}); !apierrors.IsForbidden(err) {
		t.Errorf("a route that comes to the shared load balancer: %v", err)
	}
}

// taken waits until the load balancer controller accepts the route's current generation.
func taken(t *testing.T, c client.Client, r *gatewayv1.HTTPRoute) {
	t.Helper()
	await(t, "the route "+r.Name+" to be taken", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		if err != nil || len(r.Status.Parents) != 1 {
			return false, fmt.Sprint(r.Status, err)
		}
		got := meta.FindStatusCondition(r.Status.Parents[0].Conditions, "Accepted")
		return got != nil && got.Status == metav1.ConditionTrue && got.ObservedGeneration == r.Generation,
			fmt.Sprint(got)
	})
}
