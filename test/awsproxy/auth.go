package awsproxy

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// signedFor is how long AWS accepts a signature, unless a presigned URL specifies its expiry.
const signedFor = 15 * time.Minute

const amzTime = "20060102T150405Z"

// scope holds what a SigV4 credential says about a call.
type scope struct {
	key, region, service string
	token                bool // the request has a session token
	signed               time.Time
	valid                time.Duration
}

// readScope reads the Authorization header, or a presigned URL's parameters;
// without either it returns the zero scope.
func readScope(r *http.Request) scope {
	query := r.URL.Query()
	credential, date := query.Get("X-Amz-Credential"), query.Get("X-Amz-Date")
	s := scope{valid: signedFor}
	if seconds, err := strconv.Atoi(query.Get("X-Amz-Expires")); err == nil {
		s.valid = time.Duration(seconds) * time.Second
	}
	s.token = query.Get("X-Amz-Security-Token") != "" || r.Header.Get("X-Amz-Security-Token") != ""
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
		return scope{}
	}
	tail := parts[len(parts)-4:]
	s.key = strings.Join(parts[:len(parts)-4], "/")
	s.region, s.service = tail[1], tail[2]
	s.signed, _ = time.Parse(amzTime, date) // an unreadable date counts as expired
	return s
}

// authenticate fills in the account, or returns the refusal.
func (p *Proxy) authenticate(ctx context.Context, x *exchange) *reply {
	refuse := func(r *reply) *reply {
		x.call.Status, x.call.ErrorCode = r.status, errorCode(r)
		return r
	}
	if x.scope.key == "" {
		if unsigned[x.call.Operation] {
			return nil
		}
		return refuse(x.unsigned())
	}
	if age := p.now().Sub(x.scope.signed); age > x.scope.valid || age < -signedFor {
		return refuse(x.signedTooLongAgo())
	}
	account, err := p.keys.account(ctx, x.scope)
	if err != nil {
		return refuse(badKey(x, err))
	}
	x.call.Account, x.caller = account, p.keys.caller(x.scope.key)
	x.owner = namedOwner(x)
	p.iamService.noteUse(x.caller, p.now(), x.scope.region)
	if p.regions.isOff(account, x.scope.region) {
		return refuse(unknownInRegion(x))
	}
	return nil
}

// unsigned are the calls, all to STS, that carry another kind of proof than a signature.
var unsigned = map[string]bool{"AssumeRoleWithWebIdentity": true, "AssumeRoleWithSAML": true}
