package ec2

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// HoldTags hides from the operator its own changes of instances' tags, until end is called: in AWS that may last for
// five minutes.
func (s *Service) HoldTags() (end func()) {
	n := s.young
	n.mu.Lock()
	defer n.mu.Unlock()
	n.held = map[string]bool{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.held = nil
	}
}

// tagSet matches an instance's tags in a response.
var tagSet = regexp.MustCompile(`(?s)<tagSet/>|<tagSet>.*?</tagSet>`)

// retag changes tags. The new tags of an instance may show later: until then a description shows the former ones, and
// no search by tags finds it.
func (s *Service) retag(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	former := map[string][]byte{}
	for id := range strings.SplitSeq(x.Call.Resource, ",") {
		if x.Call.Actor != wire.Operator || !strings.HasPrefix(id, "i-") || s.young.outdated(x, id) {
			continue
		}
		now, err := s.describe(ctx, x, id)
		if err != nil {
			return nil, err
		}
		if tags := tagSet.Find(now); tags != nil {
			former[id] = tags
		}
	}
	r, err := s.change(ctx, x, next)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	s.young.retagged(x, former)
	return r, nil
}

// retagged records the former tags, by ID.
func (n *nursery) retagged(x *wire.Exchange, former map[string][]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, tags := range former {
		n.former[tokenID(x, id)] = tags
		n.lag.Begin(tagsOf(x, id), instanceLag)
		if n.held != nil {
			n.held[tokenID(x, id)] = true
		}
	}
}
