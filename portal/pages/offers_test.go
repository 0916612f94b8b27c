package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
)

// Offers returns what the test prepared, to callers who can create.
func (f *fakeCluster) Offers(ctx context.Context, id auth.Identity, k catalog.Kind, q operatorapi.OfferQuery) (
	operator.Offers, error,
) {
	f.offered = append(f.offered, q)
	return f.offers, f.Rights.Require(ctx, id, "create", catalog.Ref{Kind: k, Namespace: q.Namespace})
}

func offering(items ...operatorapi.Offer) operator.Offers {
	return operator.Offers{Known: true, Offers: operatorapi.Offers{Items: items}}
}

const askOffers = "/teams/payments/offers/rdsinstances/dbInstanceClass?spec.providerRef.name=aws-prod&spec.region=eu-west-1&spec.engine=postgres&spec.masterUsername=x"

func TestFormsAskWhatAnAccountHas(t *testing.T) {
	for name, c := range map[string]struct {
		offers     operator.Offers
		denied     []string
		path       string
		status     int
		text, lack string
	}{
		"a list": {
			offers: offering(operatorapi.Offer{Value: "db.t3.micro"},
				operatorapi.Offer{Value: "db.t3\n.small", Label: "2 vCPU,\t2 GiB"}),
			status: 200, text: "db.t3.micro\t\ndb.t3 .small\t2 vCPU, 2 GiB",
		},
		"nothing that can be used": {offers: offering(), status: 200, lack: "\t"},
		"AWS takes its time":       {offers: operator.Offers{Known: true, Offers: operatorapi.Offers{Pending: true}}, status: 202},
		"the operator is away":     {status: 503, text: "The list is not available now. You can type a value."},
		"AWS refuses": {
			offers: operator.Offers{Known: true, Offers: operatorapi.Offers{Error: "denied: attach the policy"}},
			status: 503, text: "You can type a value. Because: denied: attach the policy.",
		},
		"no account is chosen":         {path: "/teams/payments/offers/rdsinstances/dbInstanceClass?spec.engine=postgres", status: 409, text: "Choose an AWS account first."},
		"a field without a list":       {path: "/teams/payments/offers/rdsinstances/masterUsername?spec.providerRef.name=aws-prod", status: 404, lack: "db.t3"},
		"a kind that there is not":     {path: "/teams/payments/offers/pods/name?spec.providerRef.name=aws-prod", status: 404, lack: "db.t3"},
		"who cannot request databases": {offers: offering(operatorapi.Offer{Value: "db.t3.micro"}), denied: []string{"create rdsinstances payments"}, status: 403, lack: "db.t3"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.offers, f.denied = c.offers, c.denied
			path := c.path
			if path == "" {
				path = askOffers
			}
			w := visit(t, f, developer, path)
			answers(t, w, c.status, c.text, c.lack)
			if c.path != "" && len(f.offered) > 0 {
				t.Errorf("asked %+v", f.offered)
			}
		})
	}
}

