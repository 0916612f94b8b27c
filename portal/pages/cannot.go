package pages

import (
	"context"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/prose"
	"github.com/portico-platform/portico/web/views"
)

// What is not offered is not just left out: the page says why.

// cannotRequest is why the caller can request nothing in the space; "" for those who can.
func (p *Pages) cannotRequest(ctx context.Context, id auth.Identity, s space) (string, error) {
	for _, k := range s.kinds {
		if may, err := p.cluster.Can(ctx, id, "create", k, s.namespace); may || err != nil {
			return "", err
		}
	}
	return viewOnly(s), nil
}

// viewOnly is said to those whose role cannot request.
func viewOnly(s space) string {
	return "Your role in " + s.team.Name + " can view, but not request. " + whomToAsk(s)
}

func whomToAsk(s space) string {
	if s.namespace == "" {
		return "Ask a platform admin."
	}
	return "Ask a developer of the team."
}

// cannotAct is why some of what can be done with other resources cannot be done with this one; "" if all can.
func cannotAct(l looking, d views.Detail) string {
	k := l.ref.Kind
	switch {
	case !d.MayUpdate && !d.MayDelete:
		return "Your role in " + l.space.team.Name + " can view this, but not change or delete it. " + whomToAsk(l.space)
	case !d.MayUpdate:
		return "Your role in " + l.space.team.Name + " cannot change this. " + whomToAsk(l.space)
	}
	var words string
	switch {
	case k.KeptBy == catalog.KeptByOperator:
		words = "Portico keeps this up to date by itself: there is nothing to edit."
	case k.Fixed != "":
		words = "It cannot be edited: " + prose.Sentence(k.Fixed)
	case !d.MayEdit:
		words = "Your role in " + l.space.team.Name + " cannot edit this. " + whomToAsk(l.space)
	case isApp(k) && d.Paused && !d.Resource.Leaving:
		words = "Resume it before you restart or scale it."
	}
	if !d.MayDelete {
		words = joined(words, "Your role in "+l.space.team.Name+" cannot delete this. "+whomToAsk(l.space))
	}
	return words
}
