package resource

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/web/views"
)

// tails are how many of a log's last lines a page can show.
var tails = []int{50, 200, 1000}

const defaultTail = 200

// logRequest is a request about the log of one container.
type logRequest struct {
	podRequest
	query      cluster.LogQuery
	containers []string
}

// readLog reads from the URL which log; what it does not know it ignores.
func (p *Pages) readLog(r *http.Request) (logRequest, error) {
	at, err := p.readPod(r)
	if err != nil {
		return logRequest{}, err
	}
	l := logRequest{podRequest: at, containers: containerNames(at.pod)}
	asked := r.URL.Query()
	l.query = cluster.LogQuery{
		Namespace: at.ref.Namespace, Pod: at.pod.Name, Container: mainContainer(l.containers), Tail: defaultTail,
		Previous: asked.Get("previous") == "true", Timestamps: asked.Get("timestamps") == "true", App: activity.ObjectOf(at.app),
	}
	if n, err := strconv.Atoi(asked.Get("tail")); err == nil && n >= 1 && n <= slices.Max(tails) {
		l.query.Tail = int64(n)
	}
	if name := asked.Get("container"); slices.Contains(l.containers, name) {
		l.query.Container = name
	}
	return l, nil
}

// containerNames puts those that run before those that prepare.
func containerNames(pod *corev1.Pod) []string {
	var out []string
	for _, all := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range all {
			out = append(out, all[i].Name)
		}
	}
	return out
}

func mainContainer(names []string) string {
	if slices.Contains(names, appContainer) || len(names) == 0 {
		return appContainer
	}
	return names[0]
}

// logs shows the page of a log: its last lines, to which logsLive adds.
func (p *Pages) logs(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readLog(r)
	if err != nil {
		return err
	}
	if err := p.frameOf(r, &l.podRequest, "Log of "+l.pod.Name+", "+l.query.Container); err != nil {
		return err
	}
	view := views.Logs{
		Frame: l.frame, App: page.ResourceOf(l.space, l.ref.Kind, l.app, p.Now()), Pod: l.view,
		Container: l.query.Container, Containers: l.containers, Tail: int(l.query.Tail), Tails: tails,
		Previous: l.query.Previous, Timestamps: l.query.Timestamps, Restarted: l.restarted(),
		Query: l.address(),
	}
	view.Lines, view.Cut, err = p.lastLines(r, l)
	if none, ok := errors.AsType[*page.NoLogError](err); ok {
		view.Empty = none.Words
	} else if err != nil {
		return err
	} else if len(view.Lines) == 0 {
		view.Empty = "Nothing has been written yet."
	}
	if view.Cut {
		l.query.Tail = int64(len(view.Lines)) // the stream has to show these lines again, and the newest
	}
	if !l.query.Previous {
		view.Live = l.view.Href + "/logs/live?" + l.address()
	}
	return p.Show(w, r, http.StatusOK, views.LogsPage(view))
}

// logsDownload sends a log as a file of text, as clean as the page shows it, and as much of it as is ever read.
func (p *Pages) logsDownload(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readLog(r)
	if err != nil {
		return err
	}
	l.query.Tail = podlogs.MaxLines
	lines, _, err := p.lastLines(r, l)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": l.query.Pod + "-" + l.query.Container + ".log"}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	for _, line := range lines {
		if _, err := io.WriteString(w, line+"\n"); err != nil { //nolint:gosec // text/plain, as a file, with nosniff
			return nil //nolint:nilerr // the client has gone
		}
	}
	return nil
}

func (p *Pages) lastLines(r *http.Request, l logRequest) (lines []string, cut bool, err error) {
	log, err := p.cluster.Logs(r.Context(), l.id, l.query)
	if err != nil {
		return nil, false, logFault(err)
	}
	defer func() { _ = log.Close() }() // it was read, or failed
	return log.Last()
}

// logFault turns what the API server says of a log into what it means here.
func logFault(err error) error {
	switch {
	case apierrors.IsBadRequest(err):
		return &page.NoLogError{Words: humanize.Sentence("there is no log: " + err.Error())}
	case apierrors.IsNotFound(err):
		return page.ErrNoPod
	}
	return err
}

// restarted reports whether the container ran before.
func (l logRequest) restarted() bool {
	st := &l.pod.Status
	return slices.ContainsFunc(slices.Concat(st.ContainerStatuses, st.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		return s.Name == l.query.Container && (s.RestartCount > 0 || s.LastTerminationState.Terminated != nil)
	})
}

// address returns the query of this view.
func (l logRequest) address() string {
	v := url.Values{"container": {l.query.Container}, "tail": {strconv.FormatInt(l.query.Tail, 10)}}
	for name, on := range map[string]bool{"previous": l.query.Previous, "timestamps": l.query.Timestamps} {
		if on {
			v.Set(name, strconv.FormatBool(on))
		}
	}
	return v.Encode()
}
