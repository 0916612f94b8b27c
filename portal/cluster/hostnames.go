package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
)

// The kinds of hostnames.
const (
	hostnameKind = "GatewayHostnameRequest"
	grantKind    = "HostnameGrant"
	claimKind    = "DomainClaim"
)

// CheckHostname returns whether the namespace could use a hostname. Like HostnameGrant it is for callers who can create
// or list hostname requests there; they need no right to claims. The holder of a hostname is shown only to callers who
// can get hostname requests in the holder's namespace.
func (c *Cluster) CheckHostname(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (
	availability.Answer, error,
) {
	grant, err := c.HostnameGrant(ctx, id, namespace)
	if err != nil {
		return availability.Answer{}, err
	}
	facts := availability.Facts{Namespace: namespace, Grant: grant}
	if facts.Claims, err = c.claimed(ctx, claimKind, "", ofClaim); err != nil {
		return availability.Answer{}, err
	}
	if facts.Requests, err = c.claimed(ctx, hostnameKind, namespace, ofRequest); err != nil {
		return availability.Answer{}, err
	}
	answer := availability.Check(q, facts)
	if answer.Holder == (availability.Holder{}) {
		return answer, nil
	}
	kind, err := c.kind(hostnameKind)
	if err != nil {
		return availability.Answer{}, err
	}
	may, err := c.Can(ctx, id, "get", kind, answer.Holder.Namespace)
	if !may {
		answer.Holder = availability.Holder{}
	}
	return answer, err
}

// HostnameGrant returns which hostnames the namespace can use, nil if none.
func (c *Cluster) HostnameGrant(ctx context.Context, id auth.Identity, namespace string) (
	*v1alpha1.HostnameGrantSpec, error,
) {
	kind, err := c.kind(hostnameKind)
	if err != nil {
		return nil, err
	}
	if err := c.requireInterest(ctx, id, kind, namespace); err != nil {
		return nil, err
	}
	if kind, err = c.kind(grantKind); err != nil {
		return nil, err
	}
	grants, err := c.cached(ctx, kind, namespace)
	if err != nil {
		return nil, err
	}
	for _, obj := range grants {
		if obj.GetName() != v1alpha1.HostnameGrantName {
			continue
		}
		grant := &v1alpha1.HostnameGrant{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, grant); err != nil {
			return nil, fmt.Errorf("reading the HostnameGrant of %s: %w", namespace, err)
		}
		return &grant.Spec, nil
	}
	return nil, nil
}

// Zones returns the domains of the hosted zones that the namespace can use for hostnames, by zone ID: zones of hostname
// requests in any namespace that the operator has checked. If the grant names zones, only those are returned; otherwise
// only zones whose domain is related to a suffix of the grant. Access is as for HostnameGrant.
func (c *Cluster) Zones(ctx context.Context, id auth.Identity, namespace string) (map[string]string, error) {
	grant, err := c.HostnameGrant(ctx, id, namespace)
	if err != nil || grant == nil {
		return nil, err
	}
	kind, err := c.kind(hostnameKind)
	if err != nil {
		return nil, err
	}
	requests, err := c.cached(ctx, kind, "")
	if err != nil {
		return nil, err
	}
	zones := map[string]string{}
	for _, obj := range requests {
		zone, _, _ := unstructured.NestedString(obj.Object, "spec", "zoneId")
		domain, _, _ := unstructured.NestedString(obj.Object, "status", "zone")
		if zone != "" && domain != "" && usable(*grant, zone, domain) {
			zones[zone] = domain
		}
	}
	return zones, nil
}

// usable reports whether the grant allows hostnames in the zone.
func usable(g v1alpha1.HostnameGrantSpec, zone, domain string) bool {
	if len(g.Zones) > 0 {
		return slices.Contains(g.Zones, v1alpha1.HostedZoneID(zone))
	}
	return slices.ContainsFunc(g.Suffixes, func(suffix string) bool {
		return suffix == domain || strings.HasSuffix(suffix, "."+domain) || strings.HasSuffix(domain, "."+suffix)
	})
}

// kind returns the kind with that plural name; an unknown one is an error.
func (c *Cluster) kind(name string) (catalog.Kind, error) {
	k, ok := c.kinds.ByName(name)
	if !ok {
		return k, fmt.Errorf("there is no kind %s", name)
	}
	return k, nil
}

// requireInterest returns a *ForbiddenError unless the caller can create or list objects of the kind in the namespace.
func (c *Cluster) requireInterest(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) error {
	if may, err := c.Can(ctx, id, "create", k, namespace); err != nil || may {
		return err
	}
	return c.access.require(ctx, id, RightTo("list", k, namespace))
}

// claimed reads hostnames from the cache without an access check.
func (c *Cluster) claimed(ctx context.Context, name, namespace string,
	read func(*unstructured.Unstructured) availability.Claim,
) ([]availability.Claim, error) {
	kind, err := c.kind(name)
	if err != nil {
		return nil, err
	}
	objects, err := c.cached(ctx, kind, namespace)
	if err != nil {
		return nil, err
	}
	out := make([]availability.Claim, len(objects))
	for i, obj := range objects {
		out[i] = read(obj)
	}
	return out, nil
}

func ofClaim(obj *unstructured.Unstructured) availability.Claim {
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(obj.Object, append([]string{"spec"}, path...)...)
		return s
	}
	return availability.Claim{
		Hostname: text("hostname"), Visibility: text("visibility"),
		Holder: availability.Holder{Namespace: text("holder", "namespace"), Name: text("holder", "name")},
	}
}

func ofRequest(obj *unstructured.Unstructured) availability.Claim {
	c := ofClaim(obj)
	c.Holder = availability.Holder{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	return c
}
