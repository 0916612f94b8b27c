package awsproxy

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// fail returns an error in the shape of the service's protocol.
func (x *exchange) fail(status int, code, message string) *reply {
	switch x.protocol {
	case protoJSON:
		body, _ := json.Marshal(map[string]string{"__type": "com.amazonaws." + x.call.Service + "#" +
			code, "message": message})
		return &reply{status: status, body: body, header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}}
	case protoRESTJSON:
		body, _ := json.Marshal(map[string]string{"message": message})
		return &reply{status: status, body: body, header: http.Header{
			"Content-Type": {"application/json"}, "X-Amzn-Errortype": {code},
		}}
	case protoS3:
		if x.call.Service == "s3control" {
			return xmlReply(
				status,
				"<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error><RequestId/><HostId/></ErrorResponse>", code, message)
		}
		return xmlReply(status, "<Error><Code>%s</Code><Message>%s</Message><RequestId/><HostId/></Error>", code,
			message)
	case protoEC2:
		return xmlReply(
			status,
			"<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID/></Response>",
			code, message)
	default:
		kind := "Sender"
		if status >= 500 {
			kind = "Receiver"
		}
		return xmlReply(status, "<ErrorResponse><Error><Type>"+kind+
			"</Type><Code>%s</Code><Message>%s</Message></Error><RequestId/></ErrorResponse>", code, message)
	}
}

func xmlReply(status int, format string, values ...string) *reply {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = escapeXML(v)
	}
	return &reply{
		status: status, header: http.Header{"Content-Type": {"application/xml"}},
		body: []byte(xml.Header + fmt.Sprintf(format, args...)),
	}
}

func escapeXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// queryCode adds the error code that SQS used before its JSON protocol; SDKs show it.
func (r *reply) queryCode(x *exchange, code string) *reply {
	if x.call.Service == "sqs" && x.protocol == protoJSON {
		r.header.Set("X-Amzn-Query-Error", code+";Sender")
	}
	return r
}

func internalErrorCode(x *exchange) string {
	switch x.protocol {
	case protoJSON, protoQuery, protoRESTXML:
		return "InternalFailure"
	case protoRESTJSON:
		return "ServerException"
	default:
		return "InternalError"
	}
}

