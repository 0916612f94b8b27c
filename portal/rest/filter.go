package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/portal/listing"
)

// Filter narrows a list.
type Filter struct {
	LabelSelector string `query:"labelSelector" maxLength:"1000" example:"team=search,!trial" doc:"Only objects whose labels match, in the syntax of Kubernetes: team=search,!trial."`
	Status        string `query:"status" enum:"ready,in-progress,needs-you,paused,deleting" doc:"Only objects that are doing so. ready: all is done. in-progress: Portico is at work. needs-you: it failed, and is tried again. paused: Portico leaves it alone. deleting: it goes away."`
	Search        string `query:"q" maxLength:"200" doc:"Only objects with all these words in name, kind, endpoint, provider or requester, or in the namespace where the list is of all, in capital letters or small ones."`
}

// read returns the filter over a view; an error is a problem document.
func (f Filter) read(ctx context.Context, v view) (listing.Filter, error) {
	out := listing.Filter{Words: strings.TrimSpace(f.Search), Across: v.namespace == ""}
	selector, err := labels.Parse(f.LabelSelector)
	if err != nil {
		return out, problem(ctx, http.StatusUnprocessableEntity, "the label selector cannot be read: write it as for "+
			"kubectl, such as team=search,!trial",
			&huma.ErrorDetail{Location: "query.labelSelector", Message: err.Error(), Value: f.LabelSelector})
	}
	if !selector.Empty() {
		out.Labels = selector
	}
	out.Phase, _ = phase.Parse(f.Status) // huma has validated it
	return out, nil
}
