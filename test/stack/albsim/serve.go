package albsim

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"

	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Outside is what load balancers need to serve requests.
type Outside struct {
	// Resolve returns the DNS name to which the records of a hostname lead, or "".
	Resolve func(ctx context.Context, hostname string) (string, error)
	// Certificate returns what a listener presents for a certificate of ACM.
	Certificate func(ctx context.Context, arn string) (*tls.Certificate, error)
	// Stranger returns a certificate for a hostname that has none, so that an explanation can be shown.
	Stranger func(names []string) (*tls.Certificate, error)
	// Simulated says that Pods run nothing: a page describes the Pod that would have got the request.
	Simulated bool
}

// server serves the requests to all load balancers at one address, as if clients had resolved the names.
type server struct {
	*Simulator
	Outside
	plain, grpc http.RoundTripper
}

// Serve returns what serves requests to the HTTPS listeners of all load balancers.
func (s *Simulator) Serve(o Outside) (http.Handler, *tls.Config) {
	h := &server{Simulator: s, Outside: o, plain: transport(false), grpc: transport(true)}
	return h, &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: h.present, NextProtos: []string{"h2", "http/1.1"},
	}
}

// live returns the models of the load balancers by DNS name.
func (s *Simulator) live(dns string) *model {
	s.liveMu.RLock()
	defer s.liveMu.RUnlock()
	return s.models[strings.TrimPrefix(strings.ToLower(dns), "dualstack.")] // its name for IPv4 and IPv6
}

// setLive remembers what the load balancer at a DNS name does now; nil means that it is gone.
func (s *Simulator) setLive(dns string, m *model) {
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	if m == nil {
		delete(s.models, strings.ToLower(dns))
		return
	}
	s.models[strings.ToLower(dns)] = m
}

// listener returns the HTTPS listener to which a hostname leads, or why there is none.
func (h *server) listener(ctx context.Context, host string) (*model, *portModel, error) {
	dns, err := h.Resolve(ctx, host)
	if err != nil {
		return nil, nil, fmt.Errorf("the DNS records of %s cannot be read: %w", host, err)
	}
	if dns == "" {
		return nil, nil, fmt.Errorf("no DNS record leads %s to a load balancer: its hostname was not requested, or "+
			"is not ready yet", host)
	}
	m := h.live(dns)
	if m == nil {
		return nil, nil, fmt.Errorf("the DNS records of %s lead to %s, and there is no such load balancer", host, dns)
	}
	for i := range m.Listeners {
		if m.Listeners[i].Protocol == gatewayv1.HTTPSProtocolType {
			return m, &m.Listeners[i], nil
		}
	}
	return nil, nil, fmt.Errorf("the load balancer of %s has no HTTPS listener: no route is attached to it", host)
}

// present returns the listener's certificate that fits the name best: the first that is valid for it, or the default.
func (h *server) present(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	ctx, host := hello.Context(), strings.ToLower(hello.ServerName)
	_, l, err := h.listener(ctx, host)
	if err != nil {
		return h.Stranger([]string{host})
	}
	var first *tls.Certificate
	for _, arn := range l.Certificates {
		pair, err := h.Certificate(ctx, arn)
		if err != nil {
			h.log.Error("present a certificate", "hostname", host, "error", err)
			continue
		}
		if hello.SupportsCertificate(pair) == nil {
			return pair, nil
		}
		if first == nil {
			first = pair
		}
	}
	if first == nil {
		return nil, fmt.Errorf("the load balancer of %s has no certificate", host)
	}
	return first, nil
}

// ServeHTTP answers as the load balancer that has the hostname.
func (h *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, l, err := h.listener(r.Context(), hostOf(r))
	if err != nil {
		explain(w, http.StatusServiceUnavailable, "No load balancer answers here", err.Error())
		return
	}
	rule := l.choose(r)
	switch {
	case rule == nil:
		explain(w, http.StatusNotFound, "Not found", "no route of the load balancer matches "+r.Method+" "+hostOf(r)+
			r.URL.EscapedPath())
	case rule.Redirect != nil:
		code := http.StatusFound
		if rule.Redirect.StatusCode == elbtypes.RedirectActionStatusCodeEnumHttp301 {
			code = http.StatusMovedPermanently
		}
		http.Redirect(w, r, location(r, rule.Redirect), code)
	case len(rule.Forward) == 0:
		explain(w, http.StatusInternalServerError, "Internal server error", "the route has no Service that exists")
	default:
		h.forward(w, r, m, rule)
	}
}
