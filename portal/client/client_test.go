package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
)

// serve returns a client of a server that handles every request with h.
func serve(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{Server: server.URL, Token: client.StaticToken("secret")})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAddressesThatAreTaken(t *testing.T) {
	for _, c := range []struct {
		name, server string
		plain        bool
		want         string // in the error; "" if it is taken
	}{
		{"https", "https://portal.example.com", false, ""},
		{"https with a slash at the end", "https://portal.example.com/", false, ""},
		{"http on this machine", "http://127.0.0.1:8080", false, ""},
		{"http on this machine by name", "http://localhost:8080", false, ""},
		{"http elsewhere", "http://portal.example.com", false, "in the clear"},
		{"http elsewhere, if wanted", "http://portal.example.com", true, ""},
		{"nothing", "", false, "no address of a portal"},
		{"a host alone", "portal.example.com", false, "no address of a portal"},
		{"another scheme", "ftp://portal.example.com", false, "no address of a portal"},
		{"a path", "https://portal.example.com/catalog", false, "scheme and host alone"},
		{"a password, which is not repeated", "https://me:hunter2@portal.example.com", false, "me:xxxxx@"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := client.New(client.Options{Server: c.server, PlainHTTP: c.plain})
			if c.want == "" && err != nil {
				t.Fatal(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestATypedObjectIsSentAndReadWithWhatTheHeadersSay(t *testing.T) {
	var sent map[string]any
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Method + " " + r.URL.String(); got != "POST /api/v1/namespaces/payments/s3buckets?dryRun=All" {
			t.Errorf("asked %s", got)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("Authorization is %q", got)
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		w.Header().Set("ETag", `"u-1"`)
		w.Header().Add("Warning", `299 - "spec.acl is old: use \"policy\""`)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"metadata": {"name": "a"}, "status": {"bucketName": "payments-a"}}`)
	})
	got, err := c.S3Buckets("payments").Create(
		t.Context(), &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		client.CreateOptions{DryRun: "All"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Object.Status.BucketName != "payments-a" || got.ETag != `"u-1"` || !got.Created {
		t.Errorf("BucketName = %q, ETag = %s, Created = %v, want payments-a, \"u-1\", true",
			got.Object.Status.BucketName, got.ETag, got.Created)
	}
	if want := []string{`spec.acl is old: use "policy"`}; !slices.Equal(got.Warnings, want) {
		t.Errorf("Warnings = %q, want %q", got.Warnings, want)
	}
	if _, has := sent["status"]; has {
		t.Errorf("a status was sent, which the API refuses: %v", sent)
	}
}

func TestNamesCannotLeaveTheirPlaceInThePath(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.EscapedPath(); got != "/api/v1/namespaces/a%2Fb/s3buckets/..%2F..%2Fme%3Fx" {
			t.Errorf("asked %s", got)
		}
		_, _ = io.WriteString(w, `{}`)
	})
	if _, err := c.S3Buckets("a/b").Get(t.Context(), "../../me?x", client.GetOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsOfTheAPI(t *testing.T) {
	for _, c := range []struct {
		name, contentType, body string
		status                  int
		want                    string
		fields                  []string
	}{
		{
			"a problem with places", "application/problem+json",
			`{"status": 422, "title": "Unprocessable Entity", "detail": "the request is not valid", "errors": [{"location": "body.spec.engine", "message": "is needed"}, {"location": "query.dryRun", "message": "must be All"}]}`,
			422, "the request is not valid",
			[]string{"spec.engine", "query.dryRun"},
		},
		{"a problem without words", "application/problem+json; charset=utf-8", `{"status": 403}`, 403, "403 Forbidden", nil},
		{"a proxy's page", "text/html", `<h1>token=hunter2</h1>`, 502, "answers 502 Bad Gateway without saying why: is it the portal?", nil},
		{"no JSON though it says so", "application/problem+json", `<`, 500, "answers 500 Internal Server Error without saying why", nil},
		{"a redirection", "text/html", ``, 302, "answers 302 Found without saying why", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.Header().Set("Location", "https://elsewhere.example.com")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := api.GetMe(t.Context(), client.GetMeOptions{})
			var p *client.APIError
			if !errors.As(err, &p) {
				t.Fatalf("got %v, want a problem", err)
			}
			if client.StatusOf(err) != c.status || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %d: %v", client.StatusOf(err), err)
			}
			var fields []string
			for _, f := range p.Errors {
				fields = append(fields, f.Field())
			}
			if !slices.Equal(fields, c.fields) {
				t.Errorf("fields are %q, want %q", fields, c.fields)
			}
		})
	}
}

func TestAnswersThatAreNotThePortals(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if _, err := c.GetMe(t.Context(), client.GetMeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "is it the portal?") {
		t.Errorf("got %v", err)
	}
}

// TestAnAnswerWithoutAnEndIsGivenUp checks that the client bounds what it reads from a portal, or from a server that
// poses as one.
func TestAnAnswerWithoutAnEndIsGivenUp(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusForbidden} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
					return // the client has hung up
				}
			}
		})
		if _, err := c.GetMe(t.Context(), client.GetMeOptions{}); err == nil {
			t.Errorf("%d: read to its end", status)
		}
	}
}

func TestAServerThatIsAway(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(client.Options{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GetMe(t.Context(), client.GetMeOptions{})
	var away *client.UnreachableError
	if !errors.As(err, &away) || !strings.HasPrefix(err.Error(), server.URL+" cannot be reached: ") {
		t.Errorf("got %v", err)
	}
}

func TestARequestIsSentAgainOnlyWhenThatIsSafe(t *testing.T) {
	for _, c := range []struct {
		name, retryAfter string
		status           int
		write            bool
		want             int // requests
	}{
		{"a read that came too often", "1", 429, false, 3},
		{"a write that came too often: nothing was done", "1", 429, true, 3},
		{"a read while Kubernetes is away", "2", 503, false, 3},
		{"a write while Kubernetes is away: it may have been done", "2", 503, true, 1},
		{"a date, as proxies send it", "Thu, 01 Jan 1970 00:00:07 GMT", 429, false, 3},
		{"a date that has passed", "Thu, 01 Jan 1970 00:00:05 GMT", 429, false, 1},
		{"a date that is far too late", "Thu, 01 Jan 1970 00:01:07 GMT", 429, false, 1},
		{"no word when to come back", "", 503, false, 1},
		{"a word that is neither seconds nor a date", "soon", 429, false, 1},
		{"far too late", "3600", 429, false, 1},
		{"an error that stays", "1", 500, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if requests++; requests == 3 {
					_, _ = io.WriteString(w, `{"username": "a"}`)
					return
				}
				w.Header().Set("Date", "Thu, 01 Jan 1970 00:00:05 GMT") // the server's clock is ahead
				w.Header().Set("Retry-After", c.retryAfter)
				w.WriteHeader(c.status)
			}))
			defer server.Close()
			api, err := client.New(client.Options{
				Server: server.URL, Clock: &hasty{FakeClock: testingclock.NewFakeClock(time.Unix(0, 0))},
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.write {
				_, err = api.S3Buckets("a").Delete(t.Context(), "b", client.DeleteOptions{})
			} else {
				_, err = api.GetMe(t.Context(), client.GetMeOptions{})
			}
			if requests != c.want || (err == nil) != (c.want == 3) {
				t.Errorf("%d requests, then %v; want %d", requests, err, c.want)
			}
		})
	}
}

func TestWaitingForAnotherTryEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
		cancel()
	}))
	defer server.Close()
	c, err := client.New(client.Options{Server: server.URL, Clock: testingclock.NewFakeClock(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetMe(ctx, client.GetMeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestATokenThatCannotBeHadIsTheError(t *testing.T) {
	want := errors.New("not logged in")
	c, err := client.New(client.Options{Server: "https://portal.example.com", Token: func(context.Context) (
		string, error,
	) {
		return "", want
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetMe(t.Context(), client.GetMeOptions{}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func TestAllPagesAreRead(t *testing.T) {
	pages := map[string]client.Page[int]{"": {Items: []int{1, 2}, Next: "x"}, "x": {Items: []int{3}}}
	got, err := client.All(func(cursor string) (*client.Page[int], error) { p := pages[cursor]; return &p, nil })
	if err != nil || !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := client.All(func(string) (*client.Page[int], error) {
		return &client.Page[int]{Next: "x"}, nil
	}); err == nil {
		t.Error("a cursor that leads to itself is no error")
	}
}

// hasty is a clock whose timers fire at once.
type hasty struct{ *testingclock.FakeClock }

func (h *hasty) NewTimer(d time.Duration) clock.Timer {
	t := h.FakeClock.NewTimer(d)
	h.Step(d)
	return t
}
