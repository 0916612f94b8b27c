// Package availability decides whether a namespace could have a hostname, from the cluster's data: the namespace's
// grant, all claims and its own requests. It does not ask AWS about zones or certificates, which happens after the
// request.
package availability

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/hostnames"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// State is the result.
type State string

// The states.
const (
	Free       State = "free"
	Invalid    State = "invalid"    // no hostname at all
	NoGrant    State = "noGrant"    // the namespace has no grant
	NotGranted State = "notGranted" // this one is not granted, or not with this zone, visibility or environment
	Taken      State = "taken"      // another namespace has it
	Overlaps   State = "overlaps"   // another namespace has one that overlaps
	Yours      State = "yours"      // a request of the namespace has it, or asks for it
)

// Query is a hostname to check. Visibility and Environment have the defaults of the kind; an empty Zone is not checked.
type Query struct {
	Hostname, Zone, Visibility, Environment string
}

// Holder is a GatewayHostnameRequest.
type Holder struct{ Namespace, Name string }

// Claim is a hostname and who has or has requested it.
type Claim struct {
	Hostname, Visibility string
	Holder               Holder
}

// Facts are the data for an answer.
type Facts struct {
	Namespace string
	Grant     *v1alpha1.HostnameGrantSpec // nil: there is none
	Claims    []Claim                     // everybody's
	Requests  []Claim                     // the namespace's own, with or without a claim
}

// Answer says whether a hostname is available. Message is for users and names no other team.
type Answer struct {
	State    State
	Hostname string // in DNS notation, "" if it is invalid
	Message  string
	Field    string // of the request's spec that is the problem, "" if none does
	Holder   Holder // who has it; zero if it is free
}

// longest exceeds any hostname in any notation; longer ones are invalid.
const longest = 1024

// Check answers q. It does not look up the holder of a hostname that is not granted, because the caller must not learn
// it.
func Check(q Query, f Facts) Answer {
	if len(q.Hostname) > longest {
		return Answer{State: Invalid, Field: "hostname", Message: "it is far too long for a hostname"}
	}
	name, err := dnsname.Parse(q.Hostname)
	if err != nil {
		return Answer{State: Invalid, Field: "hostname", Message: err.Error()}
	}
	a := Answer{Hostname: name.String()}
	visibility := cmp.Or(v1alpha1.Visibility(q.Visibility), v1alpha1.InternetFacing)
	if f.Grant == nil {
		a.State, a.Field = NoGrant, "hostname"
		a.Message = "your team cannot have hostnames yet; ask a platform admin for a HostnameGrant"
		return a
	}
	field, why := hostnames.Refused(*f.Grant, v1alpha1.GatewayHostnameRequestSpec{
		ZoneID: v1alpha1.HostedZoneID(q.Zone), Visibility: visibility,
		Environment: cmp.Or(v1alpha1.Environment(q.Environment), v1alpha1.EnvironmentDev),
	}, name)
	if why != "" {
		a.State, a.Field = NotGranted, field
		a.Message = fmt.Sprintf("the HostnameGrant of %s does not allow this: %s. Choose another one, or ask a "+
			"platform admin to widen the grant", f.Namespace, why)
		return a
	}
	return a.among(f, name, string(visibility))
}

// among looks for the holder.
func (a Answer) among(f Facts, name dnsname.Name, visibility string) Answer {
	for _, c := range slices.Concat(f.Claims, f.Requests) {
		other, err := dnsname.Parse(c.Hostname)
		if err != nil || cmp.Or(c.Visibility, string(v1alpha1.InternetFacing)) != visibility {
			continue
		}
		clash, own := hostnames.Clash(name, other), c.Holder.Namespace == f.Namespace
		switch {
		case clash == "" || own && name != other: // a team may have a wildcard and names below it
			continue
		case own:
			a.State, a.Message = Yours,
				fmt.Sprintf("your team has asked for %s already; use that request, or delete it first", name)
		case name == other:
			a.State, a.Message = Taken,
				fmt.Sprintf("another team has %s; choose another hostname, or ask a platform admin whose it is", clash)
		default:
			a.State, a.Message = Overlaps,
				fmt.Sprintf("another team has %s; choose another hostname, or ask a platform admin whose it is", clash)
		}
		a.Field, a.Holder = "hostname", c.Holder
		return a
	}
	a.State, a.Message = Free, fmt.Sprintf("%s is free", name)
	return a
}
