package hostnames

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
)

func parsed(t *testing.T, text string) dnsname.Name {
	t.Helper()
	n, err := dnsname.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatAGrantAllows(t *testing.T) {
	narrow := v1alpha1.HostnameGrantSpec{
		Suffixes: []string{"a.example", "b.example"}, Zones: []v1alpha1.HostedZoneID{"Z1"},
		Visibilities: []v1alpha1.Visibility{v1alpha1.Internal}, Environments: []v1alpha1.Environment{
			v1alpha1.EnvironmentDev,
		},
	}
	fits := v1alpha1.GatewayHostnameRequestSpec{
		ZoneID: "Z1", Visibility: v1alpha1.Internal, Environment: v1alpha1.EnvironmentDev,
	}
	spec := func(change func(*v1alpha1.GatewayHostnameRequestSpec)) v1alpha1.GatewayHostnameRequestSpec {
		s := fits
		change(&s)
		return s
	}
	for name, row := range map[string]struct {
		grant v1alpha1.HostnameGrantSpec
		spec  v1alpha1.GatewayHostnameRequestSpec
		host  string
		says  string
	}{
		"all as granted":         {narrow, fits, "x.y.b.example", ""},
		"the suffix itself":      {narrow, fits, "a.example", ""},
		"another suffix":         {narrow, fits, "xa.example", "xa.example is not below a.example or b.example"},
		"above the suffix":       {v1alpha1.HostnameGrantSpec{Suffixes: []string{"c.a.example"}}, fits, "a.example", "not below"},
		"a wildcard":             {narrow, fits, "*.a.example", "it has no wildcards"},
		"a wildcard that may be": {v1alpha1.HostnameGrantSpec{Suffixes: []string{"a.example"}, Wildcards: true}, fits, "*.a.example", ""},
		"a wildcard of above":    {v1alpha1.HostnameGrantSpec{Suffixes: []string{"c.a.example"}, Wildcards: true}, fits, "*.a.example", "not below"},
		"another zone":           {narrow, spec(func(s *v1alpha1.GatewayHostnameRequestSpec) { s.ZoneID = "Z2" }), "a.example", "the zone Z2 is none of [Z1]"},
		"another visibility": {
			narrow, spec(func(s *v1alpha1.GatewayHostnameRequestSpec) { s.Visibility = v1alpha1.InternetFacing }),
			"a.example", "visibility internet-facing is none of [internal]",
		},
		"another environment":     {narrow, spec(func(s *v1alpha1.GatewayHostnameRequestSpec) { s.Environment = v1alpha1.EnvironmentProd }), "a.example", "environment prod is none of [dev]"},
		"what is left out is all": {v1alpha1.HostnameGrantSpec{Suffixes: []string{"a.example"}}, fits, "a.example", ""},
		"no suffix is nothing":    {v1alpha1.HostnameGrantSpec{}, fits, "a.example", "not below"},
	} {
		if _, got := Refused(row.grant, row.spec, parsed(t, row.host)); (got == "") != (row.says == "") ||
			!strings.Contains(got, row.says) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
