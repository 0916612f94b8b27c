// Package permit judges whether a call is permitted: by the policies of the caller's role, and by that of the resource.
// It also has what services share about policies. Package iampolicy evaluates single policies.
package permit

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Judge judges calls as IAM does: by the policies of the caller's role, and by that of the resource.
type Judge struct {
	roles    *Roles
	now      func() time.Time
	policyOf PolicyFinder
	// OwnerOf returns the account that has a bucket; "" if there is none.
	OwnerOf func(ctx context.Context, x *wire.Exchange, bucket string) (string, error)
	// Uncounted reports whether the tags that AWS copies do not count as tags of the request.
	Uncounted func() bool
}

// NewJudge returns a judge by the policies of roles and resources.
func NewJudge(roles *Roles, now func() time.Time, policyOf PolicyFinder) *Judge {
	return &Judge{roles: roles, now: now, policyOf: policyOf}
}

// Decider judges one permission. Missing is true if it depends on the tags of a resource that does not exist.
type Decider func(ctx context.Context, x *wire.Exchange, n *Need) (d iampolicy.Decision, missing bool, err error)

// PolicyFinder returns the policy of a resource by its ARN; nil if it has none.
type PolicyFinder func(ctx context.Context, arn string) (*iampolicy.ResourcePolicy, error)

// Judge refuses a call that the policies of the caller's role, or that of the resource, do not allow; of returns the
// permissions of the call, in the order in which AWS checks them. For the root user of an account only the resources'
// policies count.
func (p *Judge) Judge(ctx context.Context, x *wire.Exchange, of Needs) (*wire.Reply, error) {
	if x.Caller == nil && (!governed[x.Call.Service] || x.Call.Account == "") {
		return nil, nil
	}
	all, err := of(ctx, x)
	if x.Caller == nil && !x.Foreign() && errors.Is(err, errUnknownOperation) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range all {
		d, missing, err := p.Decide(ctx, x, &all[i])
		switch {
		case err != nil:
			return nil, err
		case missing:
			return nil, nil // moto reports it
		case d.Allowed:
		case all[i].Denied != nil:
			return all[i].Denied(), nil
		default:
			return Unauthorized(x, &all[i], d.Because()), nil
		}
	}
	return nil, nil
}

// Decide judges one permission, as a Decider.
func (p *Judge) Decide(ctx context.Context, x *wire.Exchange, n *Need) (d iampolicy.Decision, missing bool, err error) {
	var policies iampolicy.Policies
	if x.Caller != nil {
		p.roles.ask(x.Caller.Role, n.Action)
		if policies, err = p.roles.of(ctx, x.Caller); err != nil {
			return iampolicy.Decision{}, false, err
		}
	}
	on, who, err := p.policyFor(ctx, x, n)
	if err != nil || n.isRootsOwn(who) {
		return iampolicy.Decision{Allowed: err == nil}, false, err
	}
	tags := resourceTags{need: n, known: p.known(x, n)}
	d = policies.DecideOn(iampolicy.Request{
		Action: n.Action, Resource: n.Resource,
		Context: func(key string) []string { return tags.values(ctx, key) },
	}, on, who)
	x.Admitted = x.Admitted || who.Foreign && d.Allowed
	return d, tags.missing && !d.Allowed, tags.err
}

// resourceTags are the values of condition keys, and of the resource's tags once they are needed.
type resourceTags struct {
	need    *Need
	known   Facts
	loaded  bool
	missing bool // the resource does not exist
	err     error
}

func (t *resourceTags) values(ctx context.Context, key string) []string {
	if t.need.Tags != nil && !t.loaded && strings.HasPrefix(key, "aws:resourcetag/") {
		t.loaded = true
		tags, found, err := t.need.Tags(ctx)
		t.err, t.missing = err, err == nil && !found && !t.need.MayBeNew
		for name, value := range tags {
			t.known.With("aws:ResourceTag/"+name, value)
		}
	}
	return t.known[key]
}

// known returns the condition values that need no call.
func (p *Judge) known(x *wire.Exchange, n *Need) Facts {
	f := transport(x)
	if x.Caller != nil {
		for key, value := range x.Caller.Tags {
			f.With("aws:PrincipalTag/"+key, value)
		}
	}
	if !n.Copied || !p.Uncounted() {
		maps.Copy(f, n.Facts)
	}
	parts := strings.SplitN(n.Resource, ":", 6)
	if len(parts) == 6 {
		f.With("aws:ResourceAccount", cmp.Or(parts[4], x.Call.Account))
	}
	arn, kind := x.RootARN(), "Account"
	if x.Caller != nil {
		arn, kind = x.Caller.Role, "AssumedRole"
	}
	return f.With("aws:PrincipalArn", arn).With("aws:PrincipalAccount", x.Call.Account).With("aws:PrincipalType", kind).
		With("aws:RequestedRegion", x.Call.Region).With("aws:CurrentTime", p.now().UTC().Format(time.RFC3339))
}

// governed are the services whose resources have policies, which also limit the root user of an account.
var governed = map[string]bool{"s3": true, "s3control": true, "sqs": true, "sns": true, "kms": true}

// policyFor returns the policy of the resource of a need, and the caller as that policy sees it.
func (p *Judge) policyFor(ctx context.Context, x *wire.Exchange, n *Need) (
	*iampolicy.ResourcePolicy, iampolicy.Caller, error,
) {
	names := wire.Identities(x.Caller, wire.Partition(x.Call.Region), x.Call.Account)
	who := iampolicy.Caller{Names: names, Root: x.Caller == nil}
	id := wire.SplitARN(n.Resource)
	alias := strings.HasPrefix(id.Resource, "alias/") // of a key: only identities have permissions on it
	if !governed[id.Service] || alias || n.Action == "s3:CreateBucket" || x.Call.Operation == "CreateBucket" {
		return nil, who, nil
	}
	owner := id.Account
	about := n.Resource
	if id.Service == "s3" {
		bucket, _, _ := strings.Cut(id.Resource, "/")
		about = x.GlobalARN("s3", "", bucket)
		var err error
		if owner, err = p.OwnerOf(ctx, x, bucket); err != nil {
			return nil, who, err
		}
	}
	who.Foreign = owner != "" && owner != x.Call.Account
	who.ByPolicy = id.Service == "kms"
	on, known := x.Policies[about]
	if !known {
		var err error
		if on, err = p.policyOf(ctx, about); err != nil {
			return nil, who, err
		}
		if x.Policies == nil {
			x.Policies = map[string]*iampolicy.ResourcePolicy{}
		}
		x.Policies[about] = on
	}
	return on, who, nil
}
