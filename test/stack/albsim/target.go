package albsim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// transport returns what sends requests to Pods; those of gRPC by HTTP/2 without TLS.
func transport(grpc bool) *http.Transport {
	t := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext, // as a load balancer's
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: time.Minute,
		DisableCompression: true, Protocols: new(http.Protocols),
	}
	t.Protocols.SetHTTP1(!grpc)
	t.Protocols.SetUnencryptedHTTP2(grpc)
	return t
}

// target is a ready Pod behind a target group.
type target struct {
	pod     types.NamespacedName
	address string
}

// forward sends a request to a ready Pod of one of the rule's Services.
func (h *server) forward(w http.ResponseWriter, r *http.Request, m *model, rule *ruleModel) {
	f := rule.target()
	if f == nil {
		explain(w, http.StatusServiceUnavailable, "Service unavailable", "all of the route's weights are 0")
		return
	}
	if f.Named {
		explain(w, http.StatusServiceUnavailable, "Service unavailable",
			"nothing is simulated behind the target group "+f.Group)
		return
	}
	group := m.Groups[f.Group]
	all, err := h.targets(r.Context(), group)
	if err != nil {
		h.log.Error("find targets", "service", group.Service, "error", err)
		explain(w, http.StatusServiceUnavailable, "Service unavailable", "the targets cannot be read from Kubernetes")
		return
	}
	if len(all) == 0 {
		explain(w, http.StatusServiceUnavailable, "Service unavailable", "no Pod of the Service "+
			group.Service.String()+" is ready")
		return
	}
	to := all[rand.IntN(len(all))]
	if h.Simulated {
		h.describe(w, r, to)
		return
	}
	h.send(w, r, to, group.GRPC)
}

// send sends a request to a Pod, with a load balancer's headers.
func (h *server) send(w http.ResponseWriter, r *http.Request, to target, grpc bool) {
	proxy := &httputil.ReverseProxy{
		Transport: h.plain,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: to.address})
			p.Out.Host = p.In.Host
			p.Out.Header["X-Forwarded-For"] = p.In.Header["X-Forwarded-For"]
			p.SetXForwarded()
			p.Out.Header.Del("X-Forwarded-Host") // which a load balancer does not set
			p.Out.Header.Set("X-Forwarded-Port", "443")
		},
		FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			explain(w, http.StatusBadGateway, "Bad gateway", fmt.Sprintf("the Pod %s does not answer: %v", to.pod, err))
		},
	}
	if grpc {
		proxy.Transport = h.grpc
	}
	proxy.ServeHTTP(w, r)
}

// targets returns the ready Pods of a target group.
func (h *server) targets(ctx context.Context, group groupModel) ([]target, error) {
	service := &corev1.Service{}
	if err := h.kube.Get(ctx, group.Service, service); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	slices := &discoveryv1.EndpointSliceList{}
	if err := h.kube.List(ctx, slices, client.InNamespace(group.Service.Namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: group.Service.Name}); err != nil {
		return nil, err
	}
	var all []target
	for i := range slices.Items {
		s := &slices.Items[i]
		port := portOfSlice(service, s, group.Port)
		for _, e := range s.Endpoints {
			if port == 0 || len(e.Addresses) == 0 || e.Conditions.Ready == nil || !*e.Conditions.Ready {
				continue
			}
			t := target{address: net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(port)))}
			if e.TargetRef != nil {
				t.pod = types.NamespacedName{Namespace: e.TargetRef.Namespace, Name: e.TargetRef.Name}
			}
			all = append(all, t)
		}
	}
	return all, nil
}

// portOfSlice returns the Pods' port behind a port of a Service, or 0.
func portOfSlice(service *corev1.Service, s *discoveryv1.EndpointSlice, port int32) int32 {
	for _, p := range service.Spec.Ports {
		if p.Port != port {
			continue
		}
		for _, q := range s.Ports {
			if q.Port != nil && text(q.Name) == p.Name {
				return *q.Port
			}
		}
	}
	return 0
}
