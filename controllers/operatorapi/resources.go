package operatorapi

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
)

// mostRecords is the maximum and default number of records in one response.
const mostRecords = 500

func (h *handlers) getResource(r *http.Request) (any, error) {
	of := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	if of.Namespace == operatorapi.NoNamespace {
		of.Namespace = ""
	}
	found, ok := h.Records.Get(r.PathValue("kind"), of)
	if !ok {
		return nil, problem{http.StatusNotFound, "this has not been checked since the operator started"}
	}
	out := operatorapi.Resource{Record: recordToAPI(found)}
	var err error
	if out.Live, err = h.live.get(r.Context(), liveQuery{found.Kind, of, out.UID}); err != nil {
		out.LiveError = truncate(err.Error())
	}
	return out, nil
}

func (h *handlers) listResources(r *http.Request) (any, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem{http.StatusBadRequest, "the query cannot be read"}
	}
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(mostRecords)))
	if err != nil || limit < 1 || limit > mostRecords {
		return nil, problem{http.StatusBadRequest, fmt.Sprintf("limit is a number from 1 to %d", mostRecords)}
	}
	asked := func(name, value string) bool { return query.Get(name) == "" || query.Get(name) == value }
	all := h.Records.All(func(one engine.Record) bool {
		return asked("kind", one.Kind) && asked("namespace", one.Namespace) && asked("name", one.Name)
	})
	return page(all, query.Get("after"), limit), nil
}

// page returns one page of all, which are sorted; after is the position of the last record of the previous page, "" for
// the first page.
func page(all []engine.Record, after string, limit int) operatorapi.List {
	out := operatorapi.List{Items: []operatorapi.Record{}}
	for _, one := range all {
		if after != "" && !isAfter(one, after) {
			continue
		}
		if len(out.Items) == limit {
			last := out.Items[limit-1]
			out.Next = last.Kind + "/" + last.Namespace + "/" + last.Name
			break
		}
		out.Items = append(out.Items, recordToAPI(one))
	}
	return out
}

// isAfter reports whether a record sorts after a position. The parts are compared one by one, as Records sorts: "-",
// which names may contain, would sort before "/".
func isAfter(r engine.Record, after string) bool {
	kind, rest, _ := strings.Cut(after, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	return cmp.Or(cmp.Compare(r.Kind, kind), cmp.Compare(r.Namespace, namespace), cmp.Compare(r.Name, name)) > 0
}

// recordToAPI converts a record to the served type.
func recordToAPI(r engine.Record) operatorapi.Record {
	out := operatorapi.Record{
		Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: string(r.UID), LastChecked: r.LastChecked.UTC(),
		Reason:  r.Reason,
		Message: r.Message, Passes: r.Passes, Failures: r.Failures,
	}
	if r.NextCheck != nil {
		out.NextCheck = new(r.NextCheck.UTC())
	}
	if r.LastPlan != nil {
		out.LastPlan = &operatorapi.Plan{
			At: r.LastPlan.At.UTC(), Actions: make([]operatorapi.Action, 0, len(r.LastPlan.Actions)),
		}
		for _, a := range r.LastPlan.Actions {
			out.LastPlan.Actions = append(out.LastPlan.Actions, operatorapi.Action{Call: a.Name, Why: a.Why})
		}
	}
	return out
}
