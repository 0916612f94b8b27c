package deploy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
)

// exchangeError is an error with its HTTP status.
type exchangeError struct {
	status int
	error
}

func (e *exchangeError) Unwrap() error { return e.error }

func failed(status int, format string, args ...any) error {
	return &exchangeError{status, fmt.Errorf(format, args...)}
}

// Routes registers the route on mux.
func (e *Exchange) Routes(mux *http.ServeMux) {
	mux.HandleFunc("POST "+operatorapi.ExchangePath, func(w http.ResponseWriter, r *http.Request) {
		a := &attempt{}
		out, err := e.exchange(r, a)
		e.record(r, a, err)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err != nil {
			status, detail := answerFor(err)
			if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
				w.Header().Set("Retry-After", "5")
			}
			writeJSON(w, status, "application/problem+json",
				operatorapi.Problem{Title: http.StatusText(status), Status: status, Detail: detail})
			return
		}
		writeJSON(w, http.StatusOK, "application/json", out)
	})
}

// answerFor returns the response to an error.
func answerFor(err error) (status int, detail string) {
	if refused, ok := errors.AsType[*RefusalError](err); ok {
		return http.StatusBadRequest, refused.Text
	}
	if known, ok := errors.AsType[*exchangeError](err); ok {
		return known.status, known.Error()
	}
	if _, away := errors.AsType[*identity.ProviderError](err); away || isLater(err) {
		return http.StatusServiceUnavailable, "the issuer's keys are not available at the moment, so that the " +
			"token cannot be verified; try again"
	}
	return http.StatusServiceUnavailable, "the token cannot be exchanged at the moment; try again"
}

// attempt is what is known of an exchange, for the record.
type attempt struct {
	issuer string
	run    deploy.Run
	row    Row
}

// record writes the audit line; docs/audit.md lists the fields.
func (e *Exchange) record(r *http.Request, a *attempt, err error) {
	decision, outcome := "allow", "done"
	log := e.Log
	if err != nil {
		status, detail := answerFor(err)
		decision, outcome = "deny", "forbidden"
		if status != http.StatusBadRequest {
			decision, outcome = "allow", "failed"
			log.Info("a token could not be exchanged", "cause", identity.Clean(err.Error()))
		}
		log = log.WithValues("why", detail)
	}
	actor := ""
	if a.row.Team != "" {
		actor = deploy.Username(a.row.Team, a.row.Deployer.Name)
	}
	log.Info("exchange", "actor", actor, "issuer", a.issuer, "repository", a.run.Repository,
		"workflow", a.run.Workflow, "commit", a.run.Commit, "ref", a.run.Ref, "run", a.run.ID,
		"decision", decision, "outcome", outcome,
		"requestID", short(r.Header.Get(operatorapi.HeaderRequest)),
		"address", short(r.Header.Get(operatorapi.HeaderAddress)), "audit", true)
}

func writeJSON(w http.ResponseWriter, status int, kind string, v any) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has gone
}
