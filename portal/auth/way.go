package auth

import (
	"context"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// cliAgent begins what the command line calls itself.
const cliAgent = "portico/"

// withWay returns a context for a request with a bearer token. agent is what the client calls itself, and nothing is
// decided by it.
func withWay(ctx context.Context, agent string) context.Context {
	way := v1alpha1.ManagerAPI
	if strings.HasPrefix(agent, cliAgent) {
		way = v1alpha1.ManagerCLI
	}
	return context.WithValue(ctx, wayKey, way)
}

// Way returns the field manager of what the request writes: it says by which way somebody changed something.
func Way(ctx context.Context) string {
	if way, ok := ctx.Value(wayKey).(string); ok {
		return way
	}
	return v1alpha1.ManagerPortal
}
