package albsim

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

func TestSharedHostnames(t *testing.T) {
	for _, tt := range []struct {
		reason, listener string
		route, want      []string
	}{
		{"neither names any", "", nil, []string{""}},
		{"a route without hostnames takes the listener's", "a.example.com", nil, []string{"a.example.com"}},
		{"a listener without a hostname takes the route's", "", []string{"a.example.com"}, []string{"a.example.com"}},
		{"the same", "a.example.com", []string{"a.example.com", "b.example.com"}, []string{"a.example.com"}},
		{"a wildcard listener takes names at any depth", "*.example.com", []string{"a.example.com", "a.b.example.com"}, []string{"a.b.example.com", "a.example.com"}},
		{"a wildcard does not cover its own domain", "*.example.com", []string{"example.com"}, nil},
		{"a wildcard covers whole labels", "*.example.com", []string{"badexample.com"}, nil},
		{"of a wildcard route the listener's name stays", "a.example.com", []string{"*.example.com"}, []string{"a.example.com"}},
		{"of two wildcards the longer stays", "*.example.com", []string{"*.b.example.com"}, []string{"*.b.example.com"}},
		{"of two wildcards the listener's may be the longer", "*.b.example.com", []string{"*.example.com"}, []string{"*.b.example.com"}},
		{"a name that is none in DNS's table", "*.example.com", []string{"pr--7.example.com", "xn--a.example.com"}, []string{"pr--7.example.com", "xn--a.example.com"}},
		{"a label that is too long", "*.example.com", []string{strings.Repeat("a", 64) + ".example.com", strings.Repeat("b", 63) + ".example.com"}, []string{strings.Repeat("b", 63) + ".example.com"}},
		{"nothing in common", "a.example.com", []string{"b.example.com"}, nil},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			if got := shared(tt.listener, tt.route); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestNamesAreThoseThatAWSTakes(t *testing.T) {
	legal := regexp.MustCompile(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, parts := range [][]string{
		{"portico-gateways", "gw-01", "internal"},
		{"portico-gateways", "gw-01", "internet-facing"},
		{"portico-gateways", "gw-02", "internal"},
		{"a", "b.c", "internal"},
		{"ab", ".c", "internal"},
		{"long-namespace-name", strings.Repeat("n", 63), "internal"},
	} {
		name := resourceName(parts[0], parts[1], parts[2])
		if len(name) > 32 || !legal.MatchString(name) || seen[name] {
			t.Errorf("%v: %s", parts, name)
		}
		seen[name] = true
	}
}

func TestConfigurationsAreMerged(t *testing.T) {
	listener := func(port, certificate string) albconfig.ListenerConfiguration {
		return albconfig.ListenerConfiguration{ProtocolPort: port, DefaultCertificate: certificate}
	}
	own := albconfig.LoadBalancerConfigurationSpec{
		Scheme: "internal", ListenerConfigurations: []albconfig.ListenerConfiguration{listener("HTTPS:443", "own")},
	}
	class := albconfig.LoadBalancerConfigurationSpec{
		Scheme: "internet-facing", ListenerConfigurations: []albconfig.ListenerConfiguration{
			listener("HTTPS:443", "class"), listener("HTTPS:8443", "class"),
		},
	}
	for _, tt := range []struct {
		reason, scheme, on443 string
		first, second         albconfig.LoadBalancerConfigurationSpec
	}{
		{"the first wins, listener by listener", "internet-facing", "class", class, own},
		{"the other way round", "internal", "own", own, class},
		{"what the first leaves out is the second's", "internet-facing", "class", albconfig.LoadBalancerConfigurationSpec{}, class},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			got := merge(tt.first, tt.second)
			if got.Scheme != tt.scheme || len(got.ListenerConfigurations) != 2 {
				t.Errorf("Scheme = %q, %d listeners, want %q, 2", got.Scheme, len(got.ListenerConfigurations),
					tt.scheme)
			}
			for port, want := range map[int32]string{443: tt.on443, 8443: "class"} {
				if c := listenerConfig(got, "HTTPS", port).DefaultCertificate; c != want {
					t.Errorf("certificate of port %d = %q, want %q", port, c, want)
				}
			}
		})
	}
}

func TestTheNarrowerRuleComesFirst(t *testing.T) {
	exact, prefix := gatewayv1.PathMatchExact, gatewayv1.PathMatchPathPrefix
	get := gatewayv1.HTTPMethodGet
	path := func(kind *gatewayv1.PathMatchType, value string) gatewayv1.HTTPRouteMatch {
		return gatewayv1.HTTPRouteMatch{Path: &gatewayv1.HTTPPathMatch{Type: kind, Value: &value}}
	}
	withMethod := path(&prefix, "/")
	withMethod.Method = &get
	matches := []gatewayv1.HTTPRouteMatch{
		path(&prefix, "/"), withMethod, path(&prefix, "/longer"),
		path(&exact, "/longer"),
	}
	r := httpRoute(&gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "1"},
		Spec:       gatewayv1.HTTPRouteSpec{Rules: []gatewayv1.HTTPRouteRule{{Matches: matches}}},
	})
	topology := &topology{gateway: &gatewayv1.Gateway{}, listeners: []*listener{{port: 443, attached: []attachment{
		{route: r, hostnames: []string{"", "*.example.com", "a.example.com"}}, {route: r, hostnames: []string{"a.example.com"}},
	}}}}
	var got []string
	for _, rule := range (&model{}).rules(topology, 443) {
		got = append(got, strings.ReplaceAll(described(rule.Conditions, nil), "\n", " "))
	}
	paths := []string{
		`path-pattern ["/longer"]`, `path-pattern ["/longer" "/longer/*"]`,
		`http-request-method ["GET"] path-pattern ["/*"]`, `path-pattern ["/*"]`,
	}
	var want []string
	for _, host := range []string{"a.example.com", "*.example.com", ""} {
		for _, path := range paths {
			if host != "" {
				path = `host-header ["` + host + `"] ` + path
			}
			want = append(want, path)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOfTwoListenersThatCollideTheFirstStays(t *testing.T) {
	for _, tt := range []struct {
		reason        string
		first, second listener
		want          gatewayv1.ListenerConditionReason
	}{
		{"the same hostname", listener{port: 443, protocol: "HTTPS", hostname: "a"}, listener{port: 443, protocol: "HTTPS", hostname: "a"}, gatewayv1.ListenerReasonHostnameConflict},
		{"another protocol on the port", listener{port: 443, protocol: "HTTPS"}, listener{port: 443, protocol: "HTTP"}, gatewayv1.ListenerReasonProtocolConflict},
		{"another hostname", listener{port: 443, protocol: "HTTPS"}, listener{port: 443, protocol: "HTTPS", hostname: "a"}, ""},
		{"another port", listener{port: 443, protocol: "HTTPS"}, listener{port: 80, protocol: "HTTP"}, ""},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			var topology topology
			topology.add(&tt.first)
			topology.add(&tt.second)
			if tt.first.conflict != "" || tt.second.conflict != tt.want {
				t.Errorf("%q and %q, want none and %q", tt.first.conflict, tt.second.conflict, tt.want)
			}
		})
	}
}
