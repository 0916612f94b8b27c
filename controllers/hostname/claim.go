package hostname

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/hostnames"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/claim"
	"github.com/portico-platform/portico/controllers/hostname/dns"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// ensureClaim checks all that can be checked before anything is created, then takes the claim and a place on a Gateway.
func (r *reconciliation) ensureClaim(ctx context.Context) (string, error) {
	if err := r.connect(ctx); err != nil {
		return "", err
	}
	held, err := r.Claims.Held(ctx, r.name, r.req.Spec.Visibility, r.holder())
	if err != nil {
		return "", err
	}
	if err := r.checkGrantKept(ctx, held != nil); err != nil {
		return "", err
	}
	if err := r.checkZones(ctx); err != nil {
		return "", err
	}
	if held == nil {
		held, err = r.takeClaim(ctx)
	} else {
		held, err = r.growClaim(ctx, held)
	}
	if err != nil {
		return "", err
	}
	s, in := &r.req.Status, r.account
	if s.Claim != held.Name || s.Gateway != held.Spec.Gateway || s.AccountID != in.ID || s.Region != in.Region {
		s.Hostname, s.Claim, s.Gateway, s.AccountID, s.Region, s.Zone = r.name.String(), held.Name, held.Spec.Gateway,
			in.ID, in.Region, r.zone.Name
		if err := r.saveReservation(ctx); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s is yours, with a place on %s", r.name, held.Spec.Gateway), nil
}

// saveReservation saves what deletion needs, before anything is created in AWS.
func (r *reconciliation) saveReservation(ctx context.Context) error {
	if err := r.pass.SaveStatus(ctx); err != nil || r.account.Recheck == nil {
		return err
	}
	err := r.account.Recheck(ctx)
	if err != nil && r.certificateStatus() == nil {
		r.req.Status.Claim, r.req.Status.AccountID = "", "" // nothing was created
	}
	return err
}

// checkGrantKept checks the grant. A hostname that is held stays served; its withdrawn grant is reported at the end.
func (r *reconciliation) checkGrantKept(ctx context.Context, held bool) error {
	err := r.checkGrant(ctx)
	if _, refused := engine.AsWait(err); refused && (held || r.req.Status.Claim != "") {
		r.grantWithdrawn = err
		return nil
	}
	return err
}

func (r *reconciliation) takeClaim(ctx context.Context) (*v1alpha1.DomainClaim, error) {
	if r.grantWithdrawn != nil {
		return nil, r.grantWithdrawn
	}
	class := cmp.Or(r.req.Spec.GatewayClass, r.Class)
	if err := r.Classes.Check(ctx, class); err != nil { // before anything that no controller would serve
		return nil, err
	}
	if err := r.checkRecords(ctx); err != nil {
		return nil, err
	}
	if err := r.pass.SaveStatus(ctx); err != nil { // fails if the request is gone, which must claim nothing
		return nil, err
	}
	want := v1alpha1.PoolGatewaySpec{
		Visibility: r.req.Spec.Visibility, GatewayClass: class, ProviderRef: r.req.Spec.ProviderRef,
		AccountID: r.account.ID, Region: r.account.Region,
	}
	made, err := r.Claims.Take(ctx, claim.Request{
		Name: r.name, Visibility: r.req.Spec.Visibility, Holder: r.holder(), Budget: r.grant.Budget(),
		Most: int(cmp.Or(r.grant.MaxHostnames, v1alpha1.DefaultMaxHostnames)),
		Place: func(ctx context.Context, claims []v1alpha1.DomainClaimSpec) (string, error) {
			return r.Allocator.Allocate(ctx, want, r.grant.Budget(), claims)
		},
	})
	if err != nil {
		return nil, err
	}
	r.pass.Normal(v1alpha1.ReasonClaimed, "CreateDomainClaim", "%s, with a place on %s", r.name, made.Spec.Gateway)
	return made, nil
}

// growClaim raises the claim's budget to what the grant allows now. A claim from before budgets also gets what its
// routes already use.
func (r *reconciliation) growClaim(ctx context.Context, held *v1alpha1.DomainClaim) (*v1alpha1.DomainClaim, error) {
	wanted := r.grant.Budget()
	if held.Spec.Budget == (v1alpha1.LoadBalancerBudget{}) {
		uses, err := pool.Needs(ctx, r.Reader, r.Allocator.Namespace, held.Name, r.req.Namespace, held.Spec.Hostname)
		if err != nil {
			return nil, err
		}
		wanted = wanted.Max(uses)
	}
	return r.Claims.Grow(ctx, held, wanted)
}

func (r *reconciliation) releaseClaim(ctx context.Context) error {
	return r.Claims.Release(ctx, r.holder())
}

// checkGrant checks the namespace's HostnameGrant.
func (r *reconciliation) checkGrant(ctx context.Context) error {
	grant := &v1alpha1.HostnameGrant{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: r.req.Namespace, Name: v1alpha1.HostnameGrantName}, grant)
	if apierrors.IsNotFound(err) {
		return engine.Blocked(v1alpha1.ReasonNotGranted, "the namespace %s cannot have hostnames; ask a platform "+
			"admin for a HostnameGrant", r.req.Namespace)
	}
	if err != nil {
		return fmt.Errorf("read the HostnameGrant of %s: %w", r.req.Namespace, err)
	}
	r.grant = grant.Spec
	if _, why := hostnames.Refused(grant.Spec, r.req.Spec, r.name); why != "" {
		return engine.Blocked(v1alpha1.ReasonNotGranted, "the HostnameGrant of the namespace %s does not allow this: "+
			"%s. Ask a platform admin to widen the grant, or request another hostname and delete this object",
			r.req.Namespace, why)
	}
	return nil
}

