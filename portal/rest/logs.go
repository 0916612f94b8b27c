package rest

import (
	"context"
	"io"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
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
	"are removed and lines above 8 KiB cut. 400 says that there is no log yet. With follow=true the answer " +
	"is a stream (text/event-stream). Events: lines, with {\"lines\":[…]}; waiting, with {\"message\"}, " +
	"while there is no log yet; end, with {\"reason\",\"message\"}, where reason is ended (the container " +
	"has), bound (5,000 lines or 2 MiB were read), refused (there is none to read: problem is the problem " +
	"document that says why) or lost (the connection to the log is); finished, the last of all."

func (a *API) logs(ctx context.Context, ref catalog.Ref, in *logsInput) (*logsOutput, error) {
	query, err := a.logQuery(ctx, ref, in)
	if err != nil {
		return nil, err
	}
	if in.Follow {
		return a.followLog(ctx, ref, query)
	}
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

// logQuery returns the query for the Pod and the container; the error is a problem document.
func (a *API) logQuery(ctx context.Context, ref catalog.Ref, in *logsInput) (pods.LogQuery, error) {
	none := pods.LogQuery{}
	if err := a.possible(ctx, "get", ref); err != nil {
		return none, a.fail(ctx, err)
	}
	if in.Follow && in.Previous {
		return none, problem(ctx, http.StatusUnprocessableEntity, "the run before the last restart has ended: leave "+
			"out follow or previous",
			&huma.ErrorDetail{Location: "query.previous", Message: "cannot be given with follow"})
	}
	app, err := a.cluster.Objects.Get(ctx, caller(ctx), ref)
	if err != nil {
		return none, a.fail(ctx, err)
	}
	all, err := a.cluster.Pods.List(ctx, caller(ctx), app)
	if err != nil {
		return none, a.fail(ctx, err)
	}
	i := slices.IndexFunc(all, func(p *corev1.Pod) bool { return in.Pod == "" || p.Name == in.Pod })
	if i < 0 || !hasContainer(all[i], in.Container) {
		return none, problem(ctx, http.StatusNotFound, "there is no such Pod or container of "+ref.Name)
	}
	return pods.LogQuery{
		Namespace: ref.Namespace, Pod: all[i].Name, Container: in.Container, Tail: in.Tail, Previous: in.Previous,
		Timestamps: in.Times,
		Follow:     in.Follow, App: activity.ObjectOf(app),
	}, nil
}

func hasContainer(p *corev1.Pod, name string) bool {
	named := func(c corev1.Container) bool { return c.Name == name }
	return slices.ContainsFunc(p.Spec.Containers, named) || slices.ContainsFunc(p.Spec.InitContainers, named)
}
