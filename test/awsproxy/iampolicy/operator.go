package iampolicy

import (
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// arnParts is how many parts an ARN has.
const arnParts = 6

// operator compares a value of the call with one of the document.
type operator struct {
	compare func(have string, want pattern) bool
	valid   func(want string) bool // for the document's values; nil accepts any
	negated bool
	null    bool // it tests whether there is a value
}

// operators by name, without ForAllValues:, ForAnyValue: and IfExists.
var operators = map[string]operator{
	"Null": {compare: equalFold, valid: isBool, null: true},
	"Bool": {compare: equalFold, valid: isBool},

	"StringEquals": {compare: equal}, "StringNotEquals": {compare: equal, negated: true},
	"StringEqualsIgnoreCase": {compare: equalFold}, "StringNotEqualsIgnoreCase": {compare: equalFold, negated: true},
	"StringLike": {compare: like}, "StringNotLike": {compare: like, negated: true},

	"ArnEquals": {compare: arnLike}, "ArnNotEquals": {compare: arnLike, negated: true},
	"ArnLike": {compare: arnLike}, "ArnNotLike": {compare: arnLike, negated: true},

	"NumericEquals":            numeric(func(order int) bool { return order == 0 }),
	"NumericNotEquals":         not(numeric(func(order int) bool { return order == 0 })),
	"NumericLessThan":          numeric(func(order int) bool { return order < 0 }),
	"NumericLessThanEquals":    numeric(func(order int) bool { return order <= 0 }),
	"NumericGreaterThan":       numeric(func(order int) bool { return order > 0 }),
	"NumericGreaterThanEquals": numeric(func(order int) bool { return order >= 0 }),

	"DateEquals":            date(func(order int) bool { return order == 0 }),
	"DateNotEquals":         not(date(func(order int) bool { return order == 0 })),
	"DateLessThan":          date(func(order int) bool { return order < 0 }),
	"DateLessThanEquals":    date(func(order int) bool { return order <= 0 }),
	"DateGreaterThan":       date(func(order int) bool { return order > 0 }),
	"DateGreaterThanEquals": date(func(order int) bool { return order >= 0 }),

	"BinaryEquals": {compare: equal, valid: isBase64},
	"IpAddress":    {compare: inNetwork, valid: isNetwork}, "NotIpAddress": {compare: inNetwork, valid: isNetwork, negated: true},
}

func not(o operator) operator {
	o.negated = true
	return o
}

func equal(have string, want pattern) bool { return have == want.text() }

func equalFold(have string, want pattern) bool { return strings.EqualFold(have, want.text()) }

func like(have string, want pattern) bool { return want.matches(have) }

// arnLike compares each of the six parts of an ARN separately.
func arnLike(have string, want pattern) bool {
	parts, patterns := strings.SplitN(have, ":", arnParts), want.split()
	if len(parts) != arnParts || len(patterns) != arnParts {
		return false
	}
	for i, p := range patterns {
		if !p.matches(parts[i]) {
			return false
		}
	}
	return true
}

// numeric compares numbers; what is not a number matches nothing.
func numeric(holds func(order int) bool) operator {
	return operator{
		valid: func(want string) bool { _, err := strconv.ParseFloat(want, 64); return err == nil },
		compare: func(have string, want pattern) bool {
			a, errA := strconv.ParseFloat(have, 64)
			b, errB := strconv.ParseFloat(want.text(), 64)
			return errA == nil && errB == nil && holds(order(a < b, a > b))
		},
	}
}

// date compares times, in ISO 8601 or in seconds since 1970.
func date(holds func(order int) bool) operator {
	return operator{
		valid: func(want string) bool { _, ok := readTime(want); return ok },
		compare: func(have string, want pattern) bool {
			a, okA := readTime(have)
			b, okB := readTime(want.text())
			return okA && okB && holds(order(a.Before(b), a.After(b)))
		},
	}
}

func order(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	default:
		return 0
	}
}

func readTime(text string) (time.Time, bool) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && len(text) > 4 {
		return time.Unix(seconds, 0), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func isBool(want string) bool {
	return strings.EqualFold(want, "true") || strings.EqualFold(want, "false")
}

func isBase64(want string) bool {
	_, err := base64.StdEncoding.DecodeString(want)
	return err == nil
}

func isNetwork(want string) bool {
	_, ok := network(want)
	return ok
}

// network parses an address or a network; an address becomes a network of one address.
func network(text string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p, true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

func inNetwork(have string, want pattern) bool {
	address, err := netip.ParseAddr(have)
	of, ok := network(want.text())
	return err == nil && ok && of.Contains(address)
}
