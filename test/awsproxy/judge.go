package awsproxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// need is a permission that a call needs: AWS judges each separately.
type need struct {
	action, resource string
	facts            facts
	// copied is true if AWS has copied the tags among the facts, rather than the caller having set them.
	copied bool
	// tags reads the resource's tags; nil if it does not exist yet, or its service has no such condition.
	tags func(ctx context.Context) (tags map[string]string, found bool, err error)
	// mayBeNew is true if the call creates the resource; otherwise AWS first reports that it does not exist.
	mayBeNew bool
	// denied replaces the service's response to a caller without the permission.
	denied func() *reply
}

// decider judges one permission. Missing is true if it depends on the tags of a resource that does not exist.
type decider func(ctx context.Context, x *exchange, n *need) (d iampolicy.Decision, missing bool, err error)

// policyFinder returns the policy of a resource by its ARN; nil if it has none.
type policyFinder func(ctx context.Context, arn string) (*iampolicy.ResourcePolicy, error)

// permissionJudge judges calls as IAM does: by the policies of the caller's role, and by that of the resource.
type permissionJudge struct {
	roles    *roles
	now      func() time.Time
	policyOf policyFinder
	// ownerOf returns the account that has a bucket; "" if there is none.
	ownerOf func(ctx context.Context, x *exchange, bucket string) (string, error)
	// uncounted reports whether the tags that AWS copies do not count as tags of the request.
	uncounted func() bool
}

// newPermissionJudge returns a judge by the policies of roles and resources.
func newPermissionJudge(roles *roles, now func() time.Time, policyOf policyFinder) *permissionJudge {
	return &permissionJudge{roles: roles, now: now, policyOf: policyOf}
}

// judge refuses a call that the policies of the caller's role, or that of the resource, do not allow; of returns the
// permissions of the call, in the order in which AWS checks them. For the root user of an account only the resources'
// policies count.
func (p *permissionJudge) judge(ctx context.Context, x *exchange, of needs) (*reply, error) {
	if x.caller == nil && (!governed[x.call.Service] || x.call.Account == "") {
		return nil, nil
	}
	all, err := of(ctx, x)
	if x.caller == nil && !x.foreign() && errors.Is(err, errUnknownOperation) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range all {
		d, missing, err := p.decide(ctx, x, &all[i])
		switch {
		case err != nil:
			return nil, err
		case missing:
			return nil, nil // moto reports it
		case d.Allowed:
		case all[i].denied != nil:
			return all[i].denied(), nil
		default:
			return unauthorized(x, &all[i], d.Because()), nil
		}
	}
	return nil, nil
}

// decide is the decider.
func (p *permissionJudge) decide(ctx context.Context, x *exchange, n *need) (d iampolicy.Decision, missing bool, err error) {
	var policies iampolicy.Policies
	if x.caller != nil {
		p.roles.ask(x.caller.role, n.action)
		if policies, err = p.roles.of(ctx, x.caller); err != nil {
			return iampolicy.Decision{}, false, err
		}
	}
	on, who, err := p.policyFor(ctx, x, n)
	if err != nil || n.isRootsOwn(who) {
		return iampolicy.Decision{Allowed: err == nil}, false, err
	}
	tags := resourceTags{need: n, known: p.known(x, n)}
	d = policies.DecideOn(iampolicy.Request{
		Action: n.action, Resource: n.resource,
		Context: func(key string) []string { return tags.values(ctx, key) },
	}, on, who)
	x.admitted = x.admitted || who.Foreign && d.Allowed
	return d, tags.missing && !d.Allowed, tags.err
}

// resourceTags are the values of condition keys, and of the resource's tags once they are needed.
type resourceTags struct {
	need    *need
	known   facts
	loaded  bool
	missing bool // the resource does not exist
	err     error
}

func (t *resourceTags) values(ctx context.Context, key string) []string {
	if t.need.tags != nil && !t.loaded && strings.HasPrefix(key, "aws:resourcetag/") {
		t.loaded = true
		tags, found, err := t.need.tags(ctx)
		t.err, t.missing = err, err == nil && !found && !t.need.mayBeNew
		for name, value := range tags {
			t.known.with("aws:ResourceTag/"+name, value)
		}
	}
	return t.known[key]
}

