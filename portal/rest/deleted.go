package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/portico-platform/portico/portal/cluster/people"
)

type deletedInput struct {
	Namespace string `path:"namespace"`
}

type deletedOutput struct {
	Body struct {
		Items    []deletedItem `json:"items" doc:"Sorted by kind and name."`
		Problems []string      `json:"problems" doc:"Which AWS accounts and regions did not answer, and why: what is there is not among the items."`
		Pending  bool          `json:"pending" doc:"AWS has not answered yet: ask again in a few seconds."`
	}
}

type deletedItem struct {
	Kind      string            `json:"kind" doc:"Kind of the object that was deleted."`
	Name      string            `json:"name" doc:"Its name."`
	ID        string            `json:"id" doc:"The name or ID of what is left, in AWS."`
	ARN       string            `json:"arn"`
	Facts     string            `json:"facts,omitempty" doc:"What it is, in words, such as its size."`
	Provider  string            `json:"provider" doc:"The AWSProvider that leads to it."`
	Account   string            `json:"account" doc:"The AWS account that has it."`
	Region    string            `json:"region"`
	Snapshot  bool              `json:"snapshot" doc:"True for a snapshot of the data, false for the resource itself, which was kept."`
	Taken     *time.Time        `json:"taken,omitempty" doc:"When the snapshot was taken."`
	Spec      map[string]string `json:"spec" doc:"What a request of the same kind has to say to get it back, by paths below spec: for a resource that was kept together with the same name."`
	Choose    []string          `json:"choose" doc:"Required fields, by paths below spec, of which AWS knows nothing any more: choose their values."`
	NameInUse bool              `json:"nameInUse" doc:"Another object of the kind has the name now. A resource that was kept cannot be managed again before that one is deleted."`
}

func (a *API) deleted(ctx context.Context, in *deletedInput) (*deletedOutput, error) {
	if !isNamespace(in.Namespace) {
		return nil, noNamespace(ctx, in.Namespace)
	}
	all, err := a.cluster.Operator.Deleted(ctx, caller(ctx), in.Namespace)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	if !all.Known {
		return nil, later(problem(ctx, http.StatusServiceUnavailable, people.OperatorAway), retryAfter)
	}
	out := &deletedOutput{}
	out.Body.Items, out.Body.Problems, out.Body.Pending = make([]deletedItem, 0, len(all.Items)),
		append([]string{}, all.Problems...), all.Pending
	for _, d := range all.Items {
		out.Body.Items = append(out.Body.Items, deletedItem{
			Kind: d.Kind, Name: d.Name, ID: d.ID, ARN: d.ARN, Facts: d.Facts, Provider: d.Provider, Account: d.Account,
			Region:   d.Region,
			Snapshot: d.Snapshot, Taken: d.Taken, Spec: d.Fields, Choose: append([]string{}, d.Choose...),
			NameInUse: d.NameInUse,
		})
	}
	return out, nil
}
