package awsproxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// signedFor is how long AWS accepts a signature, unless a presigned URL specifies its expiry.
const signedFor = 15 * time.Minute

const amzTime = "20060102T150405Z"

// readScope reads the Authorization header, or a presigned URL's parameters;
// without either it returns the zero scope.
func readScope(r *http.Request) wire.Scope {
	query := r.URL.Query()
	credential, date := query.Get("X-Amz-Credential"), query.Get("X-Amz-Date")
	s := wire.Scope{Valid: signedFor}
	if seconds, err := strconv.Atoi(query.Get("X-Amz-Expires")); err == nil {
		s.Valid = time.Duration(seconds) * time.Second
	}
	s.Token = query.Get("X-Amz-Security-Token") != "" || r.Header.Get("X-Amz-Security-Token") != ""
	if auth, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 "); ok {
		date, credential = r.Header.Get("X-Amz-Date"), ""
		for field := range strings.SplitSeq(auth, ",") {
			if c, ok := strings.CutPrefix(strings.TrimSpace(field), "Credential="); ok {
				credential = c
			}
		}
	}
	parts := strings.Split(credential, "/")
	if len(parts) < 5 {
		return wire.Scope{}
	}
	tail := parts[len(parts)-4:]
	s.Key = strings.Join(parts[:len(parts)-4], "/")
	s.Region, s.Service = tail[1], tail[2]
	s.Signed, _ = time.Parse(amzTime, date) // an unreadable date counts as expired
	return s
}

// authenticate fills in the account, or returns the refusal.
func (p *Proxy) authenticate(ctx context.Context, x *wire.Exchange) *wire.Reply {
	refuse := func(r *wire.Reply) *wire.Reply {
		x.Call.Status, x.Call.ErrorCode = r.Status, wire.ErrorCode(r)
		return r
	}
	if x.Scope.Key == "" {
		if unsigned[x.Call.Operation] {
			return nil
		}
		return refuse(x.Unsigned())
	}
	if age := p.now().Sub(x.Scope.Signed); age > x.Scope.Valid || age < -signedFor {
		return refuse(x.SignedTooLongAgo())
	}
	account, err := p.keys.account(ctx, x.Scope)
	if err != nil {
		return refuse(badKey(x, err))
	}
	x.Call.Account, x.Caller = account, p.keys.caller(x.Scope.Key)
	x.Owner = namedOwner(x)
	p.NoteUse(x.Caller, p.now(), x.Scope.Region)
	if p.regions.isOff(account, x.Scope.Region) {
		return refuse(unknownInRegion(x))
	}
	return nil
}

// unsigned are the calls, all to STS, that carry another kind of proof than a signature.
var unsigned = map[string]bool{"AssumeRoleWithWebIdentity": true, "AssumeRoleWithSAML": true}

// badKey refuses a key for the keyring's reason.
func badKey(x *wire.Exchange, reason error) *wire.Reply {
	switch {
	case errors.Is(reason, errExpiredKey):
		return x.ExpiredKey()
	case !errors.Is(reason, errUnknownKey):
		return x.Fail(http.StatusInternalServerError, wire.InternalErrorCode(x), reason.Error())
	}
	const message = "The security token included in the request is invalid."
	switch x.Protocol {
	case wire.S3:
		return x.Fail(http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist "+
			"in our records.")
	case wire.EC2:
		return x.Fail(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access "+
			"credentials")
	case wire.JSON:
		return x.Fail(http.StatusBadRequest, "UnrecognizedClientException", message).QueryCode(
			x, "InvalidClientTokenId")
	case wire.RESTJSON:
		return x.Fail(http.StatusForbidden, "UnrecognizedClientException", message)
	default:
		return x.Fail(http.StatusForbidden, "InvalidClientTokenId", message)
	}
}
