package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/auth"
)

type endSessionsInput struct {
	User string `query:"user" required:"true" minLength:"1" doc:"Whose: the username that GET /me tells them, such as oidc:jo@example.com. The prefix may be left out; user: in front says that it is not a group of that name."`
	DryRun
}

type endSessionsOutput struct {
	Body endedSessions
}

type endedSessions struct {
	User  string     `json:"user" doc:"Username as Kubernetes knows it."`
	Until *time.Time `json:"until,omitempty" doc:"Sessions and tokens that began until then are refused. Absent after a dry run."`
}

// endSessionsWords describe ending sessions in the document.
const endSessionsWords = "Sessions in browsers end within seconds on every replica of the portal, streams " +
	"included, and ID tokens of the user that were issued until then are refused. The user can sign in again " +
	"at once: block the account at the identity provider first to prevent it. Tokens that the cluster itself " +
	"takes are not ended. It takes the right to delete sessions of the group portico.dev in the whole " +
	"cluster. The answer takes a second, so that whatever is issued after it is good."

func (a *API) endSessions(ctx context.Context, in *endSessionsInput) (*endSessionsOutput, error) {
	ended, err := a.cluster.Sessions.End(ctx, caller(ctx), in.User, in.dry())
	if wrong, ok := errors.AsType[*auth.NoUserError](err); ok {
		return nil, problem(ctx, http.StatusUnprocessableEntity, wrong.Error(),
			&huma.ErrorDetail{Location: "query.user", Message: wrong.Error(), Value: in.User})
	}
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	out := &endSessionsOutput{Body: endedSessions{User: ended.Username}}
	if !ended.Until.IsZero() {
		until := ended.Until.UTC()
		out.Body.Until = &until
	}
	return out, nil
}
