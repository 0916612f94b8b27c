package route53

import (
	"cmp"
	"slices"
	"strings"
)

// escapedAsterisk is how Route 53 writes an asterisk in a name.
const escapedAsterisk = `\052`

// dnsName returns a name as Route 53 stores it: in lower case, with a trailing
// dot, the asterisk escaped.
func dnsName(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, ".")) + "."
	return strings.ReplaceAll(name, "*", escapedAsterisk)
}

// within reports whether the name is the zone's or below it; both as [dnsName] returns them.
func within(name, zone string) bool { return name == zone || strings.HasSuffix(name, "."+zone) }

// listingOrder returns the key by which names are listed: the labels reversed,
// in ASCII. The trailing dot counts: a-b comes before a.
func listingOrder(name string) string {
	labels := strings.Split(strings.TrimSuffix(strings.ReplaceAll(name, escapedAsterisk, "*"), "."), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "."
}

// setKey identifies a record set in a zone.
type setKey struct{ name, kind, id string }

func compareKeys(a, b setKey) int {
	return cmp.Or(cmp.Compare(listingOrder(a.name), listingOrder(b.name)), cmp.Compare(a.kind, b.kind),
		cmp.Compare(a.id, b.id))
}
