package resource

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

const (
	defaultTail = 200
	// maxCopies bounds the Pods whose logs are merged.
	maxCopies = 10
)

// tails are the possible numbers of last lines on a page.
var tails = []int{50, 200, 1000}

// logRequest is a request for the log of one container: of one Pod, or of all Pods of an application.
type logRequest struct {
	podRequest               // the page's Pod, or the one selected on the application's tab
	path       string        // of the page
	pods       []*corev1.Pod // whose logs are read
	query      pods.LogQuery
	containers []string

	ofApp  bool     // on the tab of the application
	all    bool     // all Pods
	copies []string // names of the Pods
	hidden int      // number of Pods that are not read
	gone   string   // selected Pod that no longer exists
}

// readLog returns the log selected in the URL; it ignores unknown values.
func (p *Pages) readLog(r *http.Request) (logRequest, error) {
	l, err := p.logOf(r)
	if err != nil {
		return logRequest{}, err
	}
	for _, pod := range l.pods[:min(len(l.pods), 1)] {
		l.containers = containerNames(pod)
	}
	asked := r.URL.Query()
	l.query = pods.LogQuery{
		Namespace: l.ref.Namespace, Container: mainContainer(l.containers), Tail: defaultTail,
		Previous: asked.Get("previous") == "true", Timestamps: asked.Get("timestamps") == "true",
		App: activity.ObjectOf(l.app),
	}
	if n, err := strconv.Atoi(asked.Get("tail")); err == nil && n >= 1 && n <= slices.Max(tails) {
		l.query.Tail = int64(n)
	}
	if name := asked.Get("container"); slices.Contains(l.containers, name) {
		l.query.Container = name
	}
	return l, nil
}

// logOf returns the selected log.
func (p *Pages) logOf(r *http.Request) (logRequest, error) {
	if chi.URLParam(r, "pod") == "" {
		o, err := p.readRequest(r)
		if err != nil {
			return logRequest{}, err
		}
		return p.findCopies(r.Context(), o, r.URL.Query().Get("pod"))
	}
	at, err := p.readPod(r)
	return logRequest{podRequest: at, path: views.LogsPath(at.view.Href), pods: []*corev1.Pod{at.pod}}, err
}

// findCopies returns the Pods whose logs the application's tab shows: the selected one, or the newest.
func (p *Pages) findCopies(ctx context.Context, o objectRequest, chosen string) (logRequest, error) {
	if !isApp(o.ref.Kind) {
		return logRequest{}, page.ErrNoPage
	}
	o.tab = views.TabLogs
	l := logRequest{podRequest: podRequest{objectRequest: o}, ofApp: true, all: chosen == ""}
	l.path = views.LogsPath(views.ResourcePath(o.space.Team.ID, o.ref.Kind.Plural, o.ref.Name))
	var err error
	if l.app, err = p.Cluster.Objects.Get(ctx, o.id, o.ref); err != nil {
		return l, err
	}
	pods, err := p.Cluster.Pods.List(ctx, o.id, l.app)
	if err != nil {
		return l, err
	}
	for _, pod := range pods {
		l.copies = append(l.copies, pod.Name)
	}
	if l.all {
		l.pods = pods[:min(len(pods), maxCopies)]
		l.hidden = len(pods) - len(l.pods)
		return l, nil
	}
	i := slices.Index(l.copies, chosen)
	if i < 0 {
		l.gone = chosen
		return l, nil
	}
	l.pods, l.pod = pods[i:i+1], pods[i]
	l.view = p.podOf(o, l.pod, catalog.TextAt(l.app, "spec", "image"))
	return l, nil
}

// of returns the query for the log of one of the Pods: with several Pods, for a share of the lines, with times.
func (l logRequest) of(pod string) pods.LogQuery {
	q := l.query
	q.Pod = pod
	if l.all {
		q.Timestamps, q.Tail = true, max(1, q.Tail/int64(max(1, len(l.pods))))
	}
	return q
}

// shortName returns the end of a Pod's name, which identifies the Pod within its application.
func shortName(pod string) string { return pod[strings.LastIndexByte(pod, '-')+1:] }

// containerNames returns the containers, followed by the init containers.
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
	if slices.Contains(names, podcause.App) || len(names) == 0 {
		return podcause.App
	}
	return names[0]
}

// lastLines returns the last lines, and a note about Pods whose lines are missing.
func (p *Pages) lastLines(ctx context.Context, l logRequest) (lines []string, cut bool, note string, err error) {
	if !l.all {
		if len(l.pods) == 0 {
			return nil, false, "", &page.NoLogError{Words: "The replica " + l.gone + " is gone. Choose another one."}
		}
		lines, cut, err = p.linesOf(ctx, l.id, l.of(l.pods[0].Name))
		return lines, cut, "", err
	}
	return p.linesOfAll(ctx, l)
}

func (p *Pages) linesOf(ctx context.Context, id auth.Identity, q pods.LogQuery) (
	lines []string, cut bool, err error,
) {
	log, err := p.Cluster.Pods.Logs(ctx, id, q)
	if err != nil {
		return nil, false, logFault(err)
	}
	defer func() { _ = log.Close() }() // it was read, or failed
	return log.Last()
}

// restarted reports whether the Pod's container has a previous run.
func (l logRequest) restarted(pod *corev1.Pod) bool {
	st := &pod.Status
	return slices.ContainsFunc(slices.Concat(st.ContainerStatuses, st.InitContainerStatuses),
		func(s corev1.ContainerStatus) bool {
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
	if l.ofApp && !l.all {
		v.Set("pod", cmp.Or(l.gone, l.view.Name))
	}
	return v.Encode()
}