// known returns the condition values that need no call.
func (p *permissionJudge) known(x *exchange, n *need) facts {
	f := transport(x)
	if x.caller != nil {
		for key, value := range x.caller.tags {
			f.with("aws:PrincipalTag/"+key, value)
		}
	}
	if !n.copied || !p.uncounted() {
		maps.Copy(f, n.facts)
	}
	parts := strings.SplitN(n.resource, ":", 6)
	if len(parts) == 6 {
		f.with("aws:ResourceAccount", cmp.Or(parts[4], x.call.Account))
	}
	arn, kind := x.rootARN(), "Account"
	if x.caller != nil {
		arn, kind = x.caller.role, "AssumedRole"
	}
	return f.with("aws:PrincipalArn", arn).with("aws:PrincipalAccount", x.call.Account).with("aws:PrincipalType", kind).
		with("aws:RequestedRegion", x.call.Region).with("aws:CurrentTime", p.now().UTC().Format(time.RFC3339))
}

// untagging adds the keys of tags that a request names.
func (f facts) untagging(keys iter.Seq[string]) facts {
	return f.with("aws:TagKeys", slices.Sorted(keys)...)
}

// plainNeed returns one permission on one resource whose tags do not matter.
func plainNeed(action, resource string) []need { return []need{{action: action, resource: resource}} }

// unknownOperation returns the error of a call whose permissions are not defined here.
func unknownOperation(x *exchange) error {
	return fmt.Errorf("%w of %s %s: add them from AWS's Service Authorization Reference", errUnknownOperation,
		x.call.Service, x.call.Operation)
}

var errUnknownOperation = errors.New("the proxy does not know the permissions")

// partition returns the AWS partition of a region.
func partition(region string) string {
	for prefix, name := range map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "eusc-": "aws-eusc"} {
		if strings.HasPrefix(region, prefix) {
			return name
		}
	}
	return "aws"
}

// arn returns the ARN of a resource in the call's account and region.
func (x *exchange) arn(service, resource string) string {
	return strings.Join([]string{"arn", partition(x.call.Region), service, x.call.Region, x.call.Account, resource},
		":")
}

// globalARN returns the ARN of a resource without a region, or without an account either.
func (x *exchange) globalARN(service, account, resource string) string {
	return strings.Join([]string{"arn", partition(x.call.Region), service, "", account, resource}, ":")
}

// message returns in AWS's words which caller lacks which permission.
func (n *need) message(x *exchange, because string) string {
	action := n.action
	switch x.call.Service {
	case "sqs":
		action = strings.ToLower(action)
	case "sns":
		action = strings.Replace(action, "sns:", "SNS:", 1)
	}
	resource := ""
	switch {
	case n.resource == "*":
	case x.protocol == protoS3:
		resource = ` on resource: "` + n.resource + `"`
	default:
		resource = " on resource: " + n.resource
	}
	return "User: " + x.identity() + " is not authorized to perform: " + action + resource + " " +
		strings.Replace(because, n.action, action, 1)
}

// unauthorized refuses the call with the error of its service.
func unauthorized(x *exchange, n *need, because string) *reply {
	message := n.message(x, because)
	switch {
	case x.protocol == protoEC2:
		return x.fail(http.StatusForbidden, "UnauthorizedOperation",
			"You are not authorized to perform this operation. "+message+". Encoded authorization failure message: "+
				rand.Text()+rand.Text())
	case x.call.Service == "sqs":
		return x.fail(http.StatusForbidden, "AccessDenied", message).queryCode(x, "AccessDenied")
	case x.call.Service == "sns":
		return x.fail(http.StatusForbidden, "AuthorizationError", message)
	case x.protocol == protoJSON:
		return x.fail(http.StatusBadRequest, "AccessDeniedException", message)
	case x.protocol == protoRESTJSON:
		return x.fail(http.StatusForbidden, "AccessDeniedException", message)
	default:
		return x.fail(http.StatusForbidden, "AccessDenied", message)
	}
}