// checkZones checks that the zone is authoritative for the hostname, and that its CAA records allow a certificate.
func (r *reconciliation) checkZones(ctx context.Context) (err error) {
	spec := &r.req.Spec
	if r.zone, err = r.readZone(ctx, spec.ZoneID); err != nil {
		return err
	}
	public := r.zone
	switch {
	case r.zone.Private && spec.Visibility == v1alpha1.InternetFacing:
		return engine.Blocked(v1alpha1.ReasonPrivateZone, "%s is a private zone, which the internet does not see: "+
			"request the hostname with visibility internal, or in a public zone, and delete this object", r.zone.Name)
	case r.zone.Private && spec.ValidationZoneID == "":
		return engine.Blocked(v1alpha1.ReasonNoValidationZone, "%s is a private zone, in which AWS cannot validate a "+
			"certificate: request the hostname with the public zone of the domain as validationZoneId, and delete "+
			"this object", r.zone.Name)
	case r.zone.Private:
		if public, err = r.readZone(ctx, spec.ValidationZoneID); err != nil {
			return err
		}
	case spec.ValidationZoneID != "":
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "%s is a public zone, so that certificates are validated "+
			"in it; request the hostname without validationZoneId, and delete this object", r.zone.Name)
	}
	if public.Private {
		return engine.Blocked(v1alpha1.ReasonPrivateZone, "the zone %s, in which the certificate must be validated, "+
			"is private too; request the hostname with a public one, and delete this object", public.ID)
	}
	if err := r.checkDelegation(ctx, r.zone); err != nil {
		return err
	}
	if public != r.zone {
		if err := r.checkDelegation(ctx, public); err != nil {
			return err
		}
	}
	return r.checkCAA(ctx, public)
}

func (r *reconciliation) readZone(ctx context.Context, id v1alpha1.HostedZoneID) (dns.Zone, error) {
	zone, err := r.account.Zones.Zone(ctx, string(id))
	if err != nil && !cloud.IsNotFound(err) {
		return dns.Zone{}, err
	}
	if err != nil || !r.name.Within(zone.Name) { // one error for both: other teams' zone names stay hidden
		return dns.Zone{}, engine.Blocked(v1alpha1.ReasonNotInZone, "account %s has no hosted zone %s in which %s "+
			"lies; request it with the zone of its domain, or of another provider, and delete this object",
			r.account.ID, id, r.name)
	}
	return zone, nil
}

// checkDelegation refuses a name that is delegated to other name servers: records written in this zone would have no
// effect.
func (r *reconciliation) checkDelegation(ctx context.Context, zone dns.Zone) error {
	for _, domain := range r.name.Ancestors(zone.Name) {
		if domain == zone.Name {
			continue // the NS records of the zone itself
		}
		sets, err := r.account.Zones.Records(ctx, zone.ID, domain)
		if err != nil {
			return err
		}
		if _, delegated := dns.OfType(sets, types.RRTypeNs); delegated {
			return engine.Blocked(v1alpha1.ReasonDelegated, "%s is delegated from the zone %s to other name servers; "+
				"request the hostname with the hosted zone of %s, and delete this object", domain, zone.Name, domain)
		}
	}
	return nil
}

// amazonIssuers are the names of Amazon's certificate authority in CAA records.
var amazonIssuers = []string{"amazon.com", "amazontrust.com", "awstrust.com", "amazonaws.com"}

// checkCAA checks the CAA records: those of the closest domain that has any apply. Records above the zone are not
// checked.
func (r *reconciliation) checkCAA(ctx context.Context, zone dns.Zone) error {
	for _, domain := range r.name.Ancestors(zone.Name) {
		sets, err := r.account.Zones.Records(ctx, zone.ID, domain)
		if err != nil {
			return err
		}
		caa, found := dns.OfType(sets, types.RRTypeCaa)
		if !found {
			continue
		}
		if !caaAllows(dns.Values(caa), r.name.Wildcard()) {
			return engine.Blocked(v1alpha1.ReasonNotAuthorized, "the CAA records of %s do not allow Amazon to issue "+
				"certificates; add 0 issue \"amazon.com\"", domain)
		}
		return nil
	}
	return nil
}

// caaAllows reports whether CAA values such as `0 issue "amazon.com"` allow Amazon. For wildcards issuewild applies, if
// there is any.
func caaAllows(values []string, wildcard bool) bool {
	by := map[string][]string{}
	for _, v := range values {
		fields := strings.Fields(v)
		if len(fields) < 3 {
			continue
		}
		issuer, _, _ := strings.Cut(strings.Trim(strings.Join(fields[2:], " "), `"`), ";")
		tag := strings.ToLower(fields[1])
		by[tag] = append(by[tag], strings.ToLower(strings.TrimSpace(issuer)))
	}
	which := by["issue"]
	if wild := by["issuewild"]; wildcard && len(wild) > 0 {
		which = wild
	}
	return len(which) == 0 || slices.ContainsFunc(which, func(issuer string) bool {
		return slices.Contains(amazonIssuers, issuer)
	})
}

// checkRecords returns an error if the hostname has records of somebody else. It runs before anything is created.
func (r *reconciliation) checkRecords(ctx context.Context) error {
	found, err := r.readRecords(ctx, r.account.Zones.Records)
	if err != nil {
		return err
	}
	return r.refuseForeign(found)
}
