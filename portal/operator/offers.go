package operator

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Offers are the values that can be entered in a field of a request.
type Offers struct {
	Known bool // else the operator does not answer, or has no list for the field
	operatorapi.Offers
}

// Offers returns an AWS account's values for a field of a request, with the same time limit as Of. The caller must have
// checked that such an object can be requested.
func (c *Client) Offers(ctx context.Context, q operatorapi.OfferQuery) Offers {
	offers, _ := c.tell(ctx, question{path: q.Path()}, readOffers).(Offers)
	return offers
}

// readOffers parses the response; an operator that does not know the field has no list.
func readOffers(body []byte) (any, error) {
	if body == nil {
		return Offers{}, nil
	}
	out := Offers{Known: true}
	if err := json.Unmarshal(body, &out.Offers); err != nil {
		return nil, fmt.Errorf("read the operator's answer: %w", err)
	}
	return out, nil
}
