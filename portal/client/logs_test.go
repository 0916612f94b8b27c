package client_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/client"
)

func TestALogIsFollowedToItsEnd(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{
			"that of a container which ends",
			event("waiting", `{"message": "it starts"}`) + event("lines", `{"lines": ["a", "b"]}`) +
				event("end", `{"reason": "ended", "message": "the container has ended"}`) + event(
				"finished", ``) + event("lines", `{"lines": ["never"]}`),
			[]string{"waiting: it starts", "a,b", "ended: the container has ended"},
		},
		{
			"one that is refused", event(
				"end",
				`{"reason": "refused", "message": "m", "problem": {"status": 404, "title": "Not Found", "detail": "no such pod"}}`) + event("finished", ``),
			[]string{"error: no such pod"},
		},
		{"one that breaks", event("lines", `{"lines": ["a"]}`), []string{"a", "error: cannot be reached"}},
		{"one that is none", event("lines", `<html>`), []string{"error: reading a lines event"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if got := r.URL.RequestURI(); got != "/api/v1/namespaces/n/webapps/a/logs?follow=true&tail=7" {
					t.Errorf("asked %s", got)
				}
				_, _ = io.WriteString(w, c.stream)
			})
			var told []string
			for part, err := range api.WebApps("n").FollowLogs(t.Context(), "a", client.LogsOptions{Tail: 7}) {
				switch {
				case err != nil:
					told = append(told, "error: "+err.Error())
				case part.Waiting != "":
					told = append(told, "waiting: "+part.Waiting)
				case part.End != "":
					told = append(told, part.End+": "+part.Message)
				default:
					told = append(told, strings.Join(part.Lines, ","))
				}
			}
			same := func(got, want string) bool {
				text, isError := strings.CutPrefix(want, "error: ")
				return got == want || isError && strings.HasPrefix(got, "error: ") && strings.Contains(got, text)
			}
			if !slices.EqualFunc(told, c.want, same) {
				t.Errorf("told %q, want %q", told, c.want)
			}
		})
	}
}
