package catalog

import (
	"slices"
	"strings"
	"testing"
)

func plurals(c Catalog) string {
	var all []string
	for _, k := range c {
		all = append(all, k.Plural)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestWhatOthersKeepIsNotRequested(t *testing.T) {
	c := load(t)
	for _, k := range []struct{ plural, by string }{
		{"hostnamegrants", "admins"}, {"poolgateways", "operator"}, {"domainclaims", "operator"}, {"teams", "admins"}, {"gatewayhostnamerequests", ""}, {"awsproviders", ""},
	} {
		got, ok := c.ByPlural(k.plural)
		if !ok || got.KeptBy != k.by {
			t.Errorf("%s is kept by %q", k.plural, got.KeptBy)
		}
	}
	if got := plurals(c.Requestable()); strings.Contains(got, "hostnamegrants") ||
		strings.Contains(got, "awsproviders") || !strings.Contains(got, "gatewayhostnamerequests") {
		t.Errorf("requestable: %s", got)
	}
	if got := plurals(c.Namespaced(false)); got != "awsproviders catalogentries deploypolicies domainclaims teams" {
		t.Errorf("of no namespace: %s", got)
	}
	if got := plurals(c.Namespaced(false).Offered()); got != "awsproviders" {
		t.Errorf("offered of no namespace: %s", got)
	}
}

func TestStepsAreInOrder(t *testing.T) {
	want := []Step{
		{"Claimed", "Claimed", false},
		{"CertificateRequested", "Certificate requested", false},
		{"DnsValidated", "DNS validated", false},
		{"CertificateIssued", "Certificate issued", false},
		{"ListenerAttached", "Listener attached", false},
		{"DnsAliasReady", "DNS alias ready", false},
	}
	if got := kindNamed(t, "GatewayHostnameRequest").Steps; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := kindNamed(t, "WebApp").Steps; !slices.Contains(got, Step{"Exposed", "Exposed", true}) ||
		!slices.Contains(got, Step{"RolledOut", "Rolled out", false}) {
		t.Errorf("%v", got)
	}
	if got := bucketKind(t).Steps; got != nil {
		t.Errorf("a bucket has %v", got)
	}
}
