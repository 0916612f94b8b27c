package resource

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/web/views"
)

// logs shows the page of a log: its last lines, to which logsLive appends.
func (p *Pages) logs(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readLog(r)
	if err != nil {
		return err
	}
	if err := p.frameOfLog(r, &l); err != nil {
		return err
	}
	view := views.Logs{
		Frame: l.frame, App: page.ResourceOf(l.space, l.ref.Kind, l.app, p.Now()), Path: l.path,
		Container: l.query.Container, Containers: l.containers, Tail: int(l.query.Tail), Tails: tails,
		Previous: l.query.Previous, Timestamps: l.query.Timestamps, Restarted: slices.ContainsFunc(l.pods, l.restarted),
		Query: l.address(),
	}
	if err := p.addPlace(r.Context(), l, &view); err != nil {
		return err
	}
	view.Lines, view.Cut, view.Note, err = p.lastLines(r.Context(), l)
	if none, ok := errors.AsType[*page.NoLogError](err); ok {
		view.Empty = none.Words
	} else if err != nil {
		return err
	} else if len(view.Lines) == 0 {
		view.Empty = "Nothing has been written yet."
	}
	if view.Cut {
		l.query.Tail = int64(len(view.Lines)) // the stream must show these lines again, and new ones
	}
	if !l.query.Previous && l.gone == "" {
		view.Live = l.path + "/live?" + l.address()
	}
	auth.Untransformed(w.Header())
	return p.Show(w, r, http.StatusOK, views.LogsPage(view))
}

// frameOfLog adds the frame of the page of a log.
func (p *Pages) frameOfLog(r *http.Request, l *logRequest) (err error) {
	if !l.ofApp {
		return p.frameOf(r, &l.podRequest, "Log of "+l.pod.Name+", "+l.query.Container)
	}
	l.frame, err = p.Frame(r, l.id, l.space, l.ref.Name, views.TabTitle(l.tab), l.ref.Kind.Title)
	l.frame.Section = views.Resources
	return err
}

// addPlace adds where the log is shown: on the page of a Pod, or on the tab of an application.
func (p *Pages) addPlace(ctx context.Context, l logRequest, view *views.Logs) error {
	if !l.ofApp {
		view.Pod = l.view
		return nil
	}
	view.Copies, view.Copy = l.copies, cmp.Or(l.gone, l.view.Name)
	view.Tabs = views.Detail{Frame: l.frame, Tab: views.TabLogs, Resource: view.App, Runs: true}
	return p.addEvents(ctx, l.objectRequest, l.app, &view.Tabs)
}

// logsDownload sends a log as a text file, cleaned as on the page, up to the limit of a read.
func (p *Pages) logsDownload(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readLog(r)
	if err != nil {
		return err
	}
	l.query.Tail = podlogs.MaxLines
	lines, _, _, err := p.lastLines(r.Context(), l)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": cmp.Or(l.view.Name, l.ref.Name) + "-" +
			l.query.Container + ".log"}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	auth.Untransformed(h)
	for _, line := range lines {
		if _, err := io.WriteString(w, line+"\n"); err != nil { //nolint:gosec // text/plain, as a file, with nosniff
			return nil //nolint:nilerr // the client has gone
		}
	}
	return nil
}

// logFault translates the API server's errors about a log.
func logFault(err error) error {
	if none, ok := errors.AsType[*failure.NoLogError](err); ok {
		return &page.NoLogError{Words: humanize.Sentence("there is no log: " + none.Why), Never: none.Never}
	}
	if apierrors.IsNotFound(err) {
		return page.ErrNoPod
	}
	return err
}
