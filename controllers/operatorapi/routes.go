package operatorapi

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

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/fair"
)

// mostRecords is the maximum and default number of records in one response.
const mostRecords = 500

// handlers serves the engine's records.
type handlers struct {
	records  Records
	live     *liveCache
	features *Features
	metrics  prometheus.Gatherer
	people   People    // nil: requests for people are rejected
	since    time.Time // the start of the process

	offers     Offers // nil: the route is off
	offerLooks *looks[offerKey, offerAnswer]
	listSlots  *fair.Slots
	teamOf     func(namespace string) string

	deleted      Deleted // nil: the route is off
	deletedLooks *looks[namespaceKey, operatorapi.DeletedList]
}

// routes returns the handler of all routes.
func (h handlers) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+operatorapi.ResourcesPath, h.listResources)
	mux.HandleFunc("GET "+operatorapi.ResourcesPath+"/{kind}/{namespace}/{name}", h.getResource)
	mux.HandleFunc("GET "+operatorapi.FeaturesPath, h.listFeatures)
	mux.HandleFunc("GET "+operatorapi.ActivityPath, h.getActivity)
	if h.offers != nil {
		mux.HandleFunc("GET "+operatorapi.OffersPath+"/{kind}/{namespace}/{provider}/{field}", h.listOffers)
	}
	if h.deleted != nil {
		mux.HandleFunc("GET "+operatorapi.DeletedPath+"/{namespace}", h.listDeleted)
	}
	if h.people != nil {
		h.people.Routes(mux)
	} else {
		mux.HandleFunc(operatorapi.PeoplePath, noPeople)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The access review was for the decoded path. A path in another encoding could be a different one here.
		if _, pattern := mux.Handler(r); pattern == "" || r.URL.RawPath != "" || path.Clean(r.URL.Path) != r.URL.Path {
			writeProblem(w, http.StatusNotFound, "there is nothing here; there is "+operatorapi.ResourcesPath)
			return
		}
		if r.ContentLength != 0 && r.Method != http.MethodPatch {
			writeProblem(w, http.StatusRequestEntityTooLarge, "requests have no body here")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// DatabasesOff says why the operator creates no database users.
const DatabasesOff = "this is switched off: a platform admin has to give the operator RDS's certificates, with " +
	"--database-ca-file"

// PeopleOff says why requests for people are rejected.
const PeopleOff = "this is switched off: a platform admin has to tell the operator who signs people in, with " +
	"--oidc-issuer-url and the flags beside it"

// noPeople responds where the operator has no token issuer for people.
func noPeople(w http.ResponseWriter, _ *http.Request) {
	writeProblem(w, http.StatusNotImplemented, PeopleOff)
}

func (h handlers) getResource(w http.ResponseWriter, r *http.Request) {
	of := types.NamespacedName{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	if of.Namespace == operatorapi.NoNamespace {
		of.Namespace = ""
	}
	found, ok := h.records.Get(r.PathValue("kind"), of)
	if !ok {
		writeProblem(w, http.StatusNotFound, "this has not been checked since the operator started")
		return
	}
	out := operatorapi.Resource{Record: recordToAPI(found)}
	seen := h.live.get(r.Context(), out.Record)
	out.Live, out.LiveError = seen.values, seen.err
	writeJSON(w, out)
}

func (h handlers) listResources(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		writeProblem(w, http.StatusBadRequest, "the query cannot be read")
		return
	}
	limit, err := strconv.Atoi(cmp.Or(query.Get("limit"), strconv.Itoa(mostRecords)))
	if err != nil || limit < 1 || limit > mostRecords {
		writeProblem(w, http.StatusBadRequest, fmt.Sprintf("limit is a number from 1 to %d", mostRecords))
		return
	}
	asked := func(name, value string) bool { return query.Get(name) == "" || query.Get(name) == value }
	all := h.records.All(func(one engine.Record) bool {
		return asked("kind", one.Kind) && asked("namespace", one.Namespace) && asked("name", one.Name)
	})
	writeJSON(w, page(all, query.Get("after"), limit))
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

func writeJSON(w http.ResponseWriter, v any) { writeResponse(w, http.StatusOK, "application/json", v) }

func writeProblem(w http.ResponseWriter, status int, detail string) {
	writeResponse(w, status, "application/problem+json", operatorapi.Problem{
		Title: http.StatusText(status), Status: status, Detail: detail,
	})
}

func writeResponse(w http.ResponseWriter, status int, kind string, v any) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has gone
}
