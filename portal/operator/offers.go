package operator

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Offers are the values that can be entered in a field of a request.
type Offers struct {
	Known bool // else the operator does not answer, or can list nothing for the field
	operatorapi.Offers
}

// Offers returns what an AWS account has for a field of a request, as patiently as Of. Whether the caller can request
// such an object was asked before.
func (c *Client) Offers(ctx context.Context, q operatorapi.OfferQuery) Offers {
	offers, _ := c.tell(ctx, question{path: q.Path()}, readOffers).(Offers)
	return offers
}

// readOffers takes an operator that does not know the field for one that has nothing to list.
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
