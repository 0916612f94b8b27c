package pages

import (
	"context"
	"slices"
	"testing"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/operator"
)

// hosting is the fake's state of hostnames. holders are the namespaces whose requests the caller can get.
type hosting struct {
	grant   *v1alpha1.HostnameGrantSpec
	claims  []availability.Claim
	holders []string
	zones   map[string]string
	offers  operator.Offers // of AWS accounts
	offered []operatorapi.OfferQuery
}

// interest needs a right to request hostnames: "list gatewayhostnamerequests payments" and the same with create deny
// it.
func (f *fakeCluster) interest(ctx context.Context, id auth.Identity, namespace string) error {
	k, _ := f.Kinds.ByPlural("gatewayhostnamerequests")
	return f.Rights.RequireInterest(ctx, id, k, namespace)
}

func (f *fakeCluster) Grant(ctx context.Context, id auth.Identity, namespace string) (
	*v1alpha1.HostnameGrantSpec, error,
) {
	return f.grant, f.interest(ctx, id, namespace)
}

// Zones returns those of hostnameSite.
func (f *fakeCluster) Zones(ctx context.Context, id auth.Identity, namespace string) (map[string]string, error) {
	return f.zones, f.interest(ctx, id, namespace)
}

func (f *fakeCluster) Check(ctx context.Context, id auth.Identity, namespace string, q availability.Query) (
	availability.Answer, error,
) {
	grant, err := f.Grant(ctx, id, namespace)
	if err != nil {
		return availability.Answer{}, err
	}
	a := availability.Check(q, availability.Facts{Namespace: namespace, Grant: grant, Claims: f.claims})
	if !slices.Contains(f.holders, a.Holder.Namespace) {
		a.Holder = availability.Holder{}
	}
	return a, nil
}

