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

// maxAnswer bounds what is told of the provider's words.
const maxAnswer = identity.Longest

// AnswerError is what the identity provider answered in place of what it was asked for. Where it may be another answer
// in a moment, a *ProviderError is around it.
type AnswerError struct {
	Doing  string
	Status int    // of HTTP; 0 if the browser brought the answer
	Code   string // as in OAuth 2.0: invalid_scope; "" if it sent none
	Detail string // the provider's words, "" if it sent none
	Advice string // what to do about it, if that is known: then no other try has another answer
}

func (e *AnswerError) Error() string {
	return e.Doing + ": the identity provider answered " + e.said()
}

// said returns the answer in the provider's own words.
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

// advice returns what the reader of the error page can do about the answer.
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

// advices are those that an answer's code tells.
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

// requestAdvice returns what can be done about a request that the provider does not take. Which part of it is wrong
// only its words can tell.
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
	return "Ask the portal's admins to compare what its client there requires with what portal --check-oidc says that " +
		"signing in asks for: the redirect URI first, then the scopes."
}

// passing reports whether the answer says that it may be another in a moment.
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

// answered makes an error of an answer over HTTP.
func answered(e *AnswerError) error {
	if e.passing() {
		return &ProviderError{Doing: e.Doing, Cause: e}
	}
	return e
}

// asking wraps an error of a request to the token endpoint; doing says what was tried. Of the provider's answer it
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

// clean makes s fit for a page and for a line of a log.
func clean(s string) string { return identity.Clean(s) }
