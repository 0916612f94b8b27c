// Package route53 is Amazon Route 53: batches of changes as a whole, the rate of requests, and zones.
package route53

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The defaults of the settings that tests can change.
const (
	defaultDelay = 300 * time.Millisecond
	defaultRate  = 5
)

// Service judges a batch of changes as a whole before moto gets any of it, keeps changes PENDING for a while,
// applies one change at a time in a zone and a few requests a second in an account, and lists in Route 53's order.
type Service struct {
	upstream *wire.Upstream
	locks    wire.Locks // by zone
	now      func() time.Time
	// accounts returns the known accounts.
	accounts func() []string
	// changed is called with the names that a batch has changed.
	changed func(ctx context.Context, names []string)

	mu      sync.Mutex
	delay   time.Duration
	rate    int // requests a second of an account; 0 is unlimited
	recent  map[string][]time.Time
	busy    map[string]bool // zones with a batch in progress
	changes map[string]pendingChange
}

// pendingChange is the source of GetChange's response.
type pendingChange struct {
	account, comment string
	submitted        time.Time
}

// New returns Route 53; accounts returns the known accounts.
func New(up *wire.Upstream, accounts func() []string, now func() time.Time) *Service {
	return &Service{
		upstream: up, accounts: accounts, now: now, delay: defaultDelay, rate: defaultRate,
		changed: func(context.Context, []string) {},
		recent:  map[string][]time.Time{}, busy: map[string]bool{}, changes: map[string]pendingChange{},
	}
}

// OnRecordsChanged makes the service call changed with the names that a batch has changed.
func (s *Service) OnRecordsChanged(changed func(ctx context.Context, names []string)) {
	s.changed = changed
}

// SetDNSDelay sets how long Route 53's changes are PENDING, earlier changes included: 300 ms unless set.
func (s *Service) SetDNSDelay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// SetRoute53Rate sets how many requests a second Route 53 accepts from the operator in an account: 5 unless set, 0
// for no limit.
func (s *Service) SetRoute53Rate(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rate = n
}

// Around serves the calls to Route 53.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if x.Call.Actor == wire.Operator && !s.admit(x.Call.Account) {
		return x.Throttled(), nil
	}
	switch x.Call.Operation {
	case "ChangeResourceRecordSets":
		return s.change(ctx, x, next)
	case "ListResourceRecordSets":
		defer s.locks.Lock(x.Call.Resource, false)()
		return s.list(ctx, x, next)
	case "GetChange":
		return s.getChange(x), nil
	case "CreateHostedZone":
		return s.createZone(ctx, x, next)
	case "ListHostedZonesByName":
		return s.listByName(ctx, x)
	}
	return s.noting(ctx, x, next)
}

// admit counts a request and reports whether it is within the rate of the last second.
func (s *Service) admit(account string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var recent []time.Time
	for _, t := range s.recent[account] {
		if now.Sub(t) < time.Second {
			recent = append(recent, t)
		}
	}
	admitted := s.rate <= 0 || len(recent) < s.rate
	if admitted {
		recent = append(recent, now)
	}
	s.recent[account] = recent
	return admitted
}

var changeInfo = regexp.MustCompile(`<Id>/change/[^<]*</Id><Status>[^<]*</Status>`)

// noting passes on a call; a change that it makes is PENDING, too.
func (s *Service) noting(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	if err != nil || r.Status >= 300 {
		return r, err
	}
	if changeInfo.Match(r.Body) {
		id := s.accept(x.Call.Account, "")
		r.Body = changeInfo.ReplaceAll(r.Body, []byte("<Id>/change/"+id+"</Id><Status>PENDING</Status>"))
		r.Header.Del("Content-Length")
	}
	return r, nil
}

// accept records a change.
func (s *Service) accept(account, comment string) (id string) {
	id = "C" + rand.Text()[:20]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes[id] = pendingChange{account: account, comment: comment, submitted: s.now()}
	return id
}

func (s *Service) getChange(x *wire.Exchange) *wire.Reply {
	id := x.Call.Resource
	s.mu.Lock()
	made, ok := s.changes[id]
	insync := ok && !s.now().Before(made.submitted.Add(s.delay))
	s.mu.Unlock()
	if !ok || made.account != x.Call.Account {
		return x.Fail(http.StatusNotFound, "NoSuchChange", "A change with the specified change ID does not exist.")
	}
	return changeReply("GetChangeResponse", id, made, insync)
}

func changeReply(element, id string, c pendingChange, insync bool) *wire.Reply {
	status := "PENDING"
	if insync {
		status = "INSYNC"
	}
	return wire.XMLReply(http.StatusOK,
		strings.ReplaceAll("<RESPONSE xmlns=\""+namespace+
			"\"><ChangeInfo><Id>/change/%s</Id><Status>%s</Status>"+
			"<SubmittedAt>%s</SubmittedAt><Comment>%s</Comment></ChangeInfo></RESPONSE>", "RESPONSE", element),
		id, status, c.submitted.UTC().Format("2006-01-02T15:04:05.000Z"), c.comment)
}

// begin reserves the zone for a batch, and reports whether no other batch is in progress.
func (s *Service) begin(zone string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[zone] {
		return false
	}
	s.busy[zone] = true
	return true
}

func (s *Service) finish(zone string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, zone)
}
