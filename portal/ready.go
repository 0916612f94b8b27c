package portal

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/api/silence"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/portal/sse"
)

// readyz responds whether the portal is ready. Outsiders see no details, except those that everybody can see. A portal
// that was ready stays so while the identity provider does not answer, and says it.
func (p Parts) readyz(w http.ResponseWriter, r *http.Request) {
	says := "ok"
	if !p.Provider.Outage().IsZero() {
		says = "ok, but the identity provider does not answer: nobody can sign in"
	}
	answer(w, says, p.ready(r))
}

func (p Parts) ready(r *http.Request) error {
	if sse.Leaving(r.Context()) {
		return errors.New("not ready: this replica is about to end")
	}
	if err := p.Cluster.Ready(); err != nil {
		p.Log.InfoContext(r.Context(), "not ready", "cause", err)
		if silent, ok := errors.AsType[*silence.Error](err); ok {
			return fmt.Errorf("not ready: %w", silent)
		}
		return errors.New("not ready: the cache is being filled")
	}
	if p.Installation == nil {
		return nil
	}
	results := p.Installation.Results()
	for _, result := range results {
		if err := result.Failure(); err != nil {
			p.Log.InfoContext(r.Context(), "not ready", "check", result.Name, "cause", err)
		}
	}
	return lacking(results)
}

// lacking returns what is not known to be as it should, with details of public checks only.
func lacking(results []check.Result) error {
	var logged, says []string
	for _, result := range results {
		switch err := result.Failure(); {
		case err == nil:
		case result.Public && result.Known:
			says = append(says, err.Error())
		default:
			logged = append(logged, result.Name)
		}
	}
	if len(logged) > 0 {
		says = append(says, "the log says what is wrong with "+strings.Join(logged, ", "))
	}
	if len(says) == 0 {
		return nil
	}
	return errors.New("not ready: " + strings.Join(says, "; "))
}

// answer responds with 200 and says, or with 503 and the error.
func answer(w http.ResponseWriter, says string, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte(says + "\n")) // the client has gone
}
