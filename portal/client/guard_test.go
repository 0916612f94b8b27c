package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/portico-platform/portico/portal/client"
)

// stuck is a server that begins a response and then sends nothing, until the client disconnects.
type stuck struct{ begins string }

func (s stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	rest := silent{ctx: r.Context()}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(io.MultiReader(strings.NewReader(s.begins), rest)),
	}, nil
}

type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func TestAConnectionThatIsDeadIsTold(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *client.Client) error{
		"while it is read": func(ctx context.Context, c *client.Client) error {
			_, err := c.GetMe(ctx, client.GetMeOptions{})
			return err
		},
		"while a log is followed": func(ctx context.Context, c *client.Client) (last error) {
			for _, err := range c.WebApps("n").FollowLogs(ctx, "a", client.LogsOptions{}) {
				last = err
			}
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, err := client.New(client.Options{
					Server:    "https://portal.example.com",
					Transport: stuck{event("lines", `{"lines": ["a"]}`)},
				})
				if err != nil {
					t.Fatal(err)
				}
				err = ask(t.Context(), c)
				if _, silent := errors.AsType[*client.SilentError](err); !silent || errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
