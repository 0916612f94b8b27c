package request

import (
	"net/http"
	"net/url"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/web/views"
)

// merge applies the choices made on a conflict page, and continues with the review of the result. The draft is then
// based on the other user's version: if that changes too, there is another conflict.
func (p *Pages) merge(w http.ResponseWriter, r *http.Request, f formRequest) error {
	theirs, err := carried(r, f.kind, "now", "theirs")
	if err != nil {
		return err
	}
	mine, err := carried(r, f.kind, "etag", "yaml")
	if err != nil {
		return err
	}
	conflict := form.NewConflict(f.kind, *f.edit, theirs.Object, mine.Object)
	view := views.Conflict{ETag: theirs.ETag}
	undecided, err := conflict.View(&view, r.PostForm)
	if err != nil {
		return err
	}
	if undecided {
		return p.showVersions(w, r, f, view, http.StatusUnprocessableEntity)
	}
	both, err := conflict.Merge(r.PostForm)
	if err != nil {
		return err
	}
	text, err := catalog.ToYAML(both)
	if err != nil {
		return err
	}
	f.edit = theirs
	return p.review(w, r, f, form.Decode(f.kind, url.Values{"yaml": {string(text)}}, f.facts()).ToForm())
}
