package ec2

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// instanceLag is the longest time that EC2 may show the former state, five minutes: "Eventual consistency in the Amazon
// EC2 API" of its developer guide says to expect up to that.
const instanceLag = 5 * time.Minute

// HideYoungInstances makes EC2 report to the operator, for d after its launch, that an instance does not exist: in
// AWS that may last for five minutes. 0 ends it.
func (s *Service) HideYoungInstances(d time.Duration) { s.young.hide(d) }

// LoseTerminations makes EC2 accept the operator's terminations, then report to it that the instance does not exist,
// and leave the instance running, until end is called. AWS's reference of TerminateInstances allows that: an instance
// that is not shown may still run.
func (s *Service) LoseTerminations() (end func()) {
	n := s.young
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = map[string]bool{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.lost = nil
	}
}

// ExhaustCapacity makes EC2 refuse to launch instances of the type for all callers, until end is called. As in AWS,
// the token of a refused launch accepts no other parameters afterwards.
func (s *Service) ExhaustCapacity(instanceType string) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exhausted[instanceType] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.exhausted, instanceType)
	}
}

// nursery records the age of instances, and what EC2 does not show of them.
type nursery struct {
	now func() time.Time
	lag *lag.Lag

	mu     sync.Mutex
	window time.Duration
	born   map[string]time.Time // by account, region and ID
	lost   map[string]bool      // instances whose termination was lost; nil: terminations are not lost
	former map[string][]byte    // the tags that show until the new ones do
	held   map[string]bool      // instances whose changed tags are hidden; nil: changes are not hidden
}

// lose answers a termination without effect; nil if the termination should have one.
func (n *nursery) lose(x *wire.Exchange) *wire.Reply {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost == nil || x.Call.Actor != wire.Operator {
		return nil
	}
	var items strings.Builder
	for id := range strings.SplitSeq(x.Call.Resource, ",") {
		n.lost[tokenID(x, id)] = true
		items.WriteString("<item><instanceId>" + wire.EscapeXML(id) +
			"</instanceId><currentState><code>32</code><name>shutting-down</name></currentState>" +
			"<previousState><code>16</code><name>running</name></previousState></item>")
	}
	return &wire.Reply{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: []byte(
			`<TerminateInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId/><instancesSet>` +
				items.String() + `</instancesSet></TerminateInstancesResponse>`),
	}
}

func (n *nursery) hide(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.window = d
}

func (n *nursery) note(x *wire.Exchange, ids []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		n.born[tokenID(x, id)] = n.now()
		if x.Call.Actor == wire.Operator { // no other caller is faster than AWS
			n.lag.Begin(instanceOf(x, id), instanceLag)
			n.lag.Begin(tagsOf(x, id), instanceLag)
			n.former[tokenID(x, id)] = []byte("<tagSet/>")
		}
	}
}

// instanceOf and tagsOf return the keys of what may still be hidden of an instance: all of it, or only its tags, which
// may show later than the instance.
func instanceOf(x *wire.Exchange, id string) string { return "instance " + tokenID(x, id) }

func tagsOf(x *wire.Exchange, id string) string { return "tags of instance " + tokenID(x, id) }

// hidden reports whether the instance is still hidden from the operator.
func (n *nursery) hidden(x *wire.Exchange, id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	born, ok := n.born[tokenID(x, id)]
	return x.Call.Actor == wire.Operator &&
		(n.lost[tokenID(x, id)] || (ok && n.now().Sub(born) < n.window) || n.lag.Hides(instanceOf(x, id)))
}

// outdated reports whether the instance's tags are still hidden from the operator.
func (n *nursery) outdated(x *wire.Exchange, id string) bool {
	n.mu.Lock()
	held := n.held[tokenID(x, id)]
	n.mu.Unlock()
	return x.Call.Actor == wire.Operator && (held || n.lag.Hides(tagsOf(x, id)))
}

// deny refuses a call that names an instance that is still hidden.
func (n *nursery) deny(x *wire.Exchange) *wire.Reply {
	for id := range strings.SplitSeq(x.Call.Resource, ",") {
		if n.hidden(x, id) {
			return x.Fail(http.StatusBadRequest, "InvalidInstanceID.NotFound", "The instance ID '"+id+
				"' does not exist")
		}
	}
	return nil
}

// describe lists the instances that are visible.
func (n *nursery) describe(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	byTags := filtersByTags(x)
	r, err := n.shown(ctx, x, next, func(id string) bool { return !n.hidden(x, id) && (!byTags || !n.outdated(x, id)) })
	if err == nil && r.Status == http.StatusOK {
		n.showFormerTags(x, r)
	}
	return r, err
}

func filtersByTags(x *wire.Exchange) bool {
	for i := 1; x.Form.Has(filterName(i)); i++ {
		if strings.HasPrefix(x.Form.Get(filterName(i)), "tag") {
			return true
		}
	}
	return false
}

// instanceTags matches an instance in a response, from its tags to its ID, which follows them: nothing between them,
// and nothing before them in an instance, has a set of tags.
var instanceTags = regexp.MustCompile(`(?s)(?:<tagSet/>|<tagSet>.*?</tagSet>)(.*?<instanceId>([^<]+)</instanceId>)`)

// showFormerTags replaces the tags that are still hidden with the former ones.
func (n *nursery) showFormerTags(x *wire.Exchange, r *wire.Reply) {
	r.Body = instanceTags.ReplaceAllFunc(r.Body, func(instance []byte) []byte {
		m := instanceTags.FindSubmatch(instance)
		if id := string(m[2]); n.outdated(x, id) {
			n.mu.Lock()
			defer n.mu.Unlock()
			return slices.Concat(n.former[tokenID(x, id)], m[1])
		}
		return instance
	})
}

// pageToken matches the token of the next page.
var pageToken = regexp.MustCompile(`<nextToken>[^<]+</nextToken>`)

// shown lists the visible instances: if one is hidden, it asks again for the others by their IDs. Those on further
// pages are still listed there.
func (n *nursery) shown(ctx context.Context, x *wire.Exchange, next wire.Forward, may func(id string) bool) (
	*wire.Reply, error,
) {
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	shown := []string{"i-none"}
	for _, m := range instanceID.FindAllSubmatch(r.Body, -1) {
		if id := string(m[1]); may(id) {
			shown = append(shown, id)
		}
	}
	if len(shown) > len(instanceID.FindAll(r.Body, -1)) {
		return r, nil
	}
	at := 1
	for x.Form.Has(filterName(at)) && x.Form.Get(filterName(at)) != "instance-id" {
		at++
	}
	value := strings.TrimSuffix(filterName(at), "Name") + "Value."
	for key := range x.Form {
		if strings.HasPrefix(key, value) {
			x.Form.Del(key)
		}
	}
	x.Form.Set(filterName(at), "instance-id")
	for i, id := range slices.Compact(shown) {
		x.Form.Set(value+strconv.Itoa(i+1), id)
	}
	x.Form.Del("NextToken")
	x.Form.Del("MaxResults")
	x.SetForm(x.Form)
	others, err := next(ctx)
	if token := pageToken.Find(r.Body); err == nil && token != nil {
		end := []byte("</DescribeInstancesResponse>")
		others.Body = bytes.Replace(others.Body, end, append(token, end...), 1)
	}
	return others, err
}
