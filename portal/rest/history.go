package rest

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

type historyOutput struct {
	Body struct {
		Items []pastVersion `json:"items"`
	}
}

type pastVersion struct {
	Generation  int64          `json:"generation" doc:"metadata.generation of the object in this version. Those that are missing were not recorded."`
	Time        time.Time      `json:"time" doc:"When it was changed, or if that is not known when it was recorded."`
	ChangedBy   string         `json:"changedBy,omitempty" doc:"Who changed it, as Kubernetes RBAC knows the user; absent if that is not known."`
	ChangedWith string         `json:"changedWith,omitempty" doc:"The field manager that changed it, which is what the client says of itself, such as portico-portal or kubectl-edit; absent if that is not known."`
	ChangedRun  string         `json:"changedRun,omitempty" doc:"The run of a pipeline that changed it, in one line; absent if none did."`
	Changed     []string       `json:"changed" doc:"What differs from the next older version, as JSON pointers."`
	Spec        map[string]any `json:"spec" doc:"The spec in this version."`
}

func (a *API) history(ctx context.Context, ref catalog.Ref, _ *Place) (*historyOutput, error) {
	if err := a.possible(ctx, "get", ref); err != nil {
		return nil, a.fail(ctx, err)
	}
	obj, err := a.cluster.Objects.Get(ctx, caller(ctx), ref)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	all, err := a.cluster.Operator.History(ctx, caller(ctx), ref, obj)
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &historyOutput{}
	out.Body.Items = make([]pastVersion, 0, len(all))
	for i, v := range all {
		one := pastVersion{
			Generation: v.Generation, Time: v.At.UTC(), ChangedBy: v.By, ChangedWith: v.With, ChangedRun: v.Run,
			Spec: v.Spec, Changed: []string{},
		}
		if i+1 < len(all) {
			was, is := specOf(all[i+1]), specOf(v)
			for _, d := range ref.Kind.Differences(was, is, is) {
				one.Changed = append(one.Changed, d.Pointer())
			}
		}
		out.Body.Items = append(out.Body.Items, one)
	}
	return out, nil
}

func specOf(v cluster.Version) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": v.Spec}}
}
