package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/podlogs"
)

// maxLogEntry is the longest entry that a container runtime writes, with a timestamp. It times the requested lines
// bounds a log that is not followed: a lower limit would cut off the newest lines.
const maxLogEntry = int64(16<<10 + 64)

// LogQuery selects the container and the part of its log to read.
type LogQuery struct {
	Namespace, Pod, Container string
	Tail                      int64 // lines, at least 1; capped at podlogs.MaxLines
	Previous                  bool  // of the container's previous run
	Timestamps                bool
	Follow                    bool // continue until the container ends
	// App is the application of the Pod. Its team sees in the activity that the log was read.
	App activity.Object
}

// Logs returns a log, read as the caller. The caller closes it; ctx bounds the whole read. The caller needs the right
// to get pods/log in the namespace; a caller who reads too many at a time gets a *podlogs.TooManyReadsError.
// A *failure.NoLogError says that there is no log, and why: the Pod has no node yet, or the container has not started,
// or not ended, or the Pod has, and its log is gone.
func (p *Pods) Logs(ctx context.Context, id auth.Identity, q LogQuery) (*podlogs.Lines, error) {
	ctx, sent := failure.WithTrail(ctx, failure.AsCaller)
	body, done, err := p.openLog(ctx, id, q)
	if failure.OutcomeOf(err) == auth.Forbidden {
		failure.NoteDenied(ctx, failure.About(q.Pod, err))
		return nil, err
	}
	ended := auth.NoteLogRead(ctx, auth.LogRead{
		Namespace: q.Namespace, Pod: q.Pod, Container: q.Container, Follow: q.Follow, Outcome: failure.OutcomeOf(err),
		AuditID: sent.AuditID(),
	})
	if err != nil {
		return nil, err
	}
	p.activity.Note(id, q.App, activity.ReadsLog(q.Pod))
	return podlogs.NewLines(body, func() { done(); ended() }), nil
}

// openLog opens a log; done must be called after reading.
func (p *Pods) openLog(ctx context.Context, id auth.Identity, q LogQuery) (
	body io.ReadCloser, done func(), err error,
) {
	api, err := p.impersonator.StreamsFor(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if err := p.MayReadLogs(ctx, id, q.Namespace); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(podNamed(q.Pod), containerNamed(q.Container)); err != nil {
		return nil, nil, err
	}
	pod, err := p.cached(ctx, q)
	if err := cmp.Or(err, unplaced(pod)); err != nil {
		return nil, nil, err
	}
	reading, cancel, err := p.reading(ctx, id, q)
	if err != nil {
		return nil, nil, err
	}
	body, err = api.Pods(q.Namespace).GetLogs(q.Pod, q.options()).Stream(reading)
	if err != nil {
		cancel()
		return nil, nil, withoutLog(pod, q, p.explainLogs(ctx, id, q, err))
	}
	return body, cancel, nil
}

// reading bounds the time of reading a log and how many the caller reads at once; a followed log is bounded by its
// stream.
func (p *Pods) reading(ctx context.Context, id auth.Identity, q LogQuery) (
	context.Context, context.CancelFunc, error,
) {
	if q.Follow {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, nil
	}
	leave, err := p.logReaders.Enter(id.Username)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, impersonate.Timeout)
	return ctx, func() { cancel(); leave() }, nil
}

// MayReadLogs returns a *failure.ForbiddenError if the caller cannot read logs in the namespace. It reads no log.
func (p *Pods) MayReadLogs(ctx context.Context, id auth.Identity, namespace string) error {
	return p.rights.RequireRight(ctx, id, rights.GetLogs.In(namespace))
}

func (q LogQuery) options() *corev1.PodLogOptions {
	tail := min(max(q.Tail, 1), podlogs.MaxLines)
	o := &corev1.PodLogOptions{
		Container: q.Container, TailLines: &tail, Previous: q.Previous, Timestamps: q.Timestamps, Follow: q.Follow,
	}
	if !q.Follow {
		limit := tail * maxLogEntry
		o.LimitBytes = &limit
	}
	return o
}

// explainLogs does what explain does, and recognises errors of nodes that the API server passes on.
func (p *Pods) explainLogs(ctx context.Context, id auth.Identity, q LogQuery, err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError {
		return &failure.UnavailableError{Doing: "reading the log of Pod " + q.Pod, Cause: err}
	}
	return p.impersonator.Explain(ctx, id, rights.GetLogs.In(q.Namespace), err)
}

func containerNamed(name string) error {
	if len(validation.IsDNS1123Label(name)) > 0 {
		return fmt.Errorf("container %q: no container has such a name", name)
	}
	return nil
}