func TestTheAccountIsAskedWithWhatDecides(t *testing.T) {
	f := newFake(t)
	visit(t, f, developer, askOffers)
	if len(f.offered) != 1 {
		t.Fatal(f.offered)
	}
	q := f.offered[0]
	want := operatorapi.OfferQuery{
		Namespace: "payments", Provider: "aws-prod", Region: "eu-west-1", Field: "dbInstanceClass",
		With: map[string]string{"engine": "postgres", "engineVersion": ""},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestInputsSayWhereTheirListIs(t *testing.T) {
	page := visit(t, newFake(t), developer, "/teams/payments/new/rdsinstances").Body.String()
	lacks(t, page, `list="f-spec-dbInstanceClass-list"`,
		`data-offers="/teams/payments/offers/rdsinstances/dbInstanceClass?`,
		`data-by="spec.providerRef.name spec.region spec.engine spec.engineVersion"`,
		`data-adds="f-spec-vpcSecurityGroupIDs"`, `id="f-spec-vpcSecurityGroupIDs-list-note"`)
	if strings.Contains(page, "offers/rdsinstances/masterUsername") {
		t.Error("a name is looked for in AWS")
	}
}

// A zone is found for YAML too, and looked up again while AWS is slow.
func TestAHostedZoneIsFoundForYAML(t *testing.T) {
	f := hostnameSite(t)
	f.grant.Zones = nil
	f.offers = offering(operatorapi.Offer{
		Value: "ZONE", Facts: map[string]string{operatorapi.FactDomain: "example.com"},
	})
	form := url.Values{"do": {"review"}, "yaml": {`apiVersion: portico.dev/v1alpha1
kind: GatewayHostnameRequest
metadata: {name: new}
spec: {providerRef: {name: aws-prod}, hostname: new.payments.example.com, environment: prod, visibility: internet-facing}`}}
	lacks(t, post(t, f, askHostname, form).Body.String(), "zoneId: ZONE")
	f.offers = operator.Offers{Known: true, Offers: operatorapi.Offers{Pending: true}}
	f.offered = nil
	lacks(t, post(t, f, askHostname, form).Body.String(), "AWS has not answered yet which hosted zones there are")
	if len(f.offered) != 4 {
		t.Errorf("asked %d times", len(f.offered))
	}
}

func TestAHostedZoneIsFound(t *testing.T) {
	zone := func(id, domain, private string) operatorapi.Offer {
		facts := map[string]string{operatorapi.FactDomain: domain}
		if private != "" {
			facts[operatorapi.FactPrivate] = private
		}
		return operatorapi.Offer{Value: id, Label: domain, Facts: facts}
	}
	zones := offering(zone("ZWIDE", "example.com", ""), zone("ZNARROW", "payments.example.com", ""),
		zone("ZINSIDE", "payments.example.com", "true"))
	for name, c := range map[string]struct {
		offers     operator.Offers
		hostname   string
		zone       string
		visibility string
		status     int
		says       []string
	}{
		"the closest":         {zones, "new.payments.example.com", "", "", 200, []string{"zoneId: ZNARROW"}},
		"inside":              {zones, "new.payments.example.com", "", "internal", 200, []string{"zoneId: ZINSIDE", "validationZoneId: ZNARROW"}},
		"inside, as entered":  {zones, "new.payments.example.com", "ZINSIDE", "internal", 200, []string{"zoneId: ZINSIDE", "validationZoneId: ZNARROW"}},
		"one that is entered": {zones, "new.payments.example.com", "ZWIDE", "", 200, []string{"zoneId: ZWIDE"}},
		"one of another domain": {
			offering(zone("ZOTHER", "example.org", "")), "new.payments.example.com", "ZOTHER",
			"", 422,
			[]string{"new.payments.example.com is not in the domain of this hosted zone, example.org"},
		},
		"a private one": {zones, "new.payments.example.com", "ZINSIDE", "", 422, []string{"this hosted zone is private", "ZNARROW"}},
		"none": {
			offering(zone("ZOTHER", "example.org", "")), "new.payments.example.com", "", "",
			422,
			[]string{"no hosted zone that your team can use holds new.payments.example.com"},
		},
		"two of one domain":         {offering(zone("Z1", "example.com", ""), zone("Z2", "example.com", "")), "new.payments.example.com", "", "", 422, []string{"enter the ID of one", "Z1", "Z2"}},
		"nobody knows":              {operator.Offers{}, "new.payments.example.com", "", "", 422, []string{"enter the ID of the hosted zone"}},
		"nobody knows, and is told": {operator.Offers{}, "new.payments.example.com", "ZTYPED", "", 200, []string{"zoneId: ZTYPED"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := hostnameSite(t)
			f.offers = c.offers
			f.grant.Zones = nil
			form := hostnameForm("review", c.hostname)
			form.Set("spec.zoneId", c.zone)
			form.Set("spec.environment", "prod")
			form.Set("spec.visibility", c.visibility)
			w := post(t, f, askHostname, form)
			if w.Code != c.status {
				t.Errorf("%d, want %d", w.Code, c.status)
			}
			lacks(t, strings.ToLower(w.Body.String()),
				strings.Split(strings.ToLower(strings.Join(c.says, "\x00")), "\x00")...)
			if c.status == http.StatusOK && strings.Contains(w.Body.String(), "problem") {
				t.Error("the review has problems")
			}
		})
	}
}