const (
	hostnameTaken = "another team has taken.payments.example.com; request another hostname and delete this object, " +
		"or ask a platform admin, who can see whose it is by the DomainClaim dc-2. Portico tries again at once " +
		"when it is given back"
	hostnameReady = `
apiVersion: portico.dev/v1alpha1
kind: GatewayHostnameRequest
metadata: {name: shop, namespace: payments, generation: 1, creationTimestamp: "2026-11-14T12:00:00Z",
  annotations: {portico.dev/requested-by: "oidc:payments-dev"}, finalizers: [portico.dev/release]}
spec: {providerRef: {name: aws-prod}, hostname: Shop.payments.example.com, zoneId: Z0123456789ABCDEFGHIJ, environment: prod, visibility: internet-facing}
status: {observedGeneration: 1, hostname: shop.payments.example.com, url: "https://shop.payments.example.com", claim: dc-1f3c9a5c0a6d4b8e9f2b7c6d5e4f3a2b, gateway: gw-00,
  accountID: "444455556666", region: eu-west-1, zone: payments.example.com, loadBalancer: gw-00-1234.eu-west-1.elb.amazonaws.com,
  parentRef: {group: gateway.networking.k8s.io, kind: ListenerSet, namespace: portico-gateways, name: dc-1f3c9a5c0a6d4b8e9f2b7c6d5e4f3a2b, sectionName: https},
  certificate: {arn: "arn:aws:acm:eu-west-1:444455556666:certificate/8d0c2f1e", attempt: 1, requestedAt: "2026-11-14T12:00:05Z", status: ISSUED, notAfter: "2027-11-15T00:00:00Z", renewal: PENDING_AUTO_RENEWAL, serve: true},
  conditions: [{type: Claimed, status: "True", reason: Done, message: "shop.payments.example.com is yours, with a place on gw-00", lastTransitionTime: "2026-11-14T12:00:02Z"},
    {type: CertificateRequested, status: "True", reason: Done, message: "certificate 8d0c2f1e", lastTransitionTime: "2026-11-14T12:00:05Z"},
    {type: DnsAliasReady, status: "True", reason: Done, message: "all name servers have it", lastTransitionTime: "2026-11-14T12:03:00Z"},
    {type: DnsValidated, status: "True", reason: Done, message: "the record that proves the domain is there", lastTransitionTime: "2026-11-14T12:00:09Z"},
    {type: CertificateIssued, status: "True", reason: Done, message: "issued until 15 November 2027", lastTransitionTime: "2026-11-14T12:01:30Z"},
    {type: ListenerAttached, status: "True", reason: Done, message: "the load balancer has the certificate", lastTransitionTime: "2026-11-14T12:02:00Z"},
    {type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:03:00Z"}]}
`
	hostnameWaiting = `
apiVersion: portico.dev/v1alpha1
kind: GatewayHostnameRequest
metadata: {name: pay, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:56:00Z",
  annotations: {portico.dev/requested-by: "oidc:payments-dev"}, finalizers: [portico.dev/release]}
spec: {providerRef: {name: aws-prod}, hostname: pay.payments.example.com, zoneId: Z0123456789ABCDEFGHIJ, environment: prod, visibility: internet-facing}
status: {observedGeneration: 1, hostname: pay.payments.example.com, claim: dc-77, gateway: gw-00, accountID: "444455556666", region: eu-west-1, zone: payments.example.com,
  certificate: {arn: "arn:aws:acm:eu-west-1:444455556666:certificate/77", attempt: 2, requestedAt: "2026-11-21T11:57:00Z", status: PENDING_VALIDATION},
  conditions: [{type: Claimed, status: "True", reason: Done, message: "pay.payments.example.com is yours, with a place on gw-00", lastTransitionTime: "2026-11-21T11:56:00Z"},
    {type: CertificateRequested, status: "True", reason: Done, message: "certificate 77", lastTransitionTime: "2026-11-21T11:56:30Z"},
    {type: DnsValidated, status: "True", reason: Done, message: "the record that proves the domain is there", lastTransitionTime: "2026-11-21T11:57:00Z"},
    {type: CertificateIssued, status: "False", reason: CertificatePending, message: "AWS has not issued the certificate yet, which takes some minutes", lastTransitionTime: "2026-11-21T11:57:00Z"},
    {type: ListenerAttached, status: Unknown, reason: Waiting, message: waiting for CertificateIssued, lastTransitionTime: "2026-11-21T11:56:00Z"},
    {type: DnsAliasReady, status: Unknown, reason: Waiting, message: waiting for CertificateIssued, lastTransitionTime: "2026-11-21T11:56:00Z"},
    {type: Ready, status: "False", reason: CertificatePending, message: "AWS has not issued the certificate yet, which takes some minutes", lastTransitionTime: "2026-11-21T11:57:00Z"},
    {type: Reconciling, status: "True", reason: CertificatePending, message: "AWS has not issued the certificate yet, which takes some minutes", lastTransitionTime: "2026-11-21T11:57:00Z"}]}
`
	hostnameLost = `
apiVersion: portico.dev/v1alpha1
kind: GatewayHostnameRequest
metadata: {name: lost, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:58:00Z", finalizers: [portico.dev/release]}
spec: {providerRef: {name: aws-prod}, hostname: taken.payments.example.com, zoneId: Z0123456789ABCDEFGHIJ, environment: dev, visibility: internet-facing}
status: {observedGeneration: 1,
  conditions: [{type: Claimed, status: "False", reason: Taken, message: "` + hostnameTaken + `", lastTransitionTime: "2026-11-21T11:58:00Z"},
    {type: Ready, status: "False", reason: Taken, message: "` + hostnameTaken + `", lastTransitionTime: "2026-11-21T11:58:00Z"},
    {type: Stalled, status: "True", reason: Taken, message: "` + hostnameTaken + `", lastTransitionTime: "2026-11-21T11:58:00Z"}]}
`
	exposedApp = `
apiVersion: portico.dev/v1alpha1
kind: WebApp
metadata: {name: storefront, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:57:00Z"}
spec: {image: "registry.example.com/shop:1", expose: {hostname: shop}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True", reason: InSync, message: ok}]}
`
	grantObject = `
apiVersion: portico.dev/v1alpha1
kind: HostnameGrant
metadata: {name: hostnames, namespace: payments, generation: 1, creationTimestamp: "2026-08-01T12:00:00Z"}
spec: {suffixes: [payments.example.com, pay.example.org], environments: [dev, prod], zones: [Z0123456789ABCDEFGHIJ, Z9876543210]}
status: {observedGeneration: 1, hostnames: 2, inUse: [pay.payments.example.com, shop.payments.example.com], conditions: [{type: Ready, status: "True", reason: InSync, message: ok}]}
`
	poolObjects = `
apiVersion: portico.dev/v1alpha1
kind: PoolGateway
metadata: {name: gw-00, namespace: portico-gateways, generation: 1, creationTimestamp: "2026-11-01T12:00:00Z"}
spec: {visibility: internet-facing, gatewayClass: alb, providerRef: {name: aws-prod}, accountID: "444455556666", region: eu-west-1}
status: {observedGeneration: 1, hostnames: 14, certificates: 13, rules: 31, targetGroups: 22, loadBalancer: {arn: "arn:aws:elasticloadbalancing:x", dnsName: gw-00-1234.eu-west-1.elb.amazonaws.com, zoneId: Z2},
  conditions: [{type: Ready, status: "True", reason: InSync, message: ok}]}
`
	poolOverridden = `
apiVersion: portico.dev/v1alpha1
kind: PoolGateway
metadata: {name: gw-01, namespace: portico-gateways, generation: 1, creationTimestamp: "2026-11-20T12:00:00Z"}
spec: {visibility: internal, gatewayClass: alb-internal, providerRef: {name: aws-prod}, accountID: "444455556666", region: eu-west-1}
status: {observedGeneration: 1, hostnames: 21, rules: 3, targetGroups: 4,
  conditions: [{type: Ready, status: "False", reason: ClassOverrides, message: "the class wins over this one. Set its mergingMode", lastTransitionTime: "2026-11-21T11:57:00Z"},
    {type: Stalled, status: "True", reason: ClassOverrides, message: "the class wins over this one. Set its mergingMode", lastTransitionTime: "2026-11-21T11:57:00Z"}]}
`
	heldClaim = `
apiVersion: portico.dev/v1alpha1
kind: DomainClaim
metadata: {name: dc-1, generation: 1, creationTimestamp: "2026-11-14T12:00:00Z"}
spec: {hostname: shop.payments.example.com, visibility: internet-facing, gateway: gw-00, holder: {namespace: payments, name: shop, uid: "1"}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True", reason: InSync, message: ok}]}
`
	orphanClaim = `
apiVersion: portico.dev/v1alpha1
kind: DomainClaim
metadata: {name: dc-2, generation: 1, creationTimestamp: "2026-11-10T12:00:00Z"}
spec: {hostname: "*.search.example.com", visibility: internal, gateway: gw-07, holder: {namespace: search, name: find, uid: "2"}}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "False", reason: HolderGone, message: "the request search/find is gone without having given the hostname back: see in AWS whether its records and its certificate are left, then delete this claim"}]}
`
)

