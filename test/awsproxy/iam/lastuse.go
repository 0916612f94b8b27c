package iam

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// roleUse records when and where each role was last used. IAM's reference of RoleLastUsed says that it is "the date
// and time [...] that the role was last used", by any call, and the region that was called. IAM shows that up to four
// hours late; here it shows at once.
type roleUse struct {
	mu  sync.Mutex
	all map[string]usedRole // by ARN
}

type usedRole struct {
	at     time.Time
	region string
}

// note records a call by a session of a role.
func (u *roleUse) note(caller *wire.Principal, at time.Time, region string) {
	if caller == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[string]usedRole{}
	}
	u.all[caller.Role] = usedRole{at: at, region: region}
}

// NoteUse records a call by a session of a role; the caller is nil if there is none.
func (s *Service) NoteUse(caller *wire.Principal, at time.Time, region string) {
	s.book.use.note(caller, at, region)
}

// UseRole records a use of a role at a time, in a region, for tests of uses long ago.
func (s *Service) UseRole(arn string, at time.Time, region string) {
	s.book.use.note(&wire.Principal{Role: arn}, at, region)
}

var lastUsed = regexp.MustCompile(`(?s)<RoleLastUsed\s*/>|<RoleLastUsed>.*?</RoleLastUsed>`)

// withUse answers GetRole with the role's last use: moto knows no region, and does not see the calls that the proxy
// answers.
func (s *Service) withUse(ctx context.Context, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	if err := r.Load(); err != nil {
		return nil, err
	}
	var answer struct {
		ARN string `xml:"GetRoleResult>Role>Arn"`
	}
	if err := xml.Unmarshal(r.Body, &answer); err != nil {
		return nil, err
	}
	u := &s.book.use
	u.mu.Lock()
	used, ok := u.all[answer.ARN]
	u.mu.Unlock()
	shows := "<RoleLastUsed/>" // a role that was never used
	if ok {
		shows = "<RoleLastUsed><LastUsedDate>" + used.at.UTC().Format(time.RFC3339) + "</LastUsedDate><Region>" +
			used.region + "</Region></RoleLastUsed>"
	}
	r.Body = lastUsed.ReplaceAll(r.Body, nil)
	r.Body = bytes.Replace(r.Body, []byte("</Role>"), []byte(shows+"</Role>"), 1)
	r.Header.Del("Content-Length")
	return r, nil
}
