package pool

import (
	"slices"
	"testing"
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
		got := configuration(g, row.arns, row.keep).Spec.ListenerConfigurations[0]
		if got.DefaultCertificate != row.first || !slices.Equal(got.Certificates, row.others) || got.ProtocolPort != "HTTPS:443" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
