package cloud

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// IsNotFound reports whether the resource is absent, as opposed to a failed call. Only a service's own not-found codes
// count.
func IsNotFound(err error) bool { return classOf(err) == notFound }

// IsDenied reports whether a permission is missing.
func IsDenied(err error) bool { return classOf(err) == denied }

// IsRegionOff reports whether the region of the call is known to be off in the account.
func IsRegionOff(err error) bool { return classOf(err) == regionOff }

// IsCall reports whether err is an error of a call to AWS; only those are for Explain.
func IsCall(err error) bool {
	_, ok := errors.AsType[*smithy.OperationError](err)
	return ok
}

// Code returns the error code of AWS's response, empty if err has none. It strips what other servers add, as in
// com.amazonaws.sqs#QueueDoesNotExist;Sender.
func Code(err error) string {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return ""
	}
	code, _, _ := strings.Cut(api.ErrorCode(), ";")
	if _, name, qualified := strings.Cut(code, "#"); qualified {
		code = name
	}
	return code
}

// HasCode reports whether AWS returned exactly this error code, or an error whose SDK type has this name: other servers
// may use a different code for it.
func HasCode(err error, code string) bool { return Code(err) == code || typeName(err) == code }

// typeName returns the name of the SDK's error type, empty if it has none.
func typeName(err error) string {
	api, ok := errors.AsType[smithy.APIError](err)
	if _, generic := api.(*smithy.GenericAPIError); !ok || generic {
		return ""
	}
	of := reflect.TypeOf(api)
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	return of.Name()
}

// Explain converts an AWS error into an engine.WaitError with a message that a user can act on and that is stable over
// retries. nil stays nil.
func Explain(err error) error {
	if err == nil {
		return nil
	}
	if wait, ok := engine.AsWait(err); ok { // the call was not made, and the error says why
		return wait
	}
	text := stableText(err)
	if errors.Is(err, errRateLimited) {
		return engine.Wait(v1alpha1.ReasonThrottled, 5*time.Second, "%s. Portico has as many calls to make as it "+
			"allows itself, and goes on as they are done", text)
	}
	a, known := adviceFor(err)
	switch {
	case !known: // an unexpected not-found is treated as any other failure
		return &callError{text: text, err: err}
	case a.again > 0:
		return engine.Wait(a.reason, a.again, "%s. %s", text, a.text)
	}
	return engine.Blocked(a.reason, "%s. %s", text, a.text)
}

// callError wraps the cause for errors.Is and As, and shows only the stable text.
type callError struct {
	text string
	err  error
}

func (e *callError) Error() string { return e.text }

func (e *callError) Unwrap() error { return e.err }

// Answered reports whether AWS responded to the call at all. If so, other calls may succeed.
func (e *callError) Answered() bool {
	_, answered := errors.AsType[smithy.APIError](e.err)
	return answered && !isIllegible(e.err)
}

// secretive are the classes whose messages are hidden: they may contain the time, or parts of the signed request.
var secretive = []errorClass{badCredentials, regionOff, clock, unverified}

// stableText returns which call failed and why, without request IDs, ports or other parts that differ between tries: in
// a condition they would wake every watcher again and again.
func stableText(err error) string {
	call := "AWS"
	if op, ok := errors.AsType[*smithy.OperationError](err); ok {
		call = op.ServiceID + " " + op.OperationName
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		if slices.Contains(secretive, classOf(err)) {
			return call + ": " + Code(err)
		}
		if answer, ok := errors.AsType[*awshttp.ResponseError](err); ok && (api.ErrorMessage() == "" || unknown(api)) {
			return fmt.Sprintf("%s: %s: HTTP status %d", call, Code(err), answer.HTTPStatusCode())
		}
		return fmt.Sprintf("%s: %s: %s", call, Code(err), strings.TrimRight(spoken.Stable(api.ErrorMessage()), ". "))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return call + ": no answer in time"
	}
	if cert, ok := errors.AsType[x509.CertificateInvalidError](err); ok && cert.Reason == x509.Expired {
		return call + ": the server's certificate has expired, or is not valid yet" // without the time of each try
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("%s: no address found for %s", call, dns.Name)
	}
	return fmt.Sprintf("%s: %v", call, innermost(err))
}

// isIllegible reports whether the response is not from AWS.
func isIllegible(err error) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && unknown(api)
}

// unknown reports whether the SDK could not parse the response: it is not from AWS.
func unknown(api smithy.APIError) bool { return api.ErrorCode() == "UnknownError" }

// innermost returns the innermost cause: the layers of package net add addresses and ports.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
