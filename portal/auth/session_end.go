package auth

import (
	"errors"
	"fmt"
)

// Ending is why a session ended, for the page where the user signs in again.
type Ending string

// The endings of sessions. Their values are part of addresses.
const (
	NoSession Ending = ""           // there was none
	Rested    Ending = "rested"     // it was idle for too long
	Over      Ending = "over"       // it reached the maximum duration
	SignedOut Ending = "signed-out" // by the user, perhaps in another browser
	Lapsed    Ending = "lapsed"     // the identity provider does not renew it
	Another   Ending = "another"    // the identity provider now has another user signed in
	ByAdmin   Ending = "by-admin"   // a platform admin ended all sessions of the user
)

// endedError is why a session ended, with the cause for the log. It matches errEnded.
type endedError struct {
	why   Ending
	cause string
}

func (e *endedError) Error() string { return errEnded.Error() + ": " + e.cause }

// Is reports whether target is errEnded.
func (e *endedError) Is(target error) bool { return target == errEnded }

var (
	errNoSession = errors.New("no session")
	errEnded     = errors.New("the session has ended")
	errAskAgain  = errors.New("the identity provider must be asked again")

	errRested    = &endedError{Rested, "it was not used"}
	errOver      = &endedError{Over, "it lasted as long as it may"}
	errSignedOut = &endedError{SignedOut, "it was signed out"}
	errTokenOver = &endedError{Lapsed, "its ID token ended, and there is no refresh token"}
	errByAdmin   = &endedError{ByAdmin, "a platform admin ended all sessions of the user"}
	errTooOld    = &endedError{Over, "the token is older than any may be"}
)

// TokenEnding returns, for a program, why its token or a stream that it opened has ended.
func TokenEnding(err error) string {
	switch {
	case errors.Is(err, errByAdmin):
		return "your sessions were ended by a platform admin; sign in again"
	case errors.Is(err, errTooOld):
		return fmt.Sprintf("the token was issued longer ago than %.0f hours, or does not say when: get a new one",
			LongestSession.Hours())
	}
	return "the token has expired: get a new one"
}

// endingOf returns why the session ended according to err, or NoSession if err does not say.
func endingOf(err error) Ending {
	if e, ok := errors.AsType[*endedError](err); ok {
		return e.why
	}
	return NoSession
}

// ending parses the reason in an address, and returns NoSession for anything unknown.
func ending(text string) Ending {
	switch e := Ending(text); e {
	case NoSession, Rested, Over, SignedOut, Lapsed, Another, ByAdmin:
		return e
	}
	return NoSession
}
