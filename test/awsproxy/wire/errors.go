package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Fail returns an error in the shape of the service's protocol.
func (x *Exchange) Fail(status int, code, message string) *Reply {
	switch x.Protocol {
	case JSON:
		body, _ := json.Marshal(map[string]string{"__type": "com.amazonaws." + x.Call.Service + "#" +
			code, "message": message})
		return &Reply{Status: status, Body: body, Header: http.Header{"Content-Type": {"application/x-amz-json-1.1"}}}
	case RESTJSON:
		body, _ := json.Marshal(map[string]string{"message": message})
		return &Reply{Status: status, Body: body, Header: http.Header{
			"Content-Type": {"application/json"}, "X-Amzn-Errortype": {code},
		}}
	case S3:
		if x.Call.Service == "s3control" {
			return XMLReply(
				status,
				"<ErrorResponse><Error><Code>%s</Code><Message>%s</Message></Error><RequestId/><HostId/></ErrorResponse>", code, message)
		}
		return XMLReply(status, "<Error><Code>%s</Code><Message>%s</Message><RequestId/><HostId/></Error>", code,
			message)
	case EC2:
		return XMLReply(
			status,
			"<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID/></Response>",
			code, message)
	default:
		kind := "Sender"
		if status >= 500 {
			kind = "Receiver"
		}
		return XMLReply(status, "<ErrorResponse><Error><Type>"+kind+
			"</Type><Code>%s</Code><Message>%s</Message></Error><RequestId/></ErrorResponse>", code, message)
	}
}

// QueryCode adds the error code that SQS used before its JSON protocol; SDKs show it.
func (r *Reply) QueryCode(x *Exchange, code string) *Reply {
	if x.Call.Service == "sqs" && x.Protocol == JSON {
		r.Header.Set("X-Amzn-Query-Error", code+";Sender")
	}
	return r
}

// InternalErrorCode returns the code of the service for a failure of its own.
func InternalErrorCode(x *Exchange) string {
	switch x.Protocol {
	case JSON, Query, RESTXML:
		return "InternalFailure"
	case RESTJSON:
		return "ServerException"
	default:
		return "InternalError"
	}
}

// Throttled refuses a call for exceeding the rate.
func (x *Exchange) Throttled() *Reply {
	switch x.Protocol {
	case S3:
		return x.Fail(http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
	case EC2:
		return x.Fail(http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
	case JSON:
		return x.Fail(http.StatusBadRequest, "ThrottlingException", "Rate exceeded")
	case RESTJSON:
		return x.Fail(http.StatusTooManyRequests, "ThrottlingException", "Rate exceeded")
	default:
		return x.Fail(http.StatusBadRequest, "Throttling", "Rate exceeded")
	}
}

// Denied refuses a call for a missing permission, whatever it needs.
func (x *Exchange) Denied() *Reply {
	message := fmt.Sprintf("User: arn:aws:iam::%s:user/%s is not authorized to perform: %s:%s because no "+
		"identity-based policy allows the %[3]s:%[4]s action",
		x.Call.Account, x.Scope.Key, x.Call.Service, x.Call.Operation)
	switch x.Protocol {
	case EC2:
		return x.Fail(http.StatusForbidden, "UnauthorizedOperation", message)
	case JSON:
		return x.Fail(http.StatusBadRequest, "AccessDeniedException", message).QueryCode(x, "AccessDenied")
	case RESTJSON:
		return x.Fail(http.StatusForbidden, "AccessDeniedException", message)
	default:
		return x.Fail(http.StatusForbidden, "AccessDenied", message)
	}
}

// Unsigned refuses a call without credentials. S3 treats it as anonymous.
func (x *Exchange) Unsigned() *Reply {
	switch x.Protocol {
	case S3:
		return x.Fail(http.StatusForbidden, "AccessDenied", "Access Denied")
	case JSON:
		return x.Fail(http.StatusBadRequest, "MissingAuthenticationTokenException",
			"Missing Authentication Token").QueryCode(x, "MissingAuthenticationToken")
	case RESTJSON:
		return x.Fail(http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
	default:
		return x.Fail(http.StatusForbidden, "MissingAuthenticationToken", "Request is missing Authentication Token")
	}
}

// SignedTooLongAgo refuses an old signature.
func (x *Exchange) SignedTooLongAgo() *Reply {
	const message = "Signature expired: the request's time is too far from the current time."
	switch x.Protocol {
	case S3:
		return x.Fail(http.StatusForbidden, "RequestTimeTooSkewed", message)
	case EC2:
		return x.Fail(http.StatusBadRequest, "RequestExpired", message)
	case JSON:
		return x.Fail(http.StatusBadRequest, "InvalidSignatureException", message).QueryCode(x, "SignatureDoesNotMatch")
	case RESTJSON:
		return x.Fail(http.StatusForbidden, "InvalidSignatureException", message)
	default:
		return x.Fail(http.StatusForbidden, "SignatureDoesNotMatch", message)
	}
}

// ExpiredKey refuses the key of a session that has ended.
func (x *Exchange) ExpiredKey() *Reply {
	const message = "The security token included in the request is expired"
	switch x.Protocol {
	case S3:
		return x.Fail(http.StatusBadRequest, "ExpiredToken", "The provided token has expired.")
	case EC2:
		return x.Fail(http.StatusBadRequest, "RequestExpired", "Request has expired.")
	case JSON:
		return x.Fail(http.StatusBadRequest, "ExpiredTokenException", message).QueryCode(x, "ExpiredToken")
	case RESTJSON:
		return x.Fail(http.StatusForbidden, "ExpiredTokenException", message)
	default:
		return x.Fail(http.StatusForbidden, "ExpiredToken", message)
	}
}
