package ec2

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// DelayProfiles makes EC2 report to the operator, for d after IAM has created an instance profile, that it does not
// exist: IAM's guide says that its changes "are not always immediately visible", and two minutes are usual for
// profiles. 0 ends it.
func (s *Service) DelayProfiles(d time.Duration) { s.profiles.delay.Store(int64(d)) }

// profileNews finds the age of instance profiles by asking IAM.
type profileNews struct {
	upstream *wire.Upstream
	now      func() time.Time
	delay    atomic.Int64
}

var createDate = regexp.MustCompile(`<CreateDate>([^<]+)</CreateDate>`)

// deny refuses a call that gives an instance a profile that is not visible to EC2 yet.
func (n *profileNews) deny(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	name := x.Form.Get("IamInstanceProfile.Name")
	if arn := x.Form.Get("IamInstanceProfile.Arn"); arn != "" {
		name = arn[strings.LastIndex(arn, "/")+1:]
	}
	delay := time.Duration(n.delay.Load())
	if name == "" || delay == 0 || x.Call.Actor != wire.Operator {
		return nil, nil
	}
	r, err := n.upstream.AskForm(ctx, x, "iam", url.Values{
		"Action": {"GetInstanceProfile"}, "Version": {"2010-05-08"},
		"InstanceProfileName": {name},
	})
	if err != nil {
		return nil, err
	}
	m := createDate.FindSubmatch(r.Body)
	if m == nil {
		return nil, nil
	}
	made, err := time.Parse(time.RFC3339, string(m[1]))
	if err != nil || n.now().Sub(made) >= delay {
		return nil, err
	}
	return invalidProfile(x), nil
}

// noProfile turns moto's error about a missing instance profile into EC2's.
func noProfile(x *wire.Exchange, r *wire.Reply) *wire.Reply {
	if wire.ErrorCode(r) != "NoSuchEntity" {
		return r
	}
	if refused := invalidProfile(x); refused != nil {
		return refused
	}
	return r
}

// invalidProfile refuses the instance profile of the call; nil if the call has none.
func invalidProfile(x *wire.Exchange) *wire.Reply {
	for _, parameter := range []struct{ name, path, what string }{
		{"IamInstanceProfile.Name", "iamInstanceProfile.name", "name"},
		{"IamInstanceProfile.Arn", "iamInstanceProfile.arn", "ARN"},
	} {
		if value := x.Form.Get(parameter.name); value != "" {
			return x.Fail(http.StatusBadRequest, "InvalidParameterValue",
				"Value ("+value+") for parameter "+parameter.path+" is invalid. Invalid IAM Instance Profile "+
					parameter.what)
		}
	}
	return nil
}
