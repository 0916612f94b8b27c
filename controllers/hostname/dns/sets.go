package dns

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/controllers/cloud"
)

// IsRefused reports whether Route 53 refused the change batch: none of the changes was applied.
func IsRefused(err error) bool { return cloud.HasCode(err, "InvalidChangeBatch") }

// RefusalMessage returns Route 53's message for a refused change batch.
func RefusalMessage(err error) string {
	if batch, ok := errors.AsType[*types.InvalidChangeBatch](err); ok && len(batch.Messages) > 0 {
		return strings.Join(batch.Messages, "; ")
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return api.ErrorMessage()
	}
	return err.Error()
}

// Create returns the change that creates a set; it fails if a set of this name and type exists.
func Create(s Set) types.Change {
	return types.Change{Action: types.ChangeActionCreate, ResourceRecordSet: &s}
}

// Delete returns the change that deletes exactly this set as it was read; it fails if the set has changed.
func Delete(s Set) types.Change {
	return types.Change{Action: types.ChangeActionDelete, ResourceRecordSet: &s}
}

// Alias returns an A or AAAA alias record for a load balancer.
func Alias(name string, kind types.RRType, zone, target string) Set {
	return Set{Name: aws.String(name + "."), Type: kind, AliasTarget: &types.AliasTarget{
		HostedZoneId: &zone, DNSName: aws.String("dualstack." + canonicalTarget(target) + "."),
		EvaluateTargetHealth: false,
	}}
}

// Text returns a TXT record with one value.
func Text(name, value string) Set { return record(name, types.RRTypeTxt, `"`+value+`"`) }

// CNAME returns a CNAME record from name to target.
func CNAME(name, target string) Set {
	return record(name, types.RRTypeCname, dnsname.Canonical(target)+".")
}

// ttl of our records, in seconds: short, so that a mistake does not last.
const ttl = 300

func record(name string, kind types.RRType, value string) Set {
	return Set{Name: aws.String(name + "."), Type: kind, TTL: aws.Int64(ttl), ResourceRecords: []types.ResourceRecord{
		{Value: &value},
	}}
}

// OfType returns the first set of a type.
func OfType(sets []Set, kind types.RRType) (Set, bool) {
	for _, s := range sets {
		if s.Type == kind {
			return s, true
		}
	}
	return Set{}, false
}

// AllOfType returns the sets of a type: more than one for weighted and similar routing policies.
func AllOfType(sets []Set, kind types.RRType) []Set {
	return slices.DeleteFunc(slices.Clone(sets), func(s Set) bool { return s.Type != kind })
}

// Values returns the values of a set, without the quotes of TXT records.
func Values(s Set) []string {
	all := make([]string, 0, len(s.ResourceRecords))
	for _, r := range s.ResourceRecords {
		v := aws.ToString(r.Value)
		if s.Type == types.RRTypeTxt {
			v = strings.Trim(v, `"`)
		}
		all = append(all, v)
	}
	return all
}

// canonicalTarget returns a load balancer's DNS name for comparison: Route 53's console prepends dualstack.
func canonicalTarget(name string) string {
	return strings.TrimPrefix(dnsname.Canonical(name), "dualstack.")
}

// Same reports whether two sets resolve to the same answer.
func Same(a, b Set) bool {
	if dnsname.Canonical(aws.ToString(a.Name)) != dnsname.Canonical(aws.ToString(b.Name)) || a.Type != b.Type ||
		a.SetIdentifier != nil || b.SetIdentifier != nil {
		return false
	}
	if a.AliasTarget != nil && b.AliasTarget != nil {
		return aws.ToString(a.AliasTarget.HostedZoneId) == aws.ToString(b.AliasTarget.HostedZoneId) &&
			canonicalTarget(aws.ToString(a.AliasTarget.DNSName)) == canonicalTarget(
				aws.ToString(b.AliasTarget.DNSName)) &&
			a.AliasTarget.EvaluateTargetHealth == b.AliasTarget.EvaluateTargetHealth
	}
	if (a.AliasTarget == nil) != (b.AliasTarget == nil) {
		return false
	}
	return aws.ToInt64(a.TTL) == aws.ToInt64(b.TTL) && slices.Equal(Values(a), Values(b))
}

// SameTarget reports whether a CNAME points at target, with any TTL.
func SameTarget(s Set, target string) bool {
	v := Values(s)
	return len(v) == 1 && dnsname.Canonical(v[0]) == dnsname.Canonical(target)
}
