package webapp

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Defaults of probes. The startup probe allows five minutes.
var (
	readinessDefaults = v1alpha1.WebAppProbe{PeriodSeconds: 5, TimeoutSeconds: 3, FailureThreshold: 3}
	livenessDefaults  = v1alpha1.WebAppProbe{PeriodSeconds: 10, TimeoutSeconds: 3, FailureThreshold: 6}
	startupDefaults   = v1alpha1.WebAppProbe{PeriodSeconds: 2, TimeoutSeconds: 3, FailureThreshold: 150}
)

func withProbes(c *coreac.ContainerApplyConfiguration, spec *v1alpha1.WebAppSpec) *coreac.ContainerApplyConfiguration {
	readiness, liveness, startup := probesOf(spec)
	return c.WithReadinessProbe(probe(readiness)).WithLivenessProbe(probe(liveness)).WithStartupProbe(probe(startup))
}

// probesOf returns the three probes with all defaults set.
func probesOf(spec *v1alpha1.WebAppSpec) (readiness, liveness, startup v1alpha1.WebAppProbe) {
	asked := spec.Probes
	if asked == nil {
		asked = &v1alpha1.WebAppProbes{}
	}
	readiness = complete(asked.Readiness, readinessDefaults, spec.Port)
	liveness = complete(asked.Liveness, livenessDefaults, spec.Port)
	first := startupDefaults
	first.Path, first.Port = readiness.Path, readiness.Port
	if asked.Startup != nil {
		first.Path, first.Port = "", 0
	}
	return readiness, liveness, complete(asked.Startup, first, spec.Port)
}

func complete(asked *v1alpha1.WebAppProbe, byDefault v1alpha1.WebAppProbe, port int32) v1alpha1.WebAppProbe {
	var p v1alpha1.WebAppProbe
	if asked != nil {
		p = *asked
	}
	return v1alpha1.WebAppProbe{
		Path: cmp.Or(p.Path, byDefault.Path), Port: cmp.Or(p.Port, byDefault.Port, port),
		PeriodSeconds:    cmp.Or(p.PeriodSeconds, byDefault.PeriodSeconds),
		TimeoutSeconds:   cmp.Or(p.TimeoutSeconds, byDefault.TimeoutSeconds),
		FailureThreshold: cmp.Or(p.FailureThreshold, byDefault.FailureThreshold),
	}
}

func probe(p v1alpha1.WebAppProbe) *coreac.ProbeApplyConfiguration {
	out := coreac.Probe().WithPeriodSeconds(p.PeriodSeconds).WithTimeoutSeconds(p.TimeoutSeconds).WithFailureThreshold(
		p.FailureThreshold)
	if p.Path == "" {
		return out.WithTCPSocket(coreac.TCPSocketAction().WithPort(intstr.FromInt32(p.Port)))
	}
	return out.WithHTTPGet(coreac.HTTPGetAction().WithPath(p.Path).WithPort(intstr.FromInt32(p.Port)))
}

// asks describes a probe.
func asks(p v1alpha1.WebAppProbe) string {
	if p.Path == "" {
		return fmt.Sprintf("a TCP connection to port %d", p.Port)
	}
	return fmt.Sprintf("GET %s on port %d", p.Path, p.Port)
}
