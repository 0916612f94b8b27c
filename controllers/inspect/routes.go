package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/inspect"
	"github.com/portico-platform/portico/controllers/engine"
)

// mostRecords is how many records one answer holds at most, and by default.
const mostRecords = 500

// views answers with what the engine remembers.
type views struct {
	records  Records
	looks    *looks
	features *Features
	metrics  prometheus.Gatherer
	since    time.Time // the process runs
}

// routes are all there are.
func (v views) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+inspect.ResourcesPath, v.list)
	mux.HandleFunc("GET "+inspect.ResourcesPath+"/{kind}/{namespace}/{name}", v.one)
	mux.HandleFunc("GET "+inspect.FeaturesPath, v.listFeatures)
	mux.HandleFunc("GET "+inspect.WorkPath, v.tellWork)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Access was granted to the path as it reads decoded; one that is written in another way could be another one here.
		if _, pattern := mux.Handler(r); pattern == "" || r.URL.RawPath != "" || path.Clean(r.URL.Path) != r.URL.Path {
			problem(w, http.StatusNotFound, "there is nothing here; there is "+inspect.ResourcesPath)
			return
		}
		if r.ContentLength != 0 {
			problem(w, http.StatusRequestEntityTooLarge, "requests have no body here")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (v views) one(w http.ResponseWriter, r *http.Request) {
	of := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	if of.Namespace == inspect.NoNamespace {
		of.Namespace = ""
	}
	found, ok := v.records.Get(r.PathValue("kind"), of)
	if !ok {
		problem(w, http.StatusNotFound, "this has not been checked since the operator started")
		return
	}
	out := inspect.Resource{Record: shown(found)}
	seen := v.looks.at(r.Context(), out.Record)
	out.Live, out.LiveError = seen.values, seen.err
	answer(w, out)
}

func (v views) list(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		problem(w, http.StatusBadRequest, "the query cannot be read")
		return
	}
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(mostRecords)))
	if err != nil || limit < 1 || limit > mostRecords {
		problem(w, http.StatusBadRequest, fmt.Sprintf("limit is a number from 1 to %d", mostRecords))
		return
	}
	asked := func(name, value string) bool { return query.Get(name) == "" || query.Get(name) == value }
	all := v.records.All(func(one engine.Record) bool {
		return asked("kind", one.Kind) && asked("namespace", one.Namespace) && asked("name", one.Name)
	})
	answer(w, page(all, query.Get("after"), limit))
}

// page cuts one page out of all, which are sorted; after is the position of the last one before, "" for the first page.
func page(all []engine.Record, after string, limit int) inspect.List {
	out := inspect.List{Items: []inspect.Record{}}
	for _, one := range all {
		if after != "" && !beyond(one, after) {
			continue
		}
		if len(out.Items) == limit {
			last := out.Items[limit-1]
			out.Next = last.Kind + "/" + last.Namespace + "/" + last.Name
			break
		}
		out.Items = append(out.Items, shown(one))
	}
	return out
}

// beyond tells whether a record stands after a position. Its parts are compared one by one, as Records sorts: "-", which
// names may hold, comes before "/".
func beyond(r engine.Record, after string) bool {
	kind, rest, _ := strings.Cut(after, "/")
	namespace, name, _ := strings.Cut(rest, "/")
	return cmp.Or(cmp.Compare(r.Kind, kind), cmp.Compare(r.Namespace, namespace), cmp.Compare(r.Name, name)) > 0
}

// shown is a record as it is served.
func shown(r engine.Record) inspect.Record {
	out := inspect.Record{
		Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: string(r.UID), LastChecked: r.LastChecked.UTC(), Reason: r.Reason,
		Message: r.Message, Passes: r.Passes, Failures: r.Failures,
	}
	if r.NextCheck != nil {
		out.NextCheck = new(r.NextCheck.UTC())
	}
	if r.LastPlan != nil {
		out.LastPlan = &inspect.Plan{At: r.LastPlan.At.UTC(), Steps: make([]inspect.Step, 0, len(r.LastPlan.Steps))}
		for _, s := range r.LastPlan.Steps {
			call, why, _ := strings.Cut(s, " (")
			out.LastPlan.Steps = append(out.LastPlan.Steps, inspect.Step{Call: call, Why: strings.TrimSuffix(why, ")")})
		}
	}
	return out
}

func answer(w http.ResponseWriter, v any) { write(w, http.StatusOK, "application/json", v) }

func problem(w http.ResponseWriter, status int, detail string) {
	write(w, status, "application/problem+json", inspect.Problem{Title: http.StatusText(status), Status: status, Detail: detail})
}

func write(w http.ResponseWriter, status int, kind string, v any) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the reader has gone
}
