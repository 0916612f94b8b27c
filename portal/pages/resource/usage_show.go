package resource

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantities "k8s.io/apimachinery/pkg/api/resource"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/web/views"
)

// almostFull is the percentage of a limit from which usage is shown as high.
const almostFull = 90

// noUsage returns why there are no figures; "" if nothing runs.
func noUsage(usage map[string]pods.Usage, err error) string {
	_, forbidden := errors.AsType[*failure.ForbiddenError](err)
	switch {
	case forbidden:
		return "You are not allowed to see them: your role lacks the right to get pods.metrics.k8s.io."
	case errors.Is(err, pods.ErrNoMetrics):
		return "No usage figures: the cluster has no metrics server."
	case errors.Is(err, pods.ErrNoUsageYet):
		return "The figures are being read."
	case err != nil:
		return "No usage figures just now: the cluster's metrics server does not answer."
	case usage != nil && len(usage) == 0:
		return "No usage figures yet: the first ones take a minute."
	}
	return ""
}

// load is the usage, the requests and the limits of Pods.
type load struct {
	used, requests, limits quantities.Quantity
	unlimited              bool // a container has no limit
}

// add adds a Pod's figures for one resource.
func (l *load) add(used quantities.Quantity, pod *corev1.Pod, name corev1.ResourceName) {
	l.used.Add(used)
	for i := range pod.Spec.Containers {
		r := pod.Spec.Containers[i].Resources
		l.requests.Add(r.Requests[name])
		if limit, ok := r.Limits[name]; ok {
			l.limits.Add(limit)
		} else {
			l.unlimited = true
		}
	}
}

// addGauges adds the usage of each Pod, and of all together.
func addGauges(out *views.App, pods []*corev1.Pod, usage map[string]pods.Usage) {
	var cpu, memory load
	for i, pod := range pods {
		u, known := usage[pod.Name]
		if !known {
			continue
		}
		var c, m load
		for _, l := range []*load{&c, &cpu} {
			l.add(u.CPU, pod, corev1.ResourceCPU)
		}
		for _, l := range []*load{&m, &memory} {
			l.add(u.Memory, pod, corev1.ResourceMemory)
		}
		out.Pods[i].Gauges = gauges(c, m)
	}
	if len(usage) > 0 {
		out.Gauges = gauges(cpu, memory)
	}
}

func gauges(cpu, memory load) []views.Gauge {
	return []views.Gauge{gauge("CPU", cpu, cores), gauge("Memory", memory, size)}
}

// gauge compares the usage with the limit if every container has one, otherwise with the requests.
func gauge(label string, l load, words func(quantities.Quantity) string) views.Gauge {
	g := views.Gauge{Label: label, Used: words(l.used)}
	of, kind := l.requests, "reserved"
	if !l.unlimited {
		of, kind = l.limits, "limit"
	}
	if of.IsZero() {
		return g
	}
	g.Of = "of " + words(of) + " " + kind
	percent := int(100 * l.used.AsApproximateFloat64() / of.AsApproximateFloat64())
	g.Percent, g.Full = min(percent, 100), kind == "limit" && percent >= almostFull
	return g
}

// cores formats CPU as in specs: 35m, 1.5 cores.
func cores(q quantities.Quantity) string {
	m := q.MilliValue()
	switch {
	case m < 1000:
		return fmt.Sprintf("%dm", m)
	case m == 1000:
		return "1 core"
	}
	return short(float64(m)/1000) + " cores"
}

// size formats memory in MiB or GiB.
func size(q quantities.Quantity) string {
	const mib = 1 << 20
	if v := q.Value(); v < 1<<30 {
		return fmt.Sprintf("%d MiB", (v+mib/2)/mib)
	}
	return short(float64(q.Value())/(1<<30)) + " GiB"
}

// short formats a number with at most two decimals.
func short(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
}

// lastCrash returns how the container that crashed last ended, nil if none did.
func (p *Pages) lastCrash(l objectRequest, pods []*corev1.Pod) *views.Crash {
	var last *corev1.ContainerStateTerminated
	var of *corev1.Pod
	previous := false
	for _, pod := range pods {
		for i := range pod.Status.ContainerStatuses {
			s := &pod.Status.ContainerStatuses[i]
			t := podcause.LastEnd(s)
			if t != nil && t.ExitCode != 0 && (last == nil || last.FinishedAt.Before(&t.FinishedAt)) {
				last, of, previous = t, pod, s.State.Terminated == nil && s.State.Running != nil
			}
		}
	}
	if last == nil {
		return nil
	}
	at := views.ResourcePath(l.space.Team.ID, l.ref.Kind.Plural, l.ref.Name)
	return &views.Crash{
		Pod: of.Name, Log: views.CopyLogsPath(at, of.Name, previous), Text: cmp.Or(ending(last), "It crashed."),
		Said: last.Message,
		At:   p.Moment(last.FinishedAt.Time),
	}
}
