package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/portico-platform/portico/portal/auth"
)

// changes marks an operation that changes objects of the kind with the plural name.
func changes(plural string) map[string]any { return map[string]any{changed: plural} }

const changed = "changes"

// auditAttempt records a change that is refused before it is tried: because a right is missing or the body is invalid.
// It must be the first middleware.
func auditAttempt(ctx huma.Context, next func(huma.Context)) {
	if plural, ok := ctx.Operation().Metadata[changed].(string); ok {
		auth.Attempt(ctx.Context(), auth.Write{
			Verb: verbOf(ctx), Resource: plural, Namespace: ctx.Param("namespace"), Name: ctx.Param("name"),
			DryRun: ctx.Query("dryRun") == "All",
		})
	}
	next(ctx)
}

func verbOf(ctx huma.Context) string {
	switch {
	case ctx.Method() == http.MethodDelete:
		return "delete"
	case ctx.Method() == http.MethodPatch:
		return "patch"
	case ctx.Method() == http.MethodPut && ctx.Header("If-None-Match") == "":
		return "update"
	}
	return "create"
}
