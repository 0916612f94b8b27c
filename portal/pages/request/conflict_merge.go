package request

import (
	"net/http"
	"net/url"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
	"github.com/portico-platform/portico/web/views"
)

// merge takes the choices that the page of a conflict asked for, and goes on with the review of what comes of them. The
// draft then begins with their version: whoever changes that one, too, is a conflict again.
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
