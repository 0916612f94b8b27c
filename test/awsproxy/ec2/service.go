// Package ec2 is Amazon EC2, as far as moto differs from it: client tokens, capacity, changes of instances, and
// instances that do not show yet.
package ec2

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Service honours ClientToken, which moto ignores: a request with the same token and the same parameters returns
// the first reservation again; with other parameters, or once its instance is terminated, it is refused. See launch
// and change for what else AWS does or refuses, and nursery for what it does not show yet.
type Service struct {
	upstream *wire.Upstream
	locks    wire.Locks // by token
	young    *nursery
	profiles *profileNews

	mu        sync.Mutex
	ran       map[string]reservation // by account, region and token
	exhausted map[string]bool        // instance types without capacity
	credits   map[string]string      // options for CPU credits, by account, region and instance
}

// reservation records what a token was used for; it has no instances if the launch failed.
type reservation struct {
	parameters string
	instances  []string
	answer     []byte
}

// New returns EC2.
func New(up *wire.Upstream, lag *lag.Lag, now func() time.Time) *Service {
	return &Service{
		upstream: up, young: &nursery{now: now, lag: lag, born: map[string]time.Time{}, former: map[string][]byte{}},
		profiles: &profileNews{upstream: up, now: now},
		ran:      map[string]reservation{}, exhausted: map[string]bool{}, credits: map[string]string{},
	}
}

// Around serves the calls to EC2.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if refused := wire.FirstRefusal(refuseLaunch(x), s.young.deny(x)); refused != nil {
		return refused, nil
	}
	if refused, err := s.profiles.deny(ctx, x); refused != nil || err != nil {
		return refused, err
	}
	switch x.Call.Operation {
	case "RunInstances":
		return s.run(ctx, x, next)
	case "CreateTags", "DeleteTags":
		return s.retag(ctx, x, next)
	case "DescribeInstances":
		s.filterByToken(x)
		return s.young.describe(ctx, x, next)
	}
	if x.Call.Operation == "TerminateInstances" {
		if lost := s.young.lose(x); lost != nil {
			return lost, nil
		}
	}
	r, err := s.change(ctx, x, next)
	if err != nil {
		return nil, err
	}
	return noProfile(x, r), nil
}

var instancesSet = regexp.MustCompile(`(?s)<instancesSet>.*</instancesSet>`)

var instanceID = regexp.MustCompile(`<instanceId>([^<]+)</instanceId>`)

// run serves RunInstances. Calls without a token never count as repeats.
func (s *Service) run(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	token := x.Form.Get("ClientToken")
	id := tokenID(x, token)
	if token != "" {
		defer s.locks.Lock(id, true)()
	}
	parameters := withoutToken(x.Form)
	s.mu.Lock()
	first, known := s.ran[id]
	s.mu.Unlock()
	if known && token != "" {
		x.Call.Resource = strings.Join(first.instances, ",")
		if first.parameters != parameters {
			return x.Fail(http.StatusBadRequest, "IdempotentParameterMismatch",
				"The request uses the same client token as a previous, but non-identical request."), nil
		}
		if len(first.instances) > 0 {
			return s.again(ctx, x, first)
		}
	}
	if refused := s.exhaustion(x, reservation{parameters: parameters}, id); refused != nil {
		return refused, nil
	}
	credits, refused := launchCredits(x)
	if refused != nil {
		return refused, nil
	}
	r, err := s.launch(ctx, x, next)
	if err != nil || r.Status != http.StatusOK {
		return noProfile(x, r), err
	}
	made := s.launched(x, r, credits)
	made.parameters = parameters
	x.Call.Resource = strings.Join(made.instances, ",")
	s.young.note(x, made.instances)
	if token != "" {
		s.mu.Lock()
		s.ran[id] = made
		s.mu.Unlock()
	}
	return r, nil
}

// launched returns the reservation of a reply, and records its credit option.
func (s *Service) launched(x *wire.Exchange, r *wire.Reply, credits string) reservation {
	made := reservation{answer: r.Body}
	for _, m := range instanceID.FindAllSubmatch(r.Body, -1) {
		made.instances = append(made.instances, string(m[1]))
		s.noteCredits(x, string(m[1]), credits)
	}
	return made
}

// exhaustion refuses the launch if there is no capacity for it, and records the parameters that the token was used
// with.
func (s *Service) exhaustion(x *wire.Exchange, vain reservation, id string) *wire.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.exhausted[x.Form.Get("InstanceType")] {
		return nil
	}
	s.ran[id] = vain
	return x.Fail(http.StatusInternalServerError, "InsufficientInstanceCapacity",
		"We currently do not have sufficient "+x.Form.Get("InstanceType")+
			" capacity in the Availability Zone you requested.")
}

// filterByToken replaces the filter client-token, which moto does not know, with a filter by the instances that the
// tokens created.
func (s *Service) filterByToken(x *wire.Exchange) {
	for i := 1; x.Form.Has(filterName(i)); i++ {
		if x.Form.Get(filterName(i)) != "client-token" {
			continue
		}
		prefix := strings.TrimSuffix(filterName(i), "Name") + "Value."
		ids := []string{"i-none"}
		for _, token := range wire.FormList(x.Form, prefix) {
			s.mu.Lock()
			ids = append(ids, s.ran[tokenID(x, token)].instances...)
			s.mu.Unlock()
		}
		x.Form.Set(filterName(i), "instance-id")
		for n, id := range ids {
			x.Form.Set(prefix+strconv.Itoa(n+1), id)
		}
		x.SetForm(x.Form)
	}
}

func filterName(i int) string { return "Filter." + strconv.Itoa(i) + ".Name" }

func tokenID(x *wire.Exchange, token string) string {
	return x.Call.Account + "/" + x.Call.Region + "/" + token
}

// withoutToken returns the request's parameters in a form that can be compared.
func withoutToken(form url.Values) string {
	rest := url.Values{}
	for k, v := range form {
		if k != "ClientToken" {
			rest[k] = v
		}
	}
	return rest.Encode()
}

// again answers a repeated call with the first reservation and the current state of its instances. It refuses the
// call when they are terminated.
func (s *Service) again(ctx context.Context, x *wire.Exchange, first reservation) (*wire.Reply, error) {
	form := url.Values{"Action": {"DescribeInstances"}, "Version": {x.Form.Get("Version")}}
	for i, id := range first.instances {
		form.Set("InstanceId."+strconv.Itoa(i+1), id)
	}
	now, err := s.ask(ctx, x, form)
	if err != nil {
		return nil, err
	}
	answer := first.answer
	was, is := instancesSet.FindIndex(answer), instancesSet.Find(now.Body)
	if is == nil || over(is) { // moto drops instances that were terminated long ago
		return x.Fail(http.StatusBadRequest, "IdempotentInstanceTerminated",
				"The request uses the same client token as a previous request for which the instance has been "+
					"terminated."),
			nil
	}
	if was != nil {
		answer = slices.Concat(answer[:was[0]], is, answer[was[1]:])
	}
	return &wire.Reply{Status: http.StatusOK, Body: answer, Header: http.Header{"Content-Type": {"text/xml"}}}, nil
}

// over reports whether an instance of the answer is terminated.
func over(instances []byte) bool {
	return slices.ContainsFunc(instanceState.FindAllSubmatch(instances, -1), func(m [][]byte) bool {
		return string(m[1]) == "terminated"
	})
}
