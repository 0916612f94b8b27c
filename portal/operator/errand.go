package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	var body []byte
	if e.Body != nil {
		if body, err = json.Marshal(e.Body); err != nil {
			return 0, &AwayError{errors.New("write what is asked as JSON")}
		}
	}
	at := c.current()
	if at == nil {
		if at, err = c.look(ctx); err != nil {
			return 0, &AwayError{err}
		}
	}
	status, err = c.carry(ctx, at, e, body, out)
	if away, ok := errors.AsType[*AwayError](err); ok {
		now, lost := c.look(ctx)
		if lost != nil || now == at {
			return 0, away
		}
		return c.carry(ctx, now, e, body, out)
	}
	return status, err
}

func (c *Client) carry(ctx context.Context, at *place, e Errand, body []byte, out any) (int, error) {
	token, err := c.kubernetes.Token(ctx)
	if err != nil {
		return 0, &AwayError{err}
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, at.url+e.Path, bytes.NewReader(body))
	if err != nil {
		return 0, &AwayError{err}
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set(operatorapi.HeaderPerson, e.Token)
	req.Header.Set(operatorapi.HeaderRequest, e.Request)
	req.Header.Set(operatorapi.HeaderAddress, e.Address)
	resp, err := at.transport.RoundTrip(req) // not through a client: redirects are not followed
	if err != nil {
		return 0, &AwayError{fmt.Errorf("at %s: %w", at.url, err)}
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, longestErrand))
	if err != nil {
		return 0, &AwayError{err}
	}
	return c.understand(resp, answer, token, at, out)
}

// understand separates errors for the user from those for the portal, which are no problem documents.
func (c *Client) understand(resp *http.Response, answer []byte, token string, at *place, out any) (int, error) {
	if resp.StatusCode/100 == 2 {
		if json.Unmarshal(answer, out) != nil { // its error could contain the response
			return 0, &AwayError{errors.New("the operator's answer cannot be read")}
		}
		return resp.StatusCode, nil
	}
	var said operatorapi.Problem
	if resp.Header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(answer, &said) != nil ||
		said.Detail == "" {
		if resp.StatusCode == http.StatusUnauthorized {
			c.kubernetes.Drop(token)
		}
		return 0, &AwayError{fmt.Errorf("the operator at %s answers %s to the portal", at.url, resp.Status)}
	}
	return resp.StatusCode, &RefusedError{Status: resp.StatusCode, Detail: said.Detail}
}
