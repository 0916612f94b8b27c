package route53

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/portico-platform/portico/test/awsproxy/elbv2"
)

// The limits of a batch; what an UPSERT has counts twice.
const (
	maxBatchRecords    = 1000
	maxBatchCharacters = 32000
	maxSetValues       = 400 // in one set
)

type change struct {
	Action string
	Set    recordSet `xml:"ResourceRecordSet"`
}

// records counts an alias as one.
func (c change) records() int {
	return c.times() * max(1, len(c.Set.ResourceRecords))
}

func (c change) times() int {
	if c.Action == "UPSERT" {
		return 2
	}
	return 1
}

func (c change) characters() int {
	n := 0
	for _, r := range c.Set.ResourceRecords {
		n += utf8.RuneCountInString(r.Value)
	}
	return c.times() * n
}

// tooMuch returns which limit the batch exceeds, or "".
func tooMuch(batch []change) string {
	records, characters := 0, 0
	for _, c := range batch {
		records += c.records()
		characters += c.characters()
	}
	switch {
	case records > maxBatchRecords:
		return fmt.Sprintf("Number of records limit of %d exceeded.", maxBatchRecords)
	case characters > maxBatchCharacters:
		return fmt.Sprintf("Number of characters limit of %d exceeded.", maxBatchCharacters)
	}
	return ""
}

// misshapen returns what is wrong with a change regardless of the zone's records, or "".
func (c change) misshapen() string {
	set := c.Set
	switch c.Action {
	case "CREATE", "UPSERT", "DELETE":
	default:
		return fmt.Sprintf("Invalid XML ; the value '%s' of element 'Action' is not valid.", c.Action)
	}
	if alias := set.AliasTarget; alias != nil && (alias.HostedZoneID == "" || alias.DNSName == "") {
		return "Invalid XML ; the elements 'HostedZoneId' and 'DNSName' of 'AliasTarget' must not be empty."
	} else if alias != nil && alias.EvaluateTargetHealth == nil {
		return "Invalid XML ; the content of element 'AliasTarget' is not complete: 'EvaluateTargetHealth' is expected."
	}
	plain := set.TTL != nil && len(set.ResourceRecords) > 0
	if plain != (set.AliasTarget == nil) ||
		(set.AliasTarget != nil && (set.TTL != nil || len(set.ResourceRecords) > 0)) {
		found := "none"
		if set.AliasTarget != nil {
			found = "more than one"
		}
		id := set.SetIdentifier
		if id == "" {
			id = "null"
		}
		return fmt.Sprintf("Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and "+
			"ResourceRecords], or TrafficPolicyInstanceId], but found %s in Change with [Action=%s, Name=%s, "+
			"Type=%s, SetIdentifier=%s]",
			found, c.Action, set.Name, set.Type, id)
	}
	return ""
}

// badValues returns what is wrong with the values of a set.
func badValues(set recordSet) []string {
	var problems []string
	if len(set.ResourceRecords) > maxSetValues {
		problems = append(problems, fmt.Sprintf("Number of records per resource record set limit of %d exceeded.",
			maxSetValues))
	}
	seen := map[string]bool{}
	for _, r := range set.ResourceRecords {
		if seen[r.Value] {
			problems = append(problems, fmt.Sprintf("Duplicate Resource Record: '%s'", r.Value))
		}
		seen[r.Value] = true
		if why := badValue(set.Type, r.Value); why != "" {
			problems = append(problems,
				fmt.Sprintf("Invalid Resource Record: 'FATAL problem: %s encountered with '%s''", why, r.Value))
		}
	}
	return append(problems, badAlias(set)...)
}

func badValue(kind, value string) string {
	switch kind {
	case "A":
		if ip, err := netip.ParseAddr(value); err != nil || !ip.Is4() {
			return "ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address)"
		}
	case "AAAA":
		if ip, err := netip.ParseAddr(value); err != nil || !ip.Is6() {
			return "AAAARRDATAIllegalIPv6Address (Value is not a valid IPv6 address)"
		}
	case "TXT", "SPF":
		return badText(value)
	}
	return ""
}

var (
	quotedStrings = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"(?:\s+"(?:[^"\\]|\\.)*")*$`)
	quotedString  = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`)
	escaped       = regexp.MustCompile(`\\(?:[0-7]{3}|.)`)
)

func badText(value string) string {
	if !quotedStrings.MatchString(value) {
		return "InvalidCharacterString (Value should be enclosed in quotation marks)"
	}
	for _, m := range quotedString.FindAllStringSubmatch(value, -1) {
		if len(escaped.ReplaceAllString(m[1], "x")) > 255 {
			return "CharacterStringTooLong (Value is too long)"
		}
	}
	return ""
}

// badAlias refuses an alias to a load balancer in a hosted zone that is not that of load balancers in its region.
func badAlias(set recordSet) []string {
	if set.AliasTarget == nil {
		return nil
	}
	if zone := elbv2.BalancerZone(set.AliasTarget.DNSName); zone == "" || zone == set.AliasTarget.HostedZoneID {
		return nil
	}
	return []string{fmt.Sprintf("Tried to create an alias that targets %s, type %s in zone %s, but the alias target "+
		"name does not lie within the target zone",
		set.AliasTarget.DNSName, set.Type, set.AliasTarget.HostedZoneID)}
}

// badName returns what is wrong with a name, or "".
func badName(name string) string {
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		switch n := len(escaped.ReplaceAllString(label, "x")); {
		case n == 0:
			return fmt.Sprintf("FATAL problem: DomainLabelEmpty (Domain label is empty) encountered with '%s'", name)
		case n > 63:
			return fmt.Sprintf("FATAL problem: DomainLabelTooLong (Domain label is too long) encountered with '%s'",
				label)
		}
	}
	if len(name) > 255 {
		return fmt.Sprintf("FATAL problem: DomainNameTooLong (Domain name is too long) encountered with '%s'", name)
	}
	return ""
}
