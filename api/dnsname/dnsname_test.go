package dnsname

import (
	"slices"
	"strings"
	"testing"
)

func parse(t *testing.T, text string) Name {
	t.Helper()
	n, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"shop.example.com":          "shop.example.com",
		"Shop.EXAMPLE.com":          "shop.example.com",
		"*.shop.example.com":        "*.shop.example.com",
		"bücher.example.com":        "xn--bcher-kva.example.com",
		"xn--bcher-kva.example.com": "xn--bcher-kva.example.com",
		"straße.example.com":        "xn--strae-oqa.example.com",
		"例え.example.com":            "xn--r8jz45g.example.com",
		"3com.example":              "3com.example",
		"a.b.c.d.e.f.example.com":   "a.b.c.d.e.f.example.com",
	} {
		if got := parse(t, text).String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestRefusedNames(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "valid",
		"localhost":                      "two labels",
		"*.com":                          "two labels",
		"*":                              "asterisk",
		"a.*.example.com":                "asterisk",
		"*.*.example.com":                "asterisk",
		"a*.example.com":                 "asterisk",
		"shop.example.com.":              "dot at the end",
		"shop.example.com。":              "dot at the end",
		".example.com":                   "dots",
		"shop..example.com":              "dots",
		"-shop.example.com":              "hyphen",
		"shop-.example.com":              "hyphen",
		"_dmarc.example.com":             "underscore",
		"shop example.com":               `the label "shop example" has the character ' '`,
		"shop/example.com":               `the label "shop/example" has the character '/'`,
		"10.0.0.1":                       "address",
		"shop.example.com:443":           `the label "com:443" has the character ':'`,
		strings.Repeat("a", 64) + ".com": "more than 63",
		strings.Repeat("abcdefg.", 9) + "example.com": "certificate",
		"xn--zzzzzzzz9999.example.com":                `the label "xn--zzzzzzzz9999" has characters that cannot stand together`,
	} {
		n, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %v, and the error %v does not speak of %q", text, n, err, want)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		one, other string
		want       bool
	}{
		{"a.example.com", "a.example.com", true},
		{"a.example.com", "b.example.com", false},
		{"a.example.com", "example.com", false},
		{"*.example.com", "example.com", false},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "a.example.com.au", false},
		{"*.example.com", "anexample.com", false},
		{"*.example.com", "*.example.com", true},
		{"*.example.com", "*.b.example.com", true},
		{"*.b.example.com", "*.a.example.com", false},
		{"*.b.example.com", "b.example.com", false},
		{"wildcard.example.com", "*.example.com", true},
		{"wildcard.example.com", "*.other.com", false},
	} {
		one, other := parse(t, c.one), parse(t, c.other)
		if one.Overlaps(other) != c.want || other.Overlaps(one) != c.want {
			t.Errorf("%s and %s: %v and %v, want %v", c.one, c.other, one.Overlaps(other), other.Overlaps(one), c.want)
		}
	}
}

func TestAncestors(t *testing.T) {
	for _, c := range []struct {
		name, zone string
		want       []string
	}{
		{"a.b.example.com", "example.com", []string{"a.b.example.com", "b.example.com", "example.com"}},
		{"*.b.example.com", "example.com", []string{"b.example.com", "example.com"}},
		{"example.com", "example.com", []string{"example.com"}},
		{"*.example.com", "example.com", []string{"example.com"}},
		{"anexample.com", "example.com", nil},
		{"a.example.com", "b.example.com", nil},
	} {
		if got := parse(t, c.name).Ancestors(c.zone); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s: %v, want %v", c.name, c.zone, got, c.want)
		}
	}
}

func TestOwnershipDiffersFromEveryHostname(t *testing.T) {
	one, all := parse(t, "shop.example.com"), parse(t, "*.shop.example.com")
	if one.Ownership() == all.Ownership() {
		t.Errorf("both are at %s", one.Ownership())
	}
	for _, n := range []Name{one, all} {
		if _, err := Parse(n.Ownership()); err == nil {
			t.Errorf("%s could be asked for", n.Ownership())
		}
		if !strings.HasSuffix(n.Ownership(), ".shop.example.com") {
			t.Errorf("%s is not beside the name", n.Ownership())
		}
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		`\052.Example.com.`: "*.example.com", "a.example.com.": "a.example.com", "*.example.com": "*.example.com",
		"A.example.com": "a.example.com",
	} {
		if got := Canonical(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What is taken stays what it is when it is taken again, and is never more than DNS allows.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"shop.example.com", "*.shop.example.com", "bücher.example.com", "a..b", "*.*",
		"xn--a.com", "ß.de", "\u200d.com", "1.2.3.4", "a.b\x00.c", "。example。com", "ｅｘａｍｐｌｅ.com",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(n.String())
		if err != nil || again != n {
			t.Fatalf("%q is %q, and that is %v, %v", text, n, again, err)
		}
		switch s := n.String(); {
		case len(s) > longestCertificate:
			t.Fatalf("%q: %d characters, want at most %d", text, len(s), longestCertificate)
		case s != strings.ToLower(s):
			t.Fatalf("%q: String() = %q, want lower case", text, s)
		case strings.ContainsAny(s, " /:@_\\\x00"):
			t.Fatalf("%q: String() = %q, want the characters of a name", text, s)
		case Canonical(s+".") != s:
			t.Fatalf("%q: Canonical of %q with a dot = %q, want the name", text, s, Canonical(s+"."))
		}
		for _, r := range n.Base() {
			if r > 127 {
				t.Fatalf("%q is %q, which is not ASCII", text, n)
			}
		}
		if !n.Within(n.Base()) || !n.Overlaps(n) {
			t.Fatalf("%q does not overlap itself", n)
		}
	})
}
