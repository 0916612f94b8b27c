package pages

import (
	"net/http"

	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// catalog shows what the team can request.
func (p *Pages) catalog(w http.ResponseWriter, r *http.Request) error {
	id, err := caller(r)
	if err != nil {
		return err
	}
	s := p.spaceOf(r)
	frame, err := p.frame(r, id, s, "Catalog")
	if err != nil {
		return err
	}
	frame.Section = views.Catalog
	view := views.CatalogView{Frame: frame}
	for _, k := range s.kinds {
		may, err := p.cluster.Can(r.Context(), id, "create", k, s.namespace)
		if err != nil {
			return err
		}
		tile := views.Tile{Title: k.Title, Icon: k.Icon, Help: what(k.Name, k.Help), Kind: k.Name}
		if may {
			tile.Href = views.RequestPath(s.team.ID, k.Plural)
		} else {
			tile.Reason = "Your role in " + s.team.Name + " may look, but not request. Ask a developer of the team."
		}
		view.Tiles = append(view.Tiles, tile)
	}
	return p.show(w, r, http.StatusOK, views.CatalogPage(view))
}

// what cuts "S3Bucket is" or "WebApp" from a kind's description: the tile has its name already.
func what(kind, help string) string {
	for _, lead := range []string{kind + " is ", kind + " are ", kind + " "} {
		if len(help) > len(lead) && help[:len(lead)] == lead {
			return prose.Sentence(help[len(lead):])
		}
	}
	return prose.Sentence(help)
}
