package resource

import (
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// What is not offered is not just left out: the page says why.

// cannotAct tells why some of what can be done with other resources cannot be done with this one; "" if all can.
func cannotAct(l objectRequest, d views.Detail) string {
	k := l.ref.Kind
	switch {
	case !d.MayUpdate && !d.MayDelete:
		return "Your role in " + l.space.Team.Name + " can view this, but not change or delete it. " + page.WhomToAsk(l.space)
	case !d.MayUpdate:
		return "Your role in " + l.space.Team.Name + " cannot change this. " + page.WhomToAsk(l.space)
	}
	var words string
	switch {
	case k.KeptBy == catalog.KeptByOperator:
		words = "Portico keeps this up to date by itself: there is nothing to edit."
	case k.Fixed != "":
		words = "It cannot be edited: " + humanize.Sentence(k.Fixed)
	case !d.MayEdit:
		words = "Your role in " + l.space.Team.Name + " cannot edit this. " + page.WhomToAsk(l.space)
	case isApp(k) && d.Paused && !d.Resource.Leaving:
		words = "Resume it before you restart or scale it."
	}
	if !d.MayDelete {
		words = humanize.Join(words, "Your role in "+l.space.Team.Name+" cannot delete this. "+page.WhomToAsk(l.space))
	}
	return words
}
