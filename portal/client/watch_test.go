package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/client"
)

func event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

// story returns a client of a server that answers each connection with the next text, and then with 403.
func story(t *testing.T, connections ...string) *client.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "true" {
			t.Errorf("asked %s", r.URL)
		}
		if len(connections) == 0 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"detail": "no longer"}`)
			return
		}
		_, _ = io.WriteString(w, connections[0])
		connections = connections[1:]
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{
		Server: server.URL, Clock: &hasty{FakeClock: testingclock.NewFakeClock(time.Unix(0, 0))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAStreamIsToldWholeAndMended(t *testing.T) {
	object := func(name string) string {
		return `{"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": {"name": "` + name + `"}}`
	}
	c := story(t,
		": alive\n\n"+event("snapshot", `{"items": [`+object("a")+`], "complete": false}`)+
			event("snapshot", `{"items": [`+object("b")+`], "complete": true}`)+
			event("novelty", `{}`)+event("changed", object("c"))+
			event("deleted", `{"kind": "S3Bucket", "namespace": "n", "name": "a", "uid": "u", "reason": "gone"}`),
		event("snapshot", `{"items": [`+object("half")+`], "complete": false}`),
		event("snapshot", `{"items": [], "complete": true}`),
	)
	var told []string
	for change, err := range c.S3Buckets("n").Watch(t.Context(), client.ListOptions{Status: "ready"}) {
		switch {
		case err != nil:
			told = append(told, fmt.Sprintf("%d %v", client.StatusOf(err), err))
		case change.Object != nil:
			told = append(told, "changed "+change.Object.Name)
		case change.Left != nil:
			told = append(told, change.Left.Reason+" "+change.Left.Namespace+"/"+change.Left.Name)
		default:
			names := "all"
			for _, b := range change.Snapshot {
				names += " " + b.Name
			}
			told = append(told, names)
		}
	}
	// An incomplete snapshot is dropped: it is not combined with that of the next connection.
	want := []string{"all a b", "changed c", "gone n/a", "all", "403 no longer"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestASnapshotTellsWhatItLeavesOut(t *testing.T) {
	begin := event("snapshot", `{"items": []}`) + event(
		"snapshot", `{"items": [], "complete": true, "forbidden": ["sqsqueues"]}`)
	for change, err := range story(t, begin).WatchResources(t.Context(), client.ListResourcesOptions{Namespace: "n"}) {
		if err != nil || change.Snapshot == nil || !slices.Equal(change.Forbidden, []string{"sqsqueues"}) {
			t.Errorf("told %v without %v, %v", change.Snapshot, change.Forbidden, err)
		}
		break
	}
}

func TestAStreamThatCannotBegin(t *testing.T) {
	n := 0
	for _, err := range story(t).S3Buckets("n").WatchOne(t.Context(), "a") {
		if n++; client.StatusOf(err) != http.StatusForbidden {
			t.Errorf("got %v", err)
		}
	}
	if n != 1 {
		t.Errorf("told %d times", n)
	}
}

func TestAStreamThatIsNoneOfOurs(t *testing.T) {
	for _, err := range story(t, event("changed", "<html>")).WatchResources(
		t.Context(), client.ListResourcesOptions{}) {
		if err == nil || !strings.Contains(err.Error(), "reading a changed event") {
			t.Errorf("got %v", err)
		}
	}
}

func TestAStreamEndsWithItsLoopAndItsContext(t *testing.T) {
	empty := event("snapshot", `{"items": [], "complete": true}`)
	for change := range story(t, empty).S3Buckets("n").WatchOne(t.Context(), "a") {
		if change.Snapshot == nil {
			t.Error("no snapshot")
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range story(t, empty, empty).S3Buckets("n").WatchOne(ctx, "a") {
		if err != nil {
			t.Errorf("the end of the context is told as %v", err)
		}
		cancel()
	}
}
