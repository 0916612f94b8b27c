package operator

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

// errandPatience bounds the time for a user's request; the operator verifies the token, and sends several requests to
// Kubernetes.
const errandPatience = 9 * time.Second

// Errand is a user's request to the operator. The portal passes it on and makes no decision about it.
type Errand struct {
	Method, Path string
	Body         any    // nil for none
	Token        string // the user's own
	// Request and Address are for the operator's audit record: the ID and the address of the user's request.
	Request, Address string
}

// RefusedError is the operator's error; its text is for the user.
type RefusedError struct {
	Status int
	Detail string
}

func (e *RefusedError) Error() string { return e.Detail }

// AwayError reports that the operator could not be reached.
type AwayError struct{ Cause error }

func (e *AwayError) Error() string { return "asking the operator for a person: " + e.Cause.Error() }

func (e *AwayError) Unwrap() error { return e.Cause }

// Do sends the request to the operator, and decodes the response into out. status is the response's. Errors are
// *RefusedError and *AwayError.
func (c *Client) Do(ctx context.Context, e Errand, out any) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, errandPatience)
	defer cancel()
	err = c.atLeader(ctx, func(at *place) error {
		resp, err := c.roundTrip(ctx, at, e, longestErrand)
		if err != nil {
			return err
		}
		status = resp.status
		return understand(resp, out)
	})
	if err == nil {
		return status, nil
	}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return refused.Status, refused
	}
	return 0, &AwayError{err}
}

// understand separates errors for the user from those for the portal, which are no problem documents.
func understand(resp response, out any) error {
	if resp.status/100 == 2 {
		if json.Unmarshal(resp.body, out) != nil { // its error could contain the response
			return errors.New("the operator's answer cannot be read")
		}
		return nil
	}
	var said operatorapi.Problem
	if !resp.problem || json.Unmarshal(resp.body, &said) != nil || said.Detail == "" {
		return errors.New(resp.words + " to the portal")
	}
	return &RefusedError{Status: resp.status, Detail: said.Detail}
}
