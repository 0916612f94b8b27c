package kubetest

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
)

// Logged calls do within a request and returns the audit lines, as text of the relevant fields. Lines of events other
// than writes begin with the event.
func Logged(t *testing.T, do func(r *http.Request)) []string {
	t.Helper()
	var log bytes.Buffer
	h := auth.Record(slog.New(slog.NewJSONHandler(&log, nil)), clock.RealClock{}.Now, nil)(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { do(r) }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/teams/payments/s3buckets", http.NoBody))
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("content is logged: %s", log.String())
	}
	var out []string
	for line := range strings.Lines(log.String()) {
		var l auditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if !l.Audit {
			continue
		}
		if l.RequestID != w.Header().Get("X-Request-Id") {
			t.Errorf("request ID %q", l.RequestID)
		}
		out = append(out, l.String())
	}
	return out
}

// Eventually waits until done, and fails the test after a while.
func Eventually(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	err := wait.PollUntilContextTimeout(tb.Context(), time.Millisecond, 20*time.Second, true,
		func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		tb.Fatalf("%s does not come: %v", what, err)
	}
}

// auditLine is a line of the audit log.
type auditLine struct {
	Msg, Verb, Resource, Namespace, Name, Container string
	Decision, Outcome, Reason, RequestID, AuditID   string
	DryRun, Audit, Follow                           bool
	Duration                                        *time.Duration
}

// String returns the text of the relevant fields.
func (l auditLine) String() string {
	what := []string{l.Verb, l.Resource, l.Namespace, l.Name, l.Decision, l.Outcome}
	if l.Msg != "write" {
		what = append([]string{l.Msg}, what...)
	}
	for _, more := range []struct {
		word string
		is   bool
	}{
		{"dry", l.DryRun},
		{l.Container, l.Container != ""},
		{"follow", l.Follow},
		{l.Reason, l.Reason != ""},
		{"as " + l.AuditID, l.AuditID != ""},
		{"ended", l.Duration != nil},
	} {
		if more.is {
			what = append(what, more.word)
		}
	}
	return strings.Join(what, " ")
}
