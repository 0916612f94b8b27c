package resource

import (
	"context"
	"errors"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
)

// logsLive follows a log: first its last lines, which replace the page's, then new ones. If there is no log yet, it
// tries again when the Pod changes.
func (p *Pages) logsLive(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readLog(r)
	if err != nil {
		return err
	}
	allowed := func(ctx context.Context) error { return p.Cluster.Pods.MayReadLogs(ctx, l.id, l.ref.Namespace) }
	if err := allowed(r.Context()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // ends the reading of the log
	l.query.Follow, l.query.Previous = true, false
	f := p.following(ctx, l)
	return p.Live(w, r.WithContext(ctx), l.id, page.Live{Changed: f.changed, Allowed: allowed, Render: f.render})
}

// following returns a reader that follows the logs of a request. It follows new Pods of an application from their
// start.
func (p *Pages) following(ctx context.Context, l logRequest) *following {
	f := &following{
		all: l.all, stamps: l.query.Timestamps, changed: make(chan struct{}, 1), tails: map[string]followed{},
		ended: map[string]string{}, unbegun: map[string]string{},
	}
	f.names = func(context.Context) ([]string, error) { return names(l.pods), nil }
	if l.all {
		f.names = func(ctx context.Context) ([]string, error) {
			now, err := p.findCopies(ctx, l.objectRequest, "")
			return names(now.pods), err
		}
		go forward(ctx, p.followObject(ctx, l.objectRequest), f.changed)
	}
	f.tail = func(ctx context.Context, pod string) *podlogs.Tail {
		return podlogs.NewTail(p.followObject(ctx, l.objectRequest), func(ctx context.Context) (*podlogs.Lines, error) {
			lines, err := p.Cluster.Pods.Logs(ctx, l.id, l.of(pod))
			return lines, logFault(err)
		}, noLogYet)
	}
	return f
}

func names(pods []*corev1.Pod) []string {
	out := make([]string, len(pods))
	for i, pod := range pods {
		out[i] = pod.Name
	}
	return out
}

// forward passes signals on until ctx ends.
func forward(ctx context.Context, from <-chan struct{}, to chan<- struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-from:
		}
		signal(to)
	}
}

// signal passes one signal on.
func signal(to chan<- struct{}) {
	select {
	case to <- struct{}{}:
	default: // already signalled
	}
}

// endWords returns why the log ended.
func endWords(end error) string {
	switch {
	case errors.Is(end, io.EOF):
		return "The log ends here: the container has ended. Reload to see what came after it."
	case errors.Is(end, podlogs.ErrBound):
		return "A page follows 5,000 lines or 2 MiB at most. Reload to go on with the last lines."
	case errors.Is(end, page.ErrNoPod):
		return "The Pod is no more."
	}
	if refused, ok := errors.AsType[*failure.ForbiddenError](end); ok {
		return humanize.Sentence(refused.Error())
	}
	if none, ok := errors.AsType[*page.NoLogError](end); ok {
		return none.Words
	}
	if _, ok := errors.AsType[*podlogs.NoLogError](end); ok {
		return "Kubernetes does not give the log at the moment. Reload to try again."
	}
	return "The connection to the log is lost. Reload to read on."
}

// noLogYet returns the note to show while there is no log yet.
func noLogYet(err error) (note string, wait bool) {
	none, ok := errors.AsType[*page.NoLogError](err)
	if !ok || none.Never {
		return "", false
	}
	return none.Words + " It appears here as soon as there is one.", true
}
