package catalog

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Unit is the unit of a number, "" if it has none.
type Unit string

// The units of our kinds' fields.
const (
	Seconds  Unit = "seconds"
	Days     Unit = "days"
	GiB      Unit = "GiB"
	MiBs     Unit = "MiB/s"
	Bytes    Unit = "bytes"
	Percent  Unit = "%"
	Cores    Unit = "cores"  // a Kubernetes quantity
	Capacity Unit = "memory" // a Kubernetes quantity, in bytes
)

// quantity is the format of Kubernetes quantities.
const quantity = "quantity"

// unitOf derives a field's unit from its name and its description.
func unitOf(f Field) Unit {
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(f.Help), w) })
	}
	switch {
	case f.Format == quantity && says("in cores"):
		return Cores
	case f.Format == quantity:
		return Capacity
	case f.Type != Integer:
		return ""
	case strings.HasSuffix(f.Name, "Seconds") || says("in seconds"):
		return Seconds
	case strings.HasSuffix(f.Name, "Days") || f.Name == "days" || says("how many days"):
		return Days
	case says("in gib"):
		return GiB
	case says("in mib/s"):
		return MiBs
	case says("in bytes"):
		return Bytes
	case says("in percent"):
		return Percent
	}
	return ""
}

// worth is the size of unit names, all in lower case, in each unit.
var worth = map[Unit]map[string]int64{
	Seconds: {"s": 1, "sec": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600, "d": 86400, "day": 86400, "days": 86400},
	Days:    {"d": 1, "day": 1, "days": 1, "w": 7, "week": 7, "weeks": 7, "year": 365, "years": 365},
	GiB:     {"gi": 1, "gib": 1, "ti": 1024, "tib": 1024},
	MiBs:    {"mib/s": 1, "mi/s": 1},
	Bytes:   {"b": 1, "byte": 1, "bytes": 1, "ki": 1 << 10, "kib": 1 << 10, "mi": 1 << 20, "mib": 1 << 20},
	Percent: {"%": 1, "percent": 1},
}

// Example returns an example value for a hint, or "" without a unit.
func (u Unit) Example() string {
	return map[Unit]string{
		Seconds: "45, 45s, 5m or 2h", Days: "30 or 2 weeks", GiB: "20, 20 GiB or 1 TiB", MiBs: "250",
		Bytes:   "262144 or 256 KiB",
		Percent: "80", Cores: "250m or 2", Capacity: "256Mi or 2Gi",
	}[u]
}

// wants returns what must be entered.
func (u Unit) wants() string {
	if u == "" {
		return "must be a whole number, such as 30"
	}
	return "must be a whole number of " + string(u) + ", such as " + u.Example()
}

// Suggestions returns usual quantities, or nil if the unit has none.
func (u Unit) Suggestions() []string {
	return map[Unit][]string{
		Cores: {"100m", "250m", "500m", "1", "2", "4"}, Capacity: {"128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi"},
	}[u]
}

var amount = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z%/]+)$`)

// count converts 5m of seconds to 300. Text without a unit, or with an unknown one, stays unchanged.
func (u Unit) count(text string) string {
	m := amount.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	each, ok := worth[u][strings.ToLower(m[2])]
	n, isNumber := new(big.Rat).SetString(m[1])
	if !ok || !isNumber {
		return text
	}
	if n.Mul(n, new(big.Rat).SetInt64(each)); !n.IsInt() {
		return text
	}
	return n.Num().String()
}

var loose = regexp.MustCompile(`^\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGTPE]i|[mkMGTPE])B?\s*$`)

// spelling writes a quantity as Kubernetes does: 20 GiB becomes 20Gi. Any other text stays unchanged, and the API
// server refuses it with a message at the field.
func spelling(text string) string { return loose.ReplaceAllString(text, "$1$2") }
