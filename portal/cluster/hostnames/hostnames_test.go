package hostnames

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// shelf is a cache with fixed objects.
type shelf struct {
	client.Reader
	objects []unstructured.Unstructured
}

func (s shelf) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	list := into.(*unstructured.UnstructuredList)
	var o client.ListOptions
	o.ApplyOptions(opts)
	for _, obj := range s.objects {
		if obj.GetKind()+"List" == list.GetKind() && (o.Namespace == "" || o.Namespace == obj.GetNamespace()) {
			list.Items = append(list.Items, obj)
		}
	}
	return nil
}

const hostnameObjects = `
- {apiVersion: portico.dev/v1alpha1, kind: HostnameGrant, metadata: {name: hostnames, namespace: payments}, spec: {suffixes: [example.com], wildcards: true}}
- {apiVersion: portico.dev/v1alpha1, kind: HostnameGrant, metadata: {name: other, namespace: search}, spec: {suffixes: [example.com]}}
- {apiVersion: portico.dev/v1alpha1, kind: DomainClaim, metadata: {name: dc-1}, spec: {hostname: find.example.com, visibility: internet-facing, holder: {namespace: search, name: find, uid: "1"}}}
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: soon, namespace: payments}, spec: {hostname: soon.example.com, visibility: internet-facing}}
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: later, namespace: search}, spec: {hostname: later.example.com, visibility: internet-facing}}
`

// hostnameCluster allows callers what allow lists, as "verb resource namespace".
func hostnameCluster(t *testing.T, allow ...string) *Hostnames {
	t.Helper()
	j, a, _ := clustertest.NewRights()
	j.Allow = kubetest.Only(allow...)
	s := shelf{}
	if err := yaml.Unmarshal([]byte(hostnameObjects), &s.objects); err != nil {
		t.Fatal(err)
	}
	return New(a, &feed.Feed{Kinds: catalog.NewLive(catalogtest.Kinds(t)), Cache: s})
}

func TestWhoHoldsAHostnameIsToldToThoseWhoMaySee(t *testing.T) {
	const create, list, theirs = "create gatewayhostnamerequests payments", "list gatewayhostnamerequests payments",
		"get gatewayhostnamerequests search"
	for name, c := range map[string]struct {
		allow     []string
		hostname  string
		state     availability.State
		holder    availability.Holder
		forbidden bool
	}{
		"nobody has it, so that it is free":          {[]string{create}, "new.example.com", availability.Free, availability.Holder{}, false},
		"another team has it, and is not told of":    {[]string{create}, "find.example.com", availability.Taken, availability.Holder{}, false},
		"another team that the caller may look into": {[]string{create, theirs}, "find.example.com", availability.Taken, availability.Holder{Namespace: "search", Name: "find"}, false},
		"the caller can list claims, and not get":    {[]string{create, "list domainclaims"}, "find.example.com", availability.Taken, availability.Holder{}, false},
		"it overlaps with another team's":            {[]string{list}, "*.example.com", availability.Overlaps, availability.Holder{}, false},
		"the team's own, which is not claimed yet": {
			[]string{create, "get gatewayhostnamerequests payments"},
			"soon.example.com", availability.Yours,
			availability.Holder{Namespace: "payments", Name: "soon"},
			false,
		},
		"the team's own, which the caller may not get": {[]string{create}, "soon.example.com", availability.Yours, availability.Holder{}, false},
		"another team has asked, and claimed nothing":  {[]string{create}, "later.example.com", availability.Free, availability.Holder{}, false},
		"somebody who may neither create nor list":     {[]string{theirs, "get gatewayhostnamerequests payments"}, "new.example.com", "", availability.Holder{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := hostnameCluster(t, c.allow...).Check(t.Context(), kubetest.Dev, "payments", availability.Query{
				Hostname: c.hostname,
			})
			var forbidden *failure.ForbiddenError
			if errors.As(err, &forbidden) != c.forbidden || (err != nil) != c.forbidden {
				t.Errorf("%+v, %v", got, err)
			}
			if got.State != c.state || got.Holder != c.holder {
				t.Errorf("%+v, %v", got, err)
			}
			if strings.Contains(got.Message, "search") {
				t.Errorf("the message names the other team: %s", got.Message)
			}
		})
	}
}

func TestGrantsCountByTheirName(t *testing.T) {
	c := hostnameCluster(t, "create gatewayhostnamerequests payments", "create gatewayhostnamerequests search")
	for namespace, want := range map[string]bool{"payments": true, "search": false} {
		if grant, err := c.Grant(t.Context(), kubetest.Dev, namespace); err != nil || (grant != nil) != want {
			t.Errorf("%s: %+v, %v", namespace, grant, err)
		}
	}
}

// TestZonesAreToldByDomain: those of the grant, or those related to its suffixes, and none to callers without access.
func TestZonesAreToldByDomain(t *testing.T) {
	const requests = `
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: a, namespace: search}, spec: {zoneId: ZPARENT}, status: {zone: example.com}}
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: b, namespace: search}, spec: {zoneId: ZBELOW}, status: {zone: eu.pay.example.com}}
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: c, namespace: search}, spec: {zoneId: ZSAME}, status: {zone: pay.example.com}}
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: d, namespace: search}, spec: {zoneId: ZOTHER}, status: {zone: notpay.example.com}}
- {apiVersion: portico.dev/v1alpha1, kind: GatewayHostnameRequest, metadata: {name: e, namespace: search}, spec: {zoneId: ZNEW}, status: {}}
- {apiVersion: portico.dev/v1alpha1, kind: HostnameGrant, metadata: {name: hostnames, namespace: payments}, spec: {suffixes: [pay.example.com]ZONES}}
`
	const create = "create gatewayhostnamerequests "
	for name, c := range map[string]struct{ zones, namespace, want string }{
		"any zone of its suffixes": {"", "payments", "map[ZBELOW:eu.pay.example.com ZPARENT:example.com ZSAME:pay.example.com]"},
		"those that it names":      {", zones: [ZOTHER, ZNEW]", "payments", "map[ZOTHER:notpay.example.com]"},
		"without a grant":          {"", "search", "map[]"},
	} {
		cl := hostnameCluster(t, create+c.namespace)
		s := shelf{}
		if err := yaml.Unmarshal([]byte(strings.Replace(requests, "ZONES", c.zones, 1)), &s.objects); err != nil {
			t.Fatal(err)
		}
		cl.feed.Cache = s
		if got, err := cl.Zones(t.Context(), kubetest.Dev, c.namespace); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, c.want)
		}
		_, err := cl.Zones(t.Context(), kubetest.Dev, "elsewhere")
		if forbidden := (*failure.ForbiddenError)(nil); !errors.As(err, &forbidden) {
			t.Errorf("%s: those without interest get %v", name, err)
		}
	}
}
