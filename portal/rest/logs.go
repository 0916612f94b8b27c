package rest

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/pods"
)

type logsInput struct {
	Place
	Pod       string `query:"pod" doc:"Name of one of its Pods; left out, the newest."`
	Container string `query:"container" default:"app" minLength:"1" doc:"Container of the Pod."`
	Tail      int64  `query:"tail" default:"200" minimum:"1" maximum:"5000" doc:"How many of the last lines."`
	Previous  bool   `query:"previous" doc:"Of the run before the last restart."`
	Times     bool   `query:"timestamps" doc:"With the time in front of each line."`
	Follow    bool   `query:"follow" doc:"Answer with a stream of server-sent events: the last lines, then what is written."`
}

type logsOutput struct {
	Body func(huma.Context)
}

// logWords describe reading a log in the document.
const logWords = "The last lines, 1 MiB at most, as the caller can read them with kubectl logs. Control characters " +
	"are removed and lines above 8 KiB cut. 400 says that there is no log, or none yet, and why. With follow=true " +
	"the answer is a stream (text/event-stream). Events: lines, with {\"lines\":[…]}; waiting, with {\"message\"}, " +
	"while there is no log yet; end, with {\"reason\",\"message\"}, where reason is ended (the container " +
	"has), bound (5,000 lines or 2 MiB were read), refused (there is none to read: problem is the problem " +
	"document that says why) or lost (the connection to the log is); finished, the last of all."

func (a *API) logs(ctx context.Context, ref catalog.Ref, in *logsInput) (*logsOutput, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	if in.Follow && in.Previous {
		return nil, problem(ctx, http.StatusUnprocessableEntity, "the run before the last restart has ended: leave "+
			"out follow or previous",
			&huma.ErrorDetail{Location: "query.previous", Message: "cannot be given with follow"})
	}
	query, err := a.logQuery(ctx, caller(ctx), ref, in)
	if _, wait := noLogYet(err); in.Follow && (err == nil || wait) {
		return a.followLog(ctx, ref, in)
	}
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return a.lastLog(ctx, query)
}

// lastLog responds with the last lines.
func (a *API) lastLog(ctx context.Context, query pods.LogQuery) (*logsOutput, error) {
	log, err := a.cluster.Pods.Logs(ctx, caller(ctx), query)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	defer func() { _ = log.Close() }() // it was read, or failed
	lines, _, err := log.Last()
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	return &logsOutput{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", "text/plain; charset=utf-8")
		hc.SetHeader("Cache-Control", "no-store, no-transform")
		hc.SetStatus(http.StatusOK)
		for _, line := range lines {
			_, _ = io.WriteString(hc.BodyWriter(), line+"\n") // the client has gone
		}
	}}, nil
}

// logQuery returns the query for the Pod and the container. It returns a *failure.NoLogError if the web app has no Pod.
func (a *API) logQuery(ctx context.Context, id auth.Identity, ref catalog.Ref, in *logsInput) (pods.LogQuery, error) {
	none := pods.LogQuery{}
	app, err := a.cluster.Objects.Get(ctx, id, ref)
	if err != nil {
		return none, err
	}
	all, err := a.cluster.Pods.List(ctx, id, app)
	if err != nil {
		return none, err
	}
	pod, err := chosen(ctx, all, ref.Name, in)
	if err != nil {
		return none, err
	}
	return pods.LogQuery{
		Namespace: ref.Namespace, Pod: pod.Name, Container: in.Container, Tail: in.Tail, Previous: in.Previous,
		Timestamps: in.Times,
		Follow:     in.Follow, App: activity.ObjectOf(app),
	}, nil
}

// chosen returns the named Pod, or the newest if none is named.
func chosen(ctx context.Context, all []*corev1.Pod, app string, in *logsInput) (*corev1.Pod, error) {
	i := slices.IndexFunc(all, func(p *corev1.Pod) bool { return in.Pod == "" || p.Name == in.Pod })
	switch {
	case i < 0 && in.Pod == "":
		return nil, &failure.NoLogError{Why: app + " has no Pod at the moment; its status says why"}
	case i < 0:
		return nil, problem(ctx, http.StatusNotFound, app+" has no Pod of that name")
	}
	if !slices.Contains(containersOf(all[i]), in.Container) {
		return nil, problem(ctx, http.StatusNotFound, "Pod "+all[i].Name+" has no container of that name; it has "+
			strings.Join(containersOf(all[i]), ", "))
	}
	return all[i], nil
}

// containersOf returns the names of the containers, followed by those of the init containers.
func containersOf(p *corev1.Pod) (names []string) {
	for _, all := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range all {
			names = append(names, all[i].Name)
		}
	}
	return names
}
