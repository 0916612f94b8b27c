package rest

import (
	"context"
	"time"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/cluster/feed"
)

type activityInput struct {
	Namespace string `query:"namespace" doc:"Only of this namespace."`
	Limit     int    `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"How many at most."`
}

type activityOutput struct {
	Body struct {
		Items []activityItem `json:"items"`
	}
}

type activityItem struct {
	Time      time.Time `json:"time" doc:"When it happened last."`
	Actor     string    `json:"actor" doc:"Who did it, as Kubernetes RBAC knows the user."`
	ActorName string    `json:"actorName,omitempty" doc:"What the identity provider calls the user."`
	Reason    string    `json:"reason" doc:"What was done, in a word, e.g. Created, Changed, Deleted, Restarted or LogsRead."`
	Message   string    `json:"message" doc:"The same as a sentence, with the names of changed fields and without their values."`
	Count     int32     `json:"count" doc:"How often it happened."`
	Kind      string    `json:"kind" doc:"Kind of the object that it was done to."`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
}

func (a *API) activity(ctx context.Context, in *activityInput) (*activityOutput, error) {
	if in.Namespace != "" && !isNamespace(in.Namespace) {
		return nil, noNamespace(ctx, in.Namespace)
	}
	done, err := a.cluster.Objects.Activity(ctx, caller(ctx), in.Namespace)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &activityOutput{}
	out.Body.Items = make([]activityItem, 0, min(in.Limit, len(done.Events)))
	for _, e := range done.Events[:min(in.Limit, len(done.Events))] {
		about := e.InvolvedObject
		out.Body.Items = append(out.Body.Items, activityItem{
			Time: feed.EventTime(e).UTC(), Actor: e.Annotations[activity.AnnotationActor],
			ActorName: e.Annotations[activity.AnnotationActorName],
			Reason:    e.Reason, Message: e.Message, Count: feed.EventCount(e),
			Kind: about.Kind, Namespace: about.Namespace, Name: about.Name,
		})
	}
	return out, nil
}
