package offers

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
)

// usable returns the items that the namespace can enter in the field: those that no guardrail rejects and, for
// resources in the account, those of the namespace or open to everybody.
func usable(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery, field Field, items []Item) (
	[]operatorapi.Offer, error,
) {
	limits := s.Limits()
	items = slices.DeleteFunc(items, func(i Item) bool { return i.Value == "" || refused(q, field, i.Value, limits) })
	if field.Reference != "" {
		tagged := make([]reference.Tagged, 0, len(items))
		for _, i := range items {
			tagged = append(tagged, reference.Tagged{Name: i.Value, Tags: i.Tags})
		}
		open, err := reference.For(s).Usable(ctx, q.Namespace, field.Reference, tagged)
		if err != nil {
			return nil, err
		}
		items = slices.DeleteFunc(items, func(i Item) bool { return !open[i.Value] })
	}
	out := make([]operatorapi.Offer, 0, len(items))
	for _, i := range items {
		out = append(out, i.Offer)
	}
	return out, nil
}

// refused reports whether a guardrail rejects the value in combination with the other fields of the query.
func refused(q operatorapi.OfferQuery, field Field, value string, limits []guardrails.Limits) bool {
	spec := map[string]any{}
	for name, text := range q.With {
		spec[name] = text
	}
	spec[q.Field] = value
	if field.Many {
		spec[q.Field] = []any{value}
	}
	for _, r := range guardrails.Check(q.Kind, spec, limits...) {
		if r.Field == "spec."+q.Field || slices.Contains(r.Watch, q.Field) {
			return true
		}
	}
	return false
}
