package awsproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// HealthPath returns 200 without credentials, at every entrance.
const HealthPath = "/_portico/healthz"

// errCut ends an exchange without a response.
var errCut = errors.New("connection cut")

type handler struct {
	proxy *Proxy
	actor Actor
}

// ServeHTTP implements [http.Handler].
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == HealthPath:
		w.WriteHeader(http.StatusOK)
		return
	case r.URL.Path == JournalPath && h.actor == Outside:
		h.proxy.serveJournal(w, r)
		return
	}
	p := h.proxy
	x, err := p.read(r, h.actor)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response := p.authenticate(r.Context(), x)
	p.journal.begin(&x.Call)
	if response == nil {
		response, err = p.run(r.Context(), x)
	}
	defer response.Discard()
	if err != nil {
		p.journal.update(x.Call)
		panic(http.ErrAbortHandler)
	}
	p.answer(w, x, response)
}

// run takes an authenticated call through hooks, faults and the simulator.
func (p *Proxy) run(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	if err := p.callHook(ctx, x.Call, Before); err != nil {
		x.Call.Fault = "hook"
		return nil, errCut
	}
	fault, err := p.disturb(ctx, x)
	if err != nil {
		return nil, err
	}
	r := p.injected(x, fault)
	if r == nil {
		r, err = p.serve(ctx, x)
	}
	if err != nil {
		r = x.Fail(http.StatusInternalServerError, wire.InternalErrorCode(x), err.Error())
	}
	if fault == PartialPage {
		dropLastItem(x, r)
	}
	x.Call.Status, x.Call.ErrorCode = r.Status, wire.ErrorCode(r)
	if err := p.callHook(ctx, x.Call, After); err != nil {
		x.Call.Fault = "hook"
	} else if fault != LostReply {
		return r, nil
	}
	x.Call.Status, x.Call.ErrorCode = 0, ""
	return r, errCut
}

// disturb waits for the injected delays, and returns the fault to apply. A hanging call returns only with an error.
func (p *Proxy) disturb(ctx context.Context, x *wire.Exchange) (FaultKind, error) {
	if x.Call.Actor != Operator {
		return "", nil
	}
	fault, delay := p.faults.pick(x.Call)
	x.Call.Fault = string(fault)
	if fault == "" && delay > 0 {
		x.Call.Fault = string(Latency)
	}
	var timer <-chan time.Time
	if fault == Hang {
		p.journal.update(x.Call)
		_, _ = io.Copy(io.Discard, x.In.Body) // only then does the server notice that a client has disconnected
	} else if delay += time.Duration(p.latency.Load()); delay > 0 {
		timer = time.After(delay)
	} else {
		return fault, nil
	}
	select {
	case <-timer:
		return fault, nil
	case <-ctx.Done():
	case <-p.done.Done():
	}
	return fault, errCut
}

// injected returns the reply of a fault that keeps the call from AWS, otherwise nil.
func (p *Proxy) injected(x *wire.Exchange, fault FaultKind) *wire.Reply {
	switch fault {
	case Throttle:
		return x.Throttled()
	case ServerError:
		return x.Fail(http.StatusInternalServerError, wire.InternalErrorCode(x),
			"We encountered an internal error. Please try again.")
	case Denied:
		return x.Denied()
	default:
		return nil
	}
}

// serve passes the call to moto if the caller has the permissions, through the service's strict part if there is one.
func (p *Proxy) serve(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	service := p.services[x.Call.Service]
	if refused, err := p.permit(ctx, x, service); refused != nil || err != nil {
		return refused, err
	}
	limitPage(x, int(p.pageSize.Load()))
	next := func(ctx context.Context) (*wire.Reply, error) { return p.upstream.Send(ctx, x) }
	if service != nil {
		return service.Around(ctx, x, next)
	}
	return next(ctx)
}

// permit refuses a call that the caller has no permission for.
func (p *Proxy) permit(ctx context.Context, x *wire.Exchange, service behaviour) (*wire.Reply, error) {
	if service != nil {
		return p.judge.Judge(ctx, x, service.Needs)
	}
	if x.Caller == nil {
		return nil, nil
	}
	return nil, fmt.Errorf("the proxy does not know the permissions of %s: add them to its services", x.Call.Service)
}
