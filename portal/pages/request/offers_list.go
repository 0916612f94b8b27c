package request

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
)

// Messages for inputs without a list, which accept typed values.
const (
	chooseAccount = "Choose an AWS account first."
	noList        = "The list is not available now. You can type a value."
)

// offersList responds with the values that the AWS account offers for an input, one per line: the value, a tab, and a
// description. Forms request them when the input gets the focus. 202 means that AWS has not answered yet; any other
// status except 200 says why there is no list.
func (p *Pages) offersList(w http.ResponseWriter, r *http.Request) error {
	id, s, err := p.CallerInTeam(r)
	if err != nil {
		return err
	}
	k, err := page.KindOf(r, s.Kinds)
	if err != nil {
		return err
	}
	field := chi.URLParam(r, "field")
	by, offered := k.Offers[field]
	if !offered {
		return page.ErrNoPage
	}
	values := r.URL.Query()
	q := operatorapi.OfferQuery{
		Namespace: s.Namespace, Field: field, Provider: values.Get(form.ProviderField),
		Region: values.Get(form.RegionField), With: map[string]string{},
	}
	for _, name := range by {
		q.With[name] = values.Get("spec." + name)
	}
	if q.Provider == "" {
		return p.plain(w, r, http.StatusConflict, chooseAccount)
	}
	answer, err := p.Cluster.Operator.Offers(r.Context(), id, k, q)
	if err != nil {
		return err
	}
	switch {
	case answer.Pending:
		return p.plain(w, r, http.StatusAccepted, "")
	case answer.Error != "":
		return p.plain(w, r, http.StatusServiceUnavailable, noList+" Because: "+humanize.Sentence(answer.Error))
	case !answer.Known:
		return p.plain(w, r, http.StatusServiceUnavailable, noList)
	}
	var lines []string
	for _, o := range answer.Items {
		lines = append(lines, oneLine(o.Value)+"\t"+oneLine(o.Label))
	}
	return p.plain(w, r, http.StatusOK, strings.Join(lines, "\n"))
}

// oneLine returns a text of AWS without line breaks and tabs, which would break the list.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plain writes a text for the script as the response.
func (p *Pages) plain(w http.ResponseWriter, r *http.Request, status int, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", cmp.Or(w.Header().Get("Cache-Control"), "no-store"))
	w.WriteHeader(status)
	if _, err := w.Write([]byte(text)); err != nil { //nolint:gosec // plain text, which no browser takes for markup
		p.Log.DebugContext(r.Context(), "the client went away", "path", r.URL.Path)
	}
	return nil
}
