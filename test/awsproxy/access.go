package awsproxy

import (
	"cmp"
	"context"
	"net"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// PlainHTTPHeader is a header that makes a call to Proxy.Workload or Proxy.Outside count as one without TLS. All other
// calls count as calls with TLS: the proxy stands in for AWS's HTTPS endpoints, which tests and `make run` reach
// without it.
const PlainHTTPHeader = "X-Portico-Plain-Http"

// transport returns the values of condition keys about the connection. It returns none for the calls of the Pod
// Identity Agent, which did not come in over one.
func transport(x *exchange) facts {
	f := facts{}.with("aws:PrincipalIsAWSService", "false").with("aws:ViaAWSService",
		"false").with("aws:SecureTransport", "true")
	if x.in == nil {
		return f
	}
	if x.call.Actor != Operator && x.in.Header.Get(PlainHTTPHeader) != "" {
		f.with("aws:SecureTransport", "false")
	}
	if agent := x.in.UserAgent(); agent != "" {
		f.with("aws:UserAgent", agent)
	}
	if host, _, err := net.SplitHostPort(x.in.RemoteAddr); err == nil {
		f.with("aws:SourceIp", host)
	}
	return f
}

// account returns the account that owns the resource of the call: the caller's, unless the call names another one.
func (x *exchange) account() string { return cmp.Or(x.owner, x.call.Account) }

// foreign reports whether the call names a queue or topic of another account.
func (x *exchange) foreign() bool { return x.account() != x.call.Account }

// namedOwner returns the account in the queue's URL, or the topic's ARN; "" if there is none.
func namedOwner(x *exchange) string {
	switch x.call.Service {
	case "sqs":
		if account, _ := queueOf(x); accountNumber.MatchString(account) {
			return account
		}
	case "sns":
		for _, name := range []string{"TopicArn", "ResourceArn", "TargetArn", "SubscriptionArn"} {
			if account := splitARN(x.form.Get(name)).account; accountNumber.MatchString(account) {
				return account
			}
		}
	case "kms":
		key, _ := x.json["KeyId"].(string)
		return splitARN(key).account
	}
	return ""
}

// rootARN returns the ARN of the root user of the caller's account.
func (x *exchange) rootARN() string { return x.globalARN("iam", x.call.Account, "root") }

// identity returns the caller's ARN.
func (x *exchange) identity() string {
	if x.caller == nil {
		return x.rootARN()
	}
	return x.caller.arn
}

// policyFor returns the policy of the resource of a need, and the caller as that policy sees it.
func (p *permissionJudge) policyFor(ctx context.Context, x *exchange, n *need) (*iampolicy.ResourcePolicy, iampolicy.Caller, error) {
	who := iampolicy.Caller{Names: identities(x.caller, partition(x.call.Region), x.call.Account), Root: x.caller == nil}
	id := splitARN(n.resource)
	alias := strings.HasPrefix(id.resource, "alias/") // of a key: only identities have permissions on it
	if !governed[id.service] || alias || n.action == "s3:CreateBucket" || x.call.Operation == "CreateBucket" {
		return nil, who, nil
	}
	owner := id.account
	about := n.resource
	if id.service == "s3" {
		bucket, _, _ := strings.Cut(id.resource, "/")
		about = x.globalARN("s3", "", bucket)
		var err error
		if owner, err = p.ownerOf(ctx, x, bucket); err != nil {
			return nil, who, err
		}
	}
	who.Foreign = owner != "" && owner != x.call.Account
	who.ByPolicy = id.service == "kms"
	on, known := x.policies[about]
	if !known {
		var err error
		if on, err = p.policyOf(ctx, about); err != nil {
			return nil, who, err
		}
		if x.policies == nil {
			x.policies = map[string]*iampolicy.ResourcePolicy{}
		}
		x.policies[about] = on
	}
	return on, who, nil
}

// isRootsOwn reports whether the root user of the bucket's account may do it regardless of the policy, so that an
// account cannot lock itself out of its bucket: "PutBucketPolicy" of S3's reference.
func (n *need) isRootsOwn(who iampolicy.Caller) bool {
	switch n.action {
	case "s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy":
		return who.Root && !who.Foreign
	}
	return false
}

// resourceARN returns the ARN of a resource in the account that the call is about.
func (x *exchange) resourceARN(service, resource string) string {
	return strings.Join([]string{"arn", partition(x.call.Region), service, x.call.Region, x.account(), resource}, ":")
}
