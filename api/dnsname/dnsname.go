// Package dnsname knows hostnames as DNS does: which texts are the same name, which lie within which, which overlap.
package dnsname

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Name is a hostname that may be asked for, or a wildcard for all names below one. The zero Name is no name. Equal
// Names are the same name, so that a Name can be a key.
type Name struct {
	base     string // in lower case and IDNA form, without the asterisk and without a dot at the end
	wildcard bool
}

// Limits of DNS, and of ACM: the name becomes the common name of a certificate, which RFC 5280 limits.
const (
	longest            = 253
	longestLabel       = 63
	longestCertificate = 64
)

// registered is idna.Registration with the mapping of what people type to lower case: it refuses what no registry
// takes.
var registered = idna.New(idna.MapForLookup(), idna.StrictDomainName(true), idna.ValidateLabels(true),
	idna.VerifyDNSLength(true), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(true))

// Parse parses a hostname as a person writes it. Its errors describe what is wrong with the text.
func Parse(text string) (Name, error) {
	base, wildcard := strings.CutPrefix(text, "*.")
	switch {
	case strings.Contains(base, "*"):
		return Name{}, fmt.Errorf("an asterisk stands for the whole first label and for nothing else, such as " +
			"*.shop.example.com")
	case strings.HasSuffix(base, "."):
		return Name{}, fmt.Errorf("leave out the dot at the end")
	}
	ascii, err := registered.ToASCII(base)
	if err == nil {
		_, err = registered.ToASCII(ascii) // what the mapping made must be valid by itself
	}
	if err != nil || !utf8.ValidString(base) {
		return Name{}, fmt.Errorf("it is not a valid hostname: %s", plainly(err, base))
	}
	if strings.HasSuffix(ascii, ".") { // of another script
		return Name{}, fmt.Errorf("leave out the dot at the end")
	}
	n := Name{base: ascii, wildcard: wildcard}
	return n, n.check()
}

func (n Name) check() error {
	labels := strings.Split(n.base, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2:
		return fmt.Errorf("it needs at least two labels, such as shop.example.com")
	case n.wildcard && len(labels) < 2:
		return fmt.Errorf("what follows the asterisk needs at least two labels, such as *.example.com")
	case strings.Trim(last, "0123456789") == "":
		return fmt.Errorf("an address is no hostname: the last label needs a letter")
	case len(n.String()) > longest:
		return fmt.Errorf("it has %d characters in its IDNA form, and DNS allows %d", len(n.String()), longest)
	case len(n.String()) > longestCertificate:
		return fmt.Errorf("it has %d characters in its IDNA form, and a certificate can name at most %d",
			len(n.String()), longestCertificate)
	}
	return nil
}

// plainly says in words what the library means.
func plainly(err error, text string) string {
	for label := range strings.SplitSeq(text, ".") {
		switch {
		case label == "":
			return "two dots follow each other, or one stands in front"
		case len(label) > longestLabel:
			return fmt.Sprintf("the label %.20s… has more than %d characters", label, longestLabel)
		case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-"):
			return fmt.Sprintf("the label %q begins or ends with a hyphen", label)
		case strings.Contains(label, "_"):
			return fmt.Sprintf("the label %q has an underscore, which DNS takes for records that are no hosts", label)
		}
	}
	if err == nil {
		return "it is not UTF-8"
	}
	for label := range strings.SplitSeq(text, ".") {
		if words := labelWords(label); words != "" {
			return words
		}
	}
	return "its characters cannot stand together in one name"
}

// labelWords returns what is wrong with the characters of a label, "" if nothing is.
func labelWords(label string) string {
	for _, r := range label {
		if _, err := registered.ToASCII(string(r)); err != nil && r != '-' {
			return fmt.Sprintf("the label %q has the character %q; use letters, digits and hyphens", label, r)
		}
	}
	if _, err := registered.ToASCII(label); err != nil {
		return fmt.Sprintf("the label %q has characters that cannot stand together in one name", label)
	}
	return ""
}

// String returns the name as it is written in certificates and routes.
func (n Name) String() string {
	if n.wildcard {
		return "*." + n.base
	}
	return n.base
}

// IsZero reports whether n is the zero Name.
func (n Name) IsZero() bool { return n.base == "" }

// Wildcard reports whether n is a wildcard.
func (n Name) Wildcard() bool { return n.wildcard }

// Base returns the name without the asterisk.
func (n Name) Base() string { return n.base }

// Overlaps reports whether a request for one host could be meant for either. Load balancers match an asterisk to names
// at any depth, so a wildcard overlaps every name and every wildcard below its base.
func (n Name) Overlaps(m Name) bool {
	switch {
	case n == m:
		return true
	case n.wildcard && below(m.base, n.base), m.wildcard && below(n.base, m.base):
		return true
	default:
		return false
	}
}

// Within reports whether the name is domain or lies below it, at the border of a label. A wildcard of domain itself
// does.
func (n Name) Within(domain string) bool { return n.base == domain || below(n.base, domain) }

// Ancestors returns the domains from the name's own (a wildcard's base) up to the zone's, both included. None, if the
// name is not within zone.
func (n Name) Ancestors(zone string) []string {
	if !n.Within(zone) {
		return nil
	}
	all := []string{n.base}
	for at := n.base; at != zone; all = append(all, at) {
		_, at, _ = strings.Cut(at, ".")
	}
	return all
}

// Ownership returns the name of the TXT record with the owner of the name's records. Its first label, which no hostname
// can have, differs for a name and for the wildcard below it.
func (n Name) Ownership() string {
	if n.wildcard {
		return "_portico-wildcard." + n.base
	}
	return "_portico." + n.base
}

func below(name, domain string) bool {
	return strings.HasSuffix(name, "."+domain)
}

// Canonical returns how names of Route 53 are compared: in lower case, without the dot at the end, and with the
// asterisk that Route 53 writes as \052.
func Canonical(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if rest, ok := strings.CutPrefix(name, `\052`); ok {
		return "*" + rest
	}
	return name
}
