package awsproxy

import (
	"net/http"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// regions are the regions that accounts have disabled. In AWS every region that was introduced after March 20, 2019
// is disabled until the account's owner enables it ("Enable or disable AWS Regions in your account"), and until then
// the region does not know the account's identities: it responds as to a bad key.
type regions struct {
	mu  sync.Mutex
	off map[regionOf]bool
}

type regionOf struct{ account, region string }

func (r *regions) isOff(account, region string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.off[regionOf{account, region}]
}

func (r *regions) set(account, region string, off bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off == nil {
		r.off = map[regionOf]bool{}
	}
	r.off[regionOf{account, region}] = off
}

// DisableRegion disables the region in the account until enable is called.
func (p *Proxy) DisableRegion(account, region string) (enable func()) {
	p.regions.set(account, region, true)
	return func() { p.regions.set(account, region, false) }
}

// unknownInRegion refuses credentials that the region does not know. For a session, S3 reports that the token is
// invalid.
func unknownInRegion(x *wire.Exchange) *wire.Reply {
	if x.Protocol == wire.S3 && x.Scope.Token {
		return x.Fail(http.StatusBadRequest, "InvalidToken", "The provided token is malformed or otherwise invalid.")
	}
	return badKey(x, errUnknownKey)
}
