// Package tokenexchange serves OAuth 2.0 Token Exchange (RFC 8693): a CI job sends the token that its CI system gave
// it, and gets a token of its deployer. The operator verifies and issues; this is only the protocol.
package tokenexchange

import (
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/operator"
)

// Error codes, from RFC 6749, section 5.2, and RFC 8693, section 2.2.2. The last is RFC 6749's for the authorization
// endpoint; the token endpoint has none for it.
const (
	invalidRequest       = "invalid_request"
	invalidScope         = "invalid_scope"
	invalidTarget        = "invalid_target"
	unsupportedGrantType = "unsupported_grant_type"
	unavailable          = "temporarily_unavailable"
)

// maxForm bounds the body, which has one token.
const maxForm = 32 << 10

// maxToken bounds the token, as the operator does.
const maxToken = 16 << 10

// Operator asks the operator; operator.Client implements it.
type Operator interface {
	Do(ctx context.Context, e operator.Errand, out any) (status int, err error)
}

// Handler serves deploy.TokenPath.
type Handler struct {
	Operator Operator
	// Audience is the portal's URL, which a request may name as its audience or resource.
	Audience string
	Clock    clock.PassiveClock
}

// answer is a successful response.
type answer struct {
	AccessToken string `json:"access_token"`
	IssuedType  string `json:"issued_token_type"`
	TokenType   string `json:"token_type"`
	ExpiresIn   int64  `json:"expires_in"` // seconds
	Scope       string `json:"scope"`      // the deployer
	// Run is how the run is named in the history, which is no part of the RFC.
	Run string `json:"portico_run,omitempty"`
}

// refusal is an error response.
type refusal struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (r *refusal) Error() string { return r.Description }

func refuse(code, description string) error {
	return &refusal{http.StatusBadRequest, code, description}
}

// ServeHTTP implements http.Handler.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := h.exchange(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	status, body := http.StatusOK, any(out)
	if err != nil {
		known, ok := errors.AsType[*refusal](err)
		if !ok {
			known = &refusal{
				http.StatusServiceUnavailable, unavailable,
				"the token cannot be exchanged at the moment: Portico's operator does not answer; try again",
			}
		}
		if known.status != http.StatusBadRequest {
			w.Header().Set("Retry-After", "5")
		}
		status, body = known.status, known
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error means that the client has gone
}

func (h Handler) exchange(w http.ResponseWriter, r *http.Request) (*answer, error) {
	form, err := readForm(w, r)
	if err != nil {
		return nil, err
	}
	if err := h.check(form); err != nil {
		return nil, err
	}
	var got operatorapi.Exchanged
	status, err := h.Operator.Do(r.Context(), operator.Errand{
		Method: http.MethodPost, Path: operatorapi.ExchangeFor(form.Get("scope")), Token: form.Get("subject_token"),
		Request: auth.RequestID(r.Context()), Address: auth.AddressOf(r.Context()),
	}, &got)
	if refused, ok := errors.AsType[*operator.RefusedError](err); ok {
		return nil, translate(status, refused.Detail)
	}
	if err != nil {
		return nil, err
	}
	return &answer{
		AccessToken: got.Token, IssuedType: deploy.TypeAccess, TokenType: "Bearer",
		ExpiresIn: int64(got.Expires.Sub(h.Clock.Now()) / time.Second), Scope: got.Deployer, Run: got.Run,
	}, nil
}

// translate returns the error of the protocol for one of the operator's. RFC 8693 has invalid_request for a subject
// token that is not accepted, whatever the reason.
func translate(status int, detail string) error {
	switch status {
	case http.StatusBadRequest:
		return refuse(invalidRequest, detail)
	case http.StatusTooManyRequests:
		return &refusal{status, unavailable, detail}
	}
	return &refusal{http.StatusServiceUnavailable, unavailable, detail}
}

// readForm reads the parameters. Each may be there once (RFC 6749, section 3.2).
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, refuse(invalidRequest, "send the parameters as application/x-www-form-urlencoded")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return nil, refuse(invalidRequest, "the request is longer than 32 KiB")
		}
		return nil, refuse(invalidRequest, "the parameters cannot be read")
	}
	for name, values := range r.PostForm {
		if len(values) > 1 && name != "audience" && name != "resource" {
			return nil, refuse(invalidRequest, "the parameter "+deploy.Run{Repository: name}.Bounded().Repository+
				" is there more than once")
		}
	}
	r.PostForm.Set("subject_token", strings.TrimSpace(r.PostForm.Get("subject_token"))) // files end with a line break
	return r.PostForm, nil
}

// signedToken matches what can be a signed token, and can be sent on in a header.
var signedToken = regexp.MustCompile(`^[-_0-9A-Za-z]+\.[-_0-9A-Za-z]+\.[-_0-9A-Za-z]*$`)

// check refuses parameters that ask for something else than a token of a deployer.
func (h Handler) check(form url.Values) error {
	switch kind := form.Get("subject_token_type"); {
	case form.Get("grant_type") == "":
		return refuse(invalidRequest, "grant_type is needed: "+deploy.GrantType)
	case form.Get("grant_type") != deploy.GrantType:
		return refuse(unsupportedGrantType, "the grant_type is "+deploy.GrantType)
	case form.Get("subject_token") == "":
		return refuse(invalidRequest, "subject_token is needed: the token that the CI system gave the job")
	case len(form.Get("subject_token")) > maxToken, !signedToken.MatchString(form.Get("subject_token")):
		return refuse(
			invalidRequest,
			"the subject_token is not a signed token of 16 KiB at most, as a CI system gives it",
		)
	case kind != deploy.TypeJWT && kind != deploy.TypeIDToken:
		return refuse(invalidRequest, "the subject_token_type is "+deploy.TypeJWT+" or "+deploy.TypeIDToken)
	case form.Has("actor_token") || form.Has("actor_token_type"):
		return refuse(invalidRequest, "an actor_token is not taken: a deployer acts for its team alone")
	}
	if want := form.Get("requested_token_type"); want != "" && want != deploy.TypeAccess && want != deploy.TypeJWT {
		return refuse(invalidRequest, "the requested_token_type is "+deploy.TypeAccess+", or left out")
	}
	for _, name := range []string{"audience", "resource"} {
		for _, target := range form[name] {
			if strings.TrimSuffix(target, "/") != h.Audience {
				return refuse(invalidTarget, "tokens are issued for this portal alone: leave "+name+" out")
			}
		}
	}
	if scope := form.Get("scope"); scope != "" {
		if team, name, _ := strings.Cut(scope, "/"); team == "" || name == "" || strings.ContainsAny(name, "/ ") {
			return refuse(invalidScope, "the scope is the name of a deployer, as team/name, or left out")
		}
	}
	return nil
}
