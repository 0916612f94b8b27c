package awsproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
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
	p.journal.begin(&x.call)
	if response == nil {
		response, err = p.run(r.Context(), x)
	}
	defer response.discard()
	if err != nil {
		p.journal.update(x.call)
		panic(http.ErrAbortHandler)
	}
	p.answer(w, x, response)
}

// run takes an authenticated call through hooks, faults and the simulator.
func (p *Proxy) run(ctx context.Context, x *exchange) (*reply, error) {
	if err := p.callHook(ctx, x.call, Before); err != nil {
		x.call.Fault = "hook"
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
		r = x.fail(http.StatusInternalServerError, internalErrorCode(x), err.Error())
	}
	if fault == PartialPage {
		dropLastItem(x, r)
	}
	x.call.Status, x.call.ErrorCode = r.status, errorCode(r)
	if err := p.callHook(ctx, x.call, After); err != nil {
		x.call.Fault = "hook"
	} else if fault != LostReply {
		return r, nil
	}
	x.call.Status, x.call.ErrorCode = 0, ""
	return r, errCut
}

// disturb waits for the injected delays, and returns the fault to apply. A hanging call returns only with an error.
func (p *Proxy) disturb(ctx context.Context, x *exchange) (FaultKind, error) {
	if x.call.Actor != Operator {
		return "", nil
	}
	fault, delay := p.faults.pick(x.call)
	x.call.Fault = string(fault)
	if fault == "" && delay > 0 {
		x.call.Fault = string(Latency)
	}
	var timer <-chan time.Time
	if fault == Hang {
		p.journal.update(x.call)
		_, _ = io.Copy(io.Discard, x.in.Body) // only then does the server notice that a client has disconnected
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
func (p *Proxy) injected(x *exchange, fault FaultKind) *reply {
	switch fault {
	case Throttle:
		return x.throttled()
	case ServerError:
		return x.fail(http.StatusInternalServerError, internalErrorCode(x),
			"We encountered an internal error. Please try again.")
	case Denied:
		return x.denied()
	default:
		return nil
	}
}

// serve passes the call to moto if the caller has the permissions, through the service's strict part if there is one.
func (p *Proxy) serve(ctx context.Context, x *exchange) (*reply, error) {
	service := p.services[x.call.Service]
	if refused, err := p.permit(ctx, x, service); refused != nil || err != nil {
		return refused, err
	}
	limitPage(x, int(p.pageSize.Load()))
	next := func(ctx context.Context) (*reply, error) { return p.upstream.send(ctx, x) }
	if service != nil {
		return service.around(ctx, x, next)
	}
	return next(ctx)
}

// permit refuses a call that the caller has no permission for.
func (p *Proxy) permit(ctx context.Context, x *exchange, service behaviour) (*reply, error) {
	if service != nil {
		return p.judge.judge(ctx, x, service.needs)
	}
	if x.caller == nil {
		return nil, nil
	}
	return nil, fmt.Errorf("the proxy does not know the permissions of %s: add them to its services", x.call.Service)
}
