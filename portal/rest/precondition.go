package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Match is the version to which a change applies.
type Match struct {
	IfMatch string `header:"If-Match" doc:"ETag of the version that was read, or * for any version."`
}

// etag returns the ETag that the cluster compares, "" for any version.
func (m Match) etag() string {
	if m.IfMatch == "*" {
		return ""
	}
	return m.IfMatch
}

// required refuses a change without a version, because it could undo another user's change.
func (m Match) required(ctx context.Context) error {
	if m.IfMatch != "" {
		return nil
	}
	return problem(ctx, http.StatusPreconditionRequired,
		"say which version to change: send the ETag that GET answered as If-Match, or If-Match: * for any version",
		&huma.ErrorDetail{Location: "header.If-Match", Message: "is required"})
}

// PutMatch is Match, or the condition that the object does not exist yet.
type PutMatch struct {
	Match
	IfNoneMatch string `header:"If-None-Match" doc:"*: create the object, and only if there is none of its name."`
}

// creates reports whether the object must be created. The error is a problem document: neither header is set, or both.
func (m PutMatch) creates(ctx context.Context) (bool, error) {
	const at = "header.If-None-Match"
	switch {
	case m.IfNoneMatch == "" && m.IfMatch == "":
		return false, problem(ctx, http.StatusPreconditionRequired,
			"say what is expected to be there: send If-None-Match: * to create the object, or as If-Match the ETag "+
				"that GET "+
				"answered (or *) to replace it",
			&huma.ErrorDetail{Location: "header.If-Match", Message: "or If-None-Match is required"})
	case m.IfNoneMatch == "":
		return false, nil
	case m.IfMatch != "":
		return false, problem(ctx, http.StatusUnprocessableEntity, "If-Match and If-None-Match contradict each "+
			"other: send one of them",
			&huma.ErrorDetail{Location: at, Message: "cannot be sent with If-Match"})
	case m.IfNoneMatch != "*":
		return false, problem(ctx, http.StatusUnprocessableEntity, "If-None-Match takes * only, which creates "+
			"the object",
			&huma.ErrorDetail{Location: at, Message: "must be *", Value: m.IfNoneMatch})
	}
	return true, nil
}
