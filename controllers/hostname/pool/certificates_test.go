package pool

import (
	"reflect"
	"slices"
	"testing"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

func TestTheDefaultCertificateStays(t *testing.T) {
	g := gatewayOf("gw-00", nil)
	for name, row := range map[string]struct {
		arns        []string
		keep, first string
		others      []string
	}{
		"the first of all":       {[]string{"a", "b", "c"}, "", "a", []string{"b", "c"}},
		"the one that it was":    {[]string{"a", "b", "c"}, "b", "b", []string{"a", "c"}},
		"one that is not wanted": {[]string{"a", "b"}, "z", "a", []string{"b"}},
		"alone":                  {[]string{"a"}, "a", "a", []string{}},
	} {
		got := configuration(g, row.arns, []albconfig.ListenerConfiguration{
			{ProtocolPort: "HTTPS:443", DefaultCertificate: row.keep},
		}).Spec.ListenerConfigurations[0]
		if got.DefaultCertificate != row.first || !slices.Equal(got.Certificates, row.others) ||
			got.ProtocolPort != "HTTPS:443" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Admins' settings are kept: additional listeners, and other settings of ours.
func TestWhatAdminsSetOfListenersStays(t *testing.T) {
	theirs := albconfig.ListenerConfiguration{
		ProtocolPort: "HTTP:80", ListenerAttributes: []albconfig.ListenerAttribute{{Key: "k", Value: "v"}},
	}
	ours := albconfig.ListenerConfiguration{
		ProtocolPort: "HTTPS:443", SSLPolicy: "old", ALPNPolicy: "None", ListenerAttributes: theirs.ListenerAttributes,
		Others: albconfig.Fields{"mutualAuthentication": `{"mode":"verify"}`},
	}
	before := []albconfig.ListenerConfiguration{theirs, ours}
	got := configuration(gatewayOf("gw-00", nil), []string{"a"}, before).Spec.ListenerConfigurations
	want := ours
	want.SSLPolicy, want.DefaultCertificate, want.Certificates = sslPolicy, "a", []string{}
	if !reflect.DeepEqual(got, []albconfig.ListenerConfiguration{theirs, want}) {
		t.Errorf("%+v", got)
	}
	if before[1].SSLPolicy != "old" {
		t.Error("what was read is changed")
	}
}

// The API server's defaults for a new listener are not declared: each Gateway would be written once more for nothing.
func TestDefaultsOfTheAPIServerAreNotDeclared(t *testing.T) {
	made := configuration(gatewayOf("gw-00", nil), []string{"a"}, nil).Spec.ListenerConfigurations
	defaulted := slices.Clone(made)
	defaulted[0].ALPNPolicy = "None"
	if again := configuration(gatewayOf("gw-00", nil), []string{"a"}, undefaulted(
		defaulted)).Spec.ListenerConfigurations; !reflect.DeepEqual(again, made) {
		t.Errorf("declared %+v, and then %+v", made, again)
	}
	defaulted[0].ALPNPolicy = "HTTP2Preferred"
	if kept := undefaulted(defaulted); kept[0].ALPNPolicy != "HTTP2Preferred" {
		t.Errorf("what an admin set became %q", kept[0].ALPNPolicy)
	}
}
