package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/oauth2"

	"github.com/portico-platform/portico/api/identity"
)

// maxAnswer bounds the provider's text in errors.
const maxAnswer = identity.Longest

// AnswerError is an error response of the identity provider. If a retry may succeed, a *ProviderError wraps it.
type AnswerError struct {
	Doing  string
	Status int    // of HTTP; 0 if the browser brought the response
	Code   string // of OAuth 2.0, such as invalid_scope; "" if there is none
	Detail string // the provider's text, "" if there is none
	Advice string // what to do about it, if known: then a retry cannot succeed
	cause  error  // of the error, if its kind matters
}

func (e *AnswerError) Unwrap() error { return e.cause }

func (e *AnswerError) Error() string {
	return e.Doing + ": the identity provider answered " + e.said()
}

// said returns the provider's code and text.
func (e *AnswerError) said() string {
	var words []string
	switch {
	case e.Code != "":
		words = append(words, e.Code)
	case e.Status != 0:
		words = append(words, strings.TrimSpace(strconv.Itoa(e.Status)+" "+http.StatusText(e.Status)))
	}
	if e.Detail != "" {
		words = append(words, strconv.Quote(e.Detail))
	}
	if len(words) == 0 {
		return "nothing that could be read"
	}
	return strings.Join(words, ", ")
}

// detail returns the text that the error page shows.
func (e *AnswerError) detail() string {
	return fmt.Sprintf("It answered %s. %s", e.said(), e.advice())
}

// advice returns what the reader of the error page can do.
func (e *AnswerError) advice() string {
	switch {
	case e.Advice != "":
		return e.Advice
	case e.Code != "" && advices[e.Code] != "":
		return advices[e.Code]
	case e.Code == "invalid_request" || e.Code == "redirect_uri_mismatch":
		return e.requestAdvice()
	case e.passing():
		return "Try again in a minute, or ask the people who run it."
	}
	return "Try again, or ask the people who run it."
}

// advices are the advice by error code.
var advices = map[string]string{
	"access_denied": "If you cancelled there, sign in again. Else ask the people who run it to let you in.",
	"invalid_scope": "Ask the portal's admins to ask for other scopes: --oidc-scopes.",
	"not_allowed":   "Ask the portal's admins to ask for other scopes: --oidc-scopes.",
	"invalid_client": "Ask the portal's admins to look at its client there, the secret, and " +
		"--oidc-client-auth-method.",
	"unauthorized_client": "Ask the portal's admins to look at its client there, the secret, and " +
		"--oidc-client-auth-method.",
	"invalid_grant":              "Sign in again.",
	"login_required":             "Sign in again.",
	"interaction_required":       "Sign in again.",
	"consent_required":           "Sign in again, and agree there that the portal sees who you are.",
	"account_selection_required": "Sign in again, and choose your account there.",
}

// requestAdvice returns the advice for a request that the provider refuses as invalid. Only the provider's text says
// which part of it is wrong.
func (e *AnswerError) requestAdvice() string {
	words := strings.ToLower(e.Detail)
	switch {
	case e.Code == "redirect_uri_mismatch", strings.Contains(words, "redirect"):
		return "Ask the portal's admins to look at its client there: the redirect URI must be the portal's, with " +
			CallbackPath + "."
	case strings.Contains(words, "prompt"):
		return "Ask the portal's admins to look at --oidc-confirm-prompt, and at what its client there may ask for."
	case strings.Contains(words, "pushed"), strings.Contains(words, "request_uri"), strings.Contains(words, "par "):
		return "It wants the request to be pushed, but does not say where in its settings " +
			"(pushed_authorization_request_endpoint). Ask the people who run it."
	}
	return "Ask the portal's admins to compare what its client there requires with what portal --check-oidc " +
		"says that signing in asks for: the redirect URI first, then the scopes."
}

// passing reports whether a retry may succeed.
func (e *AnswerError) passing() bool {
	if e.Advice != "" {
		return false
	}
	switch e.Code {
	case "":
		return e.Status/100 != 4 || e.Status == http.StatusTooManyRequests
	case "temporarily_unavailable", "server_error":
		return true
	}
	return e.Status/100 == 5 || e.Status == http.StatusTooManyRequests
}

// status returns the HTTP status of the error page.
func (e *AnswerError) status() int {
	if e.Code == "access_denied" {
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

// answered returns the error for an HTTP response.
func answered(e *AnswerError) error {
	if e.passing() {
		return &ProviderError{Doing: e.Doing, Cause: e}
	}
	return e
}

// asking wraps an error of a request to the token endpoint; doing says what was tried. Of the provider's response it
// keeps only the error's code and description, with the given secrets hidden.
func asking(doing string, err error, secrets ...string) error {
	hide := func(s string) string {
		for _, secret := range secrets {
			if secret != "" {
				s = strings.ReplaceAll(s, secret, "[hidden]")
			}
		}
		return clean(s)
	}
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return answered(&AnswerError{
			Doing: doing, Status: e.Response.StatusCode, Code: hide(e.ErrorCode), Detail: hide(e.ErrorDescription),
		})
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return &ProviderError{Doing: doing, Cause: err}
	}
	return answered(&AnswerError{Doing: doing, Detail: hide(err.Error())})
}

// clean makes s safe for a page and for a log line.
func clean(s string) string { return identity.Clean(s) }