func (x *exchange) throttled() *reply {
	switch x.protocol {
	case protoS3:
		return x.fail(http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case protoEC2:
		return x.fail(http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
	case protoJSON:
		return x.fail(http.StatusBadRequest, "ThrottlingException", "Rate exceeded")
	case protoRESTJSON:
		return x.fail(http.StatusTooManyRequests, "ThrottlingException", "Rate exceeded")
	default:
		return x.fail(http.StatusBadRequest, "Throttling", "Rate exceeded")
	}
}

func (x *exchange) denied() *reply {
	message := fmt.Sprintf("User: arn:aws:iam::%s:user/%s is not authorized to perform: %s:%s because no "+
		"identity-based policy allows the %[3]s:%[4]s action",
		x.call.Account, x.scope.key, x.call.Service, x.call.Operation)
	switch x.protocol {
	case protoEC2:
		return x.fail(http.StatusForbidden, "UnauthorizedOperation", message)
	case protoJSON:
		return x.fail(http.StatusBadRequest, "AccessDeniedException", message).queryCode(x, "AccessDenied")
	case protoRESTJSON:
		return x.fail(http.StatusForbidden, "AccessDeniedException", message)
	default:
		return x.fail(http.StatusForbidden, "AccessDenied", message)
	}
}

// unsigned refuses a call without credentials. S3 treats it as anonymous.
func (x *exchange) unsigned() *reply {
	switch x.protocol {
	case protoS3:
		return x.fail(http.StatusForbidden, "AccessDenied", "Access Denied")
	case protoJSON:
		return x.fail(http.StatusBadRequest, "MissingAuthenticationTokenException",
			"Missing Authentication Token").queryCode(x, "MissingAuthenticationToken")
	case protoRESTJSON:
		return x.fail(http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
	default:
		return x.fail(http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token")
	}
}

func (x *exchange) signedTooLongAgo() *reply {
	const message = "Signature expired: the request's time is too far from the current time."
	switch x.protocol {
	case protoS3:
		return x.fail(http.StatusForbidden, "RequestTimeTooSkewed", message)
	case protoEC2:
		return x.fail(http.StatusBadRequest, "RequestExpired", message)
	case protoJSON:
		return x.fail(http.StatusBadRequest, "InvalidSignatureException", message).queryCode(x, "SignatureDoesNotMatch")
	case protoRESTJSON:
		return x.fail(http.StatusForbidden, "InvalidSignatureException", message)
	default:
		return x.fail(http.StatusForbidden, "SignatureDoesNotMatch", message)
	}
}

// badKey refuses a key for the keyring's reason.
func badKey(x *exchange, reason error) *reply {
	switch {
	case errors.Is(reason, errExpiredKey):
		return x.expiredKey()
	case !errors.Is(reason, errUnknownKey):
		return x.fail(http.StatusInternalServerError, internalErrorCode(x), reason.Error())
	}
	const message = "The security token included in the request is invalid."
	switch x.protocol {
	case protoS3:
		return x.fail(http.StatusForbidden, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist "+
			"in our records.")
	case protoEC2:
		return x.fail(http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access "+
			"credentials")
	case protoJSON:
		return x.fail(http.StatusBadRequest, "UnrecognizedClientException", message).queryCode(
			x, "InvalidClientTokenId")
	case protoRESTJSON:
		return x.fail(http.StatusForbidden, "UnrecognizedClientException", message)
	default:
		return x.fail(http.StatusForbidden, "InvalidClientTokenId", message)
	}
}

func (x *exchange) expiredKey() *reply {
	const message = "The security token included in the request is expired"
	switch x.protocol {
	case protoS3:
		return x.fail(http.StatusBadRequest, "ExpiredToken", "The provided token has expired.")
	case protoEC2:
		return x.fail(http.StatusBadRequest, "RequestExpired", "Request has expired.")
	case protoJSON:
		return x.fail(http.StatusBadRequest, "ExpiredTokenException", message).queryCode(x, "ExpiredToken")
	case protoRESTJSON:
		return x.fail(http.StatusForbidden, "ExpiredTokenException", message)
	default:
		return x.fail(http.StatusForbidden, "ExpiredToken", message)
	}
}

var xmlCode = regexp.MustCompile(`<Code>([^<]*)</Code>`)

// errorCode returns the code that the client's SDK will show, or "".
func errorCode(r *reply) string {
	if r.status < 300 {
		return ""
	}
	if err := r.load(); err != nil {
		return ""
	}
	if code, _, ok := strings.Cut(r.header.Get("X-Amzn-Query-Error"), ";"); ok {
		return code
	}
	if m := xmlCode.FindSubmatch(r.body); m != nil {
		return string(m[1])
	}
	var body struct {
		Type string `json:"__type"`
	}
	if json.Unmarshal(r.body, &body) == nil && body.Type != "" {
		return body.Type[strings.LastIndex(body.Type, "#")+1:]
	}
	if code := r.header.Get("X-Amzn-Errortype"); code != "" {
		return code
	}
	return strings.ReplaceAll(http.StatusText(r.status), " ", "")
}

var requestIDInXML = regexp.MustCompile(`<([Rr]equestI[dD])(?:/>|>[^<]*</[Rr]equestI[dD]>)`)

// answer sends the reply, with a new request ID, once the journal has recorded it.
func (p *Proxy) answer(w http.ResponseWriter, x *exchange, r *reply) {
	p.journal.update(x.call)
	id := requestID(x.protocol)
	maps.Copy(w.Header(), r.header)
	w.Header().Set("Date", p.now().UTC().Format(http.TimeFormat)) // SDKs correct their clock by it
	if x.protocol == protoS3 {
		w.Header().Set("X-Amz-Request-Id", id)
		w.Header().Set("X-Amz-Id-2", rand.Text()+rand.Text())
	} else {
		w.Header().Set("X-Amzn-Requestid", id)
	}
	if r.stream == nil && (x.protocol != protoS3 || r.status >= 300) {
		r.body = requestIDInXML.ReplaceAll(r.body, []byte("<$1>"+id+"</$1>"))
	}
	if r.stream == nil && x.in.Method != http.MethodHead {
		w.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.status)
	if x.in.Method == http.MethodHead {
		return
	}
	var body io.Reader = bytes.NewReader(r.body)
	if r.stream != nil {
		body = io.MultiReader(body, r.stream)
	}
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // a truncated body must not look complete
	}
}

// requestID looks like the service's: S3 has 16 characters, others a UUID.
func requestID(proto protocol) string {
	if proto == protoS3 {
		return rand.Text()[:16]
	}
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails, as documented
	h := hex.EncodeToString(b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
