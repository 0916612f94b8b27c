package operatorapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

// handlers answer the questions.
type handlers struct {
	Source
	since   time.Time // the start of the process
	live    *awsRead[liveQuery, map[string]string]
	offers  *awsRead[operatorapi.OfferQuery, []operatorapi.Offer]
	deleted *awsRead[string, operatorapi.DeletedList]
}

func newHandlers(s Source) *handlers {
	cache := newReadCache(s)
	return &handlers{
		Source: s, since: s.Now(), live: liveRead(cache, s.ReadLive), offers: offersRead(cache, s.Offers),
		deleted: deletedRead(cache, s.Deleted),
	}
}

// questions returns what callers can ask with GET, by path: each function returns the answer, which is written as JSON.
// Who may ask is decided before, by package authz: a caller needs the right to get the path.
func (h *handlers) questions() map[string]func(r *http.Request) (any, error) {
	all := map[string]func(r *http.Request) (any, error){
		operatorapi.ResourcesPath:                                h.listResources,
		operatorapi.ResourcesPath + "/{kind}/{namespace}/{name}": h.getResource,
		operatorapi.FeaturesPath:                                 h.listFeatures,
		operatorapi.ActivityPath:                                 h.getActivity,
	}
	if h.Offers != nil {
		all[operatorapi.OffersPath+"/{kind}/{namespace}/{provider}/{field}"] = h.listOffers
	}
	if h.Deleted != nil {
		all[operatorapi.DeletedPath+"/{namespace}"] = h.listDeleted
	}
	return all
}

// routes returns the handler of all routes.
func (h *handlers) routes() http.Handler {
	mux := http.NewServeMux()
	for path, answer := range h.questions() {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			out, err := answer(r)
			if p, ok := errors.AsType[problem](err); ok {
				writeProblem(w, p.status, p.detail)
				return
			}
			writeResponse(w, http.StatusOK, "application/json", out)
		})
	}
	for path, other := range map[string]struct {
		routes Routes
		off    string
	}{
		operatorapi.PeoplePath:   {h.People, PeopleOff},
		operatorapi.ExchangePath: {h.Deployers, DeployersOff},
	} {
		if other.routes != nil {
			other.routes.Routes(mux)
			continue
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			writeProblem(w, http.StatusNotImplemented, other.off)
		})
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

// DeployersOff says why tokens of CI jobs are not exchanged.
const DeployersOff = "this is switched off: a platform admin has to tell the operator the portal's URL, with " +
	"--deploy-audience, and who signs people in, with --oidc-issuer-url and the flags beside it"

// problem is an error for the caller.
type problem struct {
	status int
	detail string
}

func (p problem) Error() string { return p.detail }

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
