package auth

import (
	"context"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// cliAgent is the prefix of the command line's User-Agent.
const cliAgent = "portico/"

// withWay returns a context for a request with a bearer token. agent is the client's User-Agent; nothing is decided by
// it.
func withWay(ctx context.Context, agent string) context.Context {
	way := v1alpha1.ManagerAPI
	if strings.HasPrefix(agent, cliAgent) {
		way = v1alpha1.ManagerCLI
	}
	return context.WithValue(ctx, wayKey, way)
}

// Way returns the field manager of the request's writes: it shows by which client somebody changed an object.
func Way(ctx context.Context) string {
	if way, ok := ctx.Value(wayKey).(string); ok {
		return way
	}
	return v1alpha1.ManagerPortal
}
