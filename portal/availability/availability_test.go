package availability

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestEveryAnswer(t *testing.T) {
	grant := &v1alpha1.HostnameGrantSpec{
		Suffixes: []string{"payments.example.com", "pay.example.org"}, Wildcards: true, Zones: []v1alpha1.HostedZoneID{"Z1"},
		Visibilities: []v1alpha1.Visibility{"internet-facing", "internal"}, Environments: []v1alpha1.Environment{"dev"},
	}
	narrow := &v1alpha1.HostnameGrantSpec{
		Suffixes:     []string{"payments.example.com"},
		Visibilities: []v1alpha1.Visibility{"internal"},
	}
	claims := []Claim{
		{"taken.payments.example.com", "internet-facing", Holder{"search", "find"}},
		{"*.wild.payments.example.com", "internet-facing", Holder{"search", "wild"}},
		{"a.deep.payments.example.com", "internal", Holder{"search", "deep"}},
		{"shop.payments.example.com", "internet-facing", Holder{"payments", "shop"}},
		{"*.ours.payments.example.com", "internet-facing", Holder{"payments", "ours"}},
		{"no hostname", "internet-facing", Holder{"search", "broken"}},
	}
	requests := []Claim{{"Soon.Payments.example.com", "", Holder{"payments", "soon"}}}
	for name, c := range map[string]struct {
		q      Query
		grant  *v1alpha1.HostnameGrantSpec
		state  State
		field  string
		holder Holder
		words  string
	}{
		"free":                         {Query{Hostname: "new.payments.example.com", Zone: "Z1"}, grant, Free, "", Holder{}, "new.payments.example.com is free"},
		"free under another suffix":    {Query{Hostname: "pay.example.org"}, grant, Free, "", Holder{}, "free"},
		"letters as DNS has them":      {Query{Hostname: "Größe.payments.example.com"}, grant, Free, "", Holder{}, "xn--gre-6ka8i.payments.example.com is free"},
		"nothing":                      {Query{}, grant, Invalid, "hostname", Holder{}, ""},
		"a URL":                        {Query{Hostname: "https://x.example.com"}, grant, Invalid, "hostname", Holder{}, "not a valid hostname"},
		"an underscore":                {Query{Hostname: "a_b.example.com"}, grant, Invalid, "hostname", Holder{}, "underscore"},
		"an asterisk within":           {Query{Hostname: "a.*.example.com"}, grant, Invalid, "hostname", Holder{}, "asterisk"},
		"a book":                       {Query{Hostname: strings.Repeat("a.", 10_000)}, grant, Invalid, "hostname", Holder{}, "too long"},
		"no grant":                     {Query{Hostname: "new.payments.example.com"}, nil, NoGrant, "hostname", Holder{}, "ask a platform admin for a HostnameGrant"},
		"another domain":               {Query{Hostname: "x.example.net"}, grant, NotGranted, "hostname", Holder{}, "is not below payments.example.com or pay.example.org"},
		"not at the border of a label": {Query{Hostname: "xpayments.example.com"}, grant, NotGranted, "hostname", Holder{}, "is not below"},
		"a wildcard without the right": {Query{Hostname: "*.payments.example.com", Visibility: "internal"}, narrow, NotGranted, "hostname", Holder{}, "no wildcards"},
		"another zone":                 {Query{Hostname: "new.payments.example.com", Zone: "Z2"}, grant, NotGranted, "zoneId", Holder{}, "the zone Z2 is none of [Z1]"},
		"the default visibility":       {Query{Hostname: "new.payments.example.com"}, narrow, NotGranted, "visibility", Holder{}, "internet-facing is none of [internal]"},
		"another environment":          {Query{Hostname: "new.payments.example.com", Environment: "prod"}, grant, NotGranted, "environment", Holder{}, "prod is none of [dev]"},
		"taken":                        {Query{Hostname: "taken.payments.example.com"}, grant, Taken, "hostname", Holder{"search", "find"}, "another team has taken.payments.example.com"},
		"taken in other letters":       {Query{Hostname: "TAKEN.payments.example.com"}, grant, Taken, "hostname", Holder{"search", "find"}, "another team"},
		"taken for the internet only":  {Query{Hostname: "taken.payments.example.com", Visibility: "internal"}, grant, Free, "", Holder{}, "free"},
		"below a wildcard":             {Query{Hostname: "a.b.wild.payments.example.com"}, grant, Overlaps, "hostname", Holder{"search", "wild"}, "*.wild.payments.example.com, which overlaps"},
		"beside a wildcard":            {Query{Hostname: "wild.payments.example.com"}, grant, Free, "", Holder{}, "free"},
		"a wildcard over a name": {
			Query{Hostname: "*.deep.payments.example.com", Visibility: "internal"},
			grant,
			Overlaps, "hostname",
			Holder{"search", "deep"},
			"a hostname below deep.payments.example.com, which a wildcard would overlap",
		},
		"claimed by us": {
			Query{Hostname: "shop.payments.example.com"},
			grant, Yours, "hostname",
			Holder{"payments", "shop"},
			"your team has asked for shop.payments.example.com already",
		},
		"asked for by us":               {Query{Hostname: "soon.payments.example.com"}, grant, Yours, "hostname", Holder{"payments", "soon"}, "already"},
		"below our own wildcard":        {Query{Hostname: "x.ours.payments.example.com"}, grant, Free, "", Holder{}, "free"},
		"a wildcard over our own names": {Query{Hostname: "*.payments.example.com", Visibility: "internal"}, grant, Overlaps, "hostname", Holder{"search", "deep"}, "a wildcard would overlap"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Check(c.q, Facts{Namespace: "payments", Grant: c.grant, Claims: claims, Requests: requests})
			if got.State != c.state || got.Field != c.field || got.Holder != c.holder {
				t.Errorf("State = %q, Field = %q, Holder = %+v; want %q, %q, %+v",
					got.State, got.Field, got.Holder, c.state, c.field, c.holder)
			}
			if !strings.Contains(got.Message, c.words) {
				t.Errorf("Message = %q, want %q in it", got.Message, c.words)
			}
			if strings.Contains(got.Message, "search") {
				t.Errorf("the message names another team: %s", got.Message)
			}
			if (got.Hostname == "") != (got.State == Invalid) {
				t.Errorf("hostname %q", got.Hostname)
			}
		})
	}
}

// TestWhatIsNotGrantedTellsNothingOfClaims: a hostname outside the grant is not looked up, because a team with any
// grant could otherwise find out which hostnames others have.
func TestWhatIsNotGrantedTellsNothingOfClaims(t *testing.T) {
	grant := &v1alpha1.HostnameGrantSpec{Suffixes: []string{"payments.example.com"}}
	facts := Facts{
		Namespace: "payments", Grant: grant,
		Claims: []Claim{{"find.search.example.com", "internet-facing", Holder{"search", "find"}}},
	}
	has, hasNot := Check(Query{Hostname: "find.search.example.com"}, facts),
		Check(Query{Hostname: "lost.search.example.com"}, facts)
	has.Hostname, hasNot.Hostname = "", ""
	has.Message, hasNot.Message = strings.ReplaceAll(has.Message, "find", "x"),
		strings.ReplaceAll(hasNot.Message, "lost", "x")
	if has != hasNot || has.State != NotGranted {
		t.Errorf("%+v, and of what nobody has %+v", has, hasNot)
	}
}
