package auth

import "errors"

// Ending is why a session ended, for the page where somebody signs in again.
type Ending string

// The endings of sessions. The text of each stands in addresses.
const (
	NoSession Ending = ""           // there was none
	Rested    Ending = "rested"     // it was left alone for too long
	Over      Ending = "over"       // it lasted as long as sessions may
	SignedOut Ending = "signed-out" // by the user, perhaps elsewhere
	Lapsed    Ending = "lapsed"     // the identity provider does not renew it
	Another   Ending = "another"    // the identity provider knows the user as somebody else now
)

// endedError says why a session ended, and to the log what was behind it. It is errEnded.
type endedError struct {
	why   Ending
	cause string
}

func (e *endedError) Error() string { return errEnded.Error() + ": " + e.cause }

// Is makes each one errEnded.
func (e *endedError) Is(target error) bool { return target == errEnded }

var (
	errNoSession = errors.New("no session")
	errEnded     = errors.New("the session has ended")
	errAskAgain  = errors.New("the identity provider is to be asked again")

	errRested    = &endedError{Rested, "it was not used"}
	errOver      = &endedError{Over, "it lasted as long as it may"}
	errSignedOut = &endedError{SignedOut, "it was signed out"}
	errTokenOver = &endedError{Lapsed, "its ID token ended, and there is no refresh token"}
)

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
	case NoSession, Rested, Over, SignedOut, Lapsed, Another:
		return e
	}
	return NoSession
}
