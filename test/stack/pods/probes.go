package pods

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A kubelet does not verify certificates either.
var probes = &http.Client{Transport: &http.Transport{
	DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
}}

// probe returns a function that probes once; nil if there is no probe, which counts as success.
func (p *pod) probe(of *corev1.Probe) func(context.Context) error {
	if of == nil {
		return nil
	}
	return func(ctx context.Context) error {
		get := of.HTTPGet
		if get == nil {
			return errors.New("a probe of another kind than httpGet cannot be played")
		}
		port := get.Port.IntVal
		if get.Port.Type == intstr.String {
			port = p.port(get.Port.StrVal)
		}
		ctx, cancel := context.WithTimeout(ctx, max(time.Second, time.Duration(of.TimeoutSeconds)*time.Second))
		defer cancel()
		url := strings.ToLower(string(get.Scheme)) + "://" + net.JoinHostPort(p.ip, strconv.Itoa(int(port))) + get.Path
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := probes.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode < 200 || resp.StatusCode >= 400 {
			return fmt.Errorf("GET %s: %s", url, resp.Status)
		}
		return nil
	}
}

// prober counts the results of a probe up to its thresholds: three failures, or as many as the probe specifies, and
// one success.
type prober struct {
	of     *corev1.Probe
	ticker *time.Ticker
	in     int32 // failures in a row
	failed bool
}

func newProber(of *corev1.Probe) *prober {
	p := &prober{of: of}
	if of != nil {
		p.ticker = time.NewTicker(max(time.Second, time.Duration(of.PeriodSeconds)*time.Second))
	}
	return p
}

func (p *prober) ticks() <-chan time.Time {
	if p.ticker == nil {
		return nil
	}
	return p.ticker.C
}

func (p *prober) stop() {
	if p.ticker != nil {
		p.ticker.Stop()
	}
}

// turned probes once, and reports whether that changed failed.
func (p *prober) turned(ctx context.Context, probe func(context.Context) error) bool {
	before := p.failed
	if probe(ctx) == nil {
		p.in, p.failed = 0, false
	} else if p.in++; p.in >= max(1, p.of.FailureThreshold) {
		p.failed = true
	}
	return p.failed != before
}
