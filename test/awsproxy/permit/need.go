package permit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Need is a permission that a call needs: AWS judges each separately.
type Need struct {
	Action, Resource string
	Facts            Facts
	// Copied is true if AWS has copied the tags among the facts, rather than the caller having set them.
	Copied bool
	// Tags reads the resource's tags; nil if it does not exist yet, or its service has no such condition.
	Tags func(ctx context.Context) (tags map[string]string, found bool, err error)
	// MayBeNew is true if the call creates the resource; otherwise AWS first reports that it does not exist.
	MayBeNew bool
	// Denied replaces the service's response to a caller without the permission.
	Denied func() *wire.Reply
}

// Needs returns the permissions of a call, in the order in which AWS checks them. An unknown operation is an error, so
// that no call is served without a check.
type Needs func(ctx context.Context, x *wire.Exchange) ([]Need, error)

// Plain returns one permission on one resource whose tags do not matter.
func Plain(action, resource string) []Need { return []Need{{Action: action, Resource: resource}} }

// UnknownOperation returns the error of a call whose permissions are not defined here.
func UnknownOperation(x *wire.Exchange) error {
	return fmt.Errorf("%w of %s %s: add them from AWS's Service Authorization Reference", errUnknownOperation,
		x.Call.Service, x.Call.Operation)
}

var errUnknownOperation = errors.New("the proxy does not know the permissions")

// Message returns in AWS's words which caller lacks which permission.
func (n *Need) Message(x *wire.Exchange, because string) string {
	action := n.Action
	switch x.Call.Service {
	case "sqs":
		action = strings.ToLower(action)
	case "sns":
		action = strings.Replace(action, "sns:", "SNS:", 1)
	}
	resource := ""
	switch {
	case n.Resource == "*":
	case x.Protocol == wire.S3:
		resource = ` on resource: "` + n.Resource + `"`
	default:
		resource = " on resource: " + n.Resource
	}
	return "User: " + x.Identity() + " is not authorized to perform: " + action + resource + " " +
		strings.Replace(because, n.Action, action, 1)
}

// Unauthorized refuses the call with the error of its service.
func Unauthorized(x *wire.Exchange, n *Need, because string) *wire.Reply {
	message := n.Message(x, because)
	switch {
	case x.Protocol == wire.EC2:
		return x.Fail(http.StatusForbidden, "UnauthorizedOperation",
			"You are not authorized to perform this operation. "+message+". Encoded authorization failure message: "+
				rand.Text()+rand.Text())
	case x.Call.Service == "sqs":
		return x.Fail(http.StatusForbidden, "AccessDenied", message).QueryCode(x, "AccessDenied")
	case x.Call.Service == "sns":
		return x.Fail(http.StatusForbidden, "AuthorizationError", message)
	case x.Protocol == wire.JSON:
		return x.Fail(http.StatusBadRequest, "AccessDeniedException", message)
	case x.Protocol == wire.RESTJSON:
		return x.Fail(http.StatusForbidden, "AccessDeniedException", message)
	default:
		return x.Fail(http.StatusForbidden, "AccessDenied", message)
	}
}

// isRootsOwn reports whether the root user of the bucket's account may do it regardless of the policy, so that an
// account cannot lock itself out of its bucket: "PutBucketPolicy" of S3's reference.
func (n *Need) isRootsOwn(who iampolicy.Caller) bool {
	switch n.Action {
	case "s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy":
		return who.Root && !who.Foreign
	}
	return false
}