// hostnameSite has hostnames in every state, and the platform's objects for them.
func hostnameSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := newFake(tb, hostnameReady, hostnameWaiting, hostnameLost, exposedApp, grantObject, poolObjects, poolOverridden,
		heldClaim, orphanClaim, provider)
	f.Spaces.Names = append(f.Spaces.Names, "portico-gateways")
	f.grant = &v1alpha1.HostnameGrantSpec{
		Suffixes:     []string{"payments.example.com", "pay.example.org"},
		Zones:        []v1alpha1.HostedZoneID{"Z0123456789ABCDEFGHIJ", "Z9876543210"},
		Environments: []v1alpha1.Environment{"dev", "prod"},
	}
	f.claims = []availability.Claim{
		{Hostname: "taken.payments.example.com", Visibility: "internet-facing", Holder: availability.Holder{Namespace: "rivals", Name: "find"}},
		{Hostname: "*.wild.payments.example.com", Visibility: "internet-facing", Holder: availability.Holder{Namespace: "rivals", Name: "wild"}},
		{Hostname: "shop.payments.example.com", Visibility: "internet-facing", Holder: availability.Holder{Namespace: "payments", Name: "shop"}},
	}
	f.holders = []string{"payments"}
	f.zones = map[string]string{"Z0123456789ABCDEFGHIJ": "payments.example.com"}
	f.features = operator.Features{Known: true}
	return f
}
