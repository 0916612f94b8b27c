// Package hostnames has which hostnames a namespace can use.
package hostnames

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
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// The kinds of hostnames.
const (
	RequestKind = "GatewayHostnameRequest"
	grantKind   = "HostnameGrant"
	ClaimKind   = "DomainClaim"
)

// Hostnames reads about hostnames for callers, after checking their rights. It is safe for concurrent use.
type Hostnames struct {
	rights *rights.Rights
	feed   *feed.Feed
}

// New returns Hostnames.
func New(may *rights.Rights, from *feed.Feed) *Hostnames { return &Hostnames{rights: may, feed: from} }

// Check returns whether the namespace could use a hostname. Like Grant it is for callers who can create
// or list hostname requests there; they need no right to claims. The holder of a hostname is shown only to callers who
// can get hostname requests in the holder's namespace.
func (h *Hostnames) Check(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (
	availability.Answer, error,
) {
	grant, err := h.Grant(ctx, id, namespace)
	if err != nil {
		return availability.Answer{}, err
	}
	facts := availability.Facts{Namespace: namespace, Grant: grant}
	if facts.Claims, err = h.claimed(ctx, ClaimKind, "", ofClaim); err != nil {
		return availability.Answer{}, err
	}
	if facts.Requests, err = h.claimed(ctx, RequestKind, namespace, ofRequest); err != nil {
		return availability.Answer{}, err
	}
	answer := availability.Check(q, facts)
	if answer.Holder == (availability.Holder{}) {
		return answer, nil
	}
	kind, err := h.kind(RequestKind)
	if err != nil {
		return availability.Answer{}, err
	}
	may, err := h.rights.Can(ctx, id, "get", kind, answer.Holder.Namespace)
	if !may {
		answer.Holder = availability.Holder{}
	}
	return answer, err
}

// Grant returns which hostnames the namespace can use, nil if none.
func (h *Hostnames) Grant(ctx context.Context, id auth.Identity, namespace string) (
	*v1alpha1.HostnameGrantSpec, error,
) {
	kind, err := h.kind(RequestKind)
	if err != nil {
		return nil, err
	}
	if err := h.rights.RequireInterest(ctx, id, kind, namespace); err != nil {
		return nil, err
	}
	if kind, err = h.kind(grantKind); err != nil {
		return nil, err
	}
	grants, err := h.feed.Objects(ctx, kind, namespace)
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
// only zones whose domain is related to a suffix of the grant. Access is as for Grant.
func (h *Hostnames) Zones(ctx context.Context, id auth.Identity, namespace string) (map[string]string, error) {
	grant, err := h.Grant(ctx, id, namespace)
	if err != nil || grant == nil {
		return nil, err
	}
	kind, err := h.kind(RequestKind)
	if err != nil {
		return nil, err
	}
	requests, err := h.feed.Objects(ctx, kind, "")
	if err != nil {
		return nil, err
	}
	zones := map[string]string{}
	for _, obj := range requests {
		zone, _, _ := unstructured.NestedString(obj.Object, "spec", "zoneId")
		domain, _, _ := unstructured.NestedString(obj.Object, "status", "zone")
		if zone != "" && domain != "" && Usable(*grant, zone, domain) {
			zones[zone] = domain
		}
	}
	return zones, nil
}

// Usable reports whether the grant allows hostnames in the zone.
func Usable(g v1alpha1.HostnameGrantSpec, zone, domain string) bool {
	if len(g.Zones) > 0 {
		return slices.Contains(g.Zones, v1alpha1.HostedZoneID(zone))
	}
	return slices.ContainsFunc(g.Suffixes, func(suffix string) bool {
		return suffix == domain || strings.HasSuffix(suffix, "."+domain) || strings.HasSuffix(domain, "."+suffix)
	})
}

// kind returns the kind with that plural name; an unknown one is an error.
func (h *Hostnames) kind(name string) (catalog.Kind, error) {
	k, ok := h.feed.Kinds.Now().ByName(name)
	if !ok {
		return k, fmt.Errorf("there is no kind %s", name)
	}
	return k, nil
}

// claimed reads hostnames from the cache without an access check.
func (h *Hostnames) claimed(ctx context.Context, name, namespace string,
	read func(*unstructured.Unstructured) availability.Claim,
) ([]availability.Claim, error) {
	kind, err := h.kind(name)
	if err != nil {
		return nil, err
	}
	objects, err := h.feed.Objects(ctx, kind, namespace)
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
