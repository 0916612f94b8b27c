package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func ask(a *app, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	a.routes().ServeHTTP(w, r)
	return w
}

// TestWithoutBindings serves a page that says what is missing, and refuses what would need it.
func TestWithoutBindings(t *testing.T) {
	none := func(string) string { return "" }
	a := &app{
		files: newBucket(aws.Config{}, none), messages: newQueue(aws.Config{}, none), rows: newTable(none),
		began: time.Now(),
	}
	if w := ask(a, "GET", "/", ""); w.Code != http.StatusOK || strings.Count(w.Body.String(), "Not bound") != 3 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/files", "/messages", "/messages/receive", "/rows", "/refused"} {
		if w := ask(a, "POST", path, "text=x"); w.Code != http.StatusBadGateway ||
			!strings.Contains(w.Body.String(), errNotBound.Error()) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestTheHealthCheckFailsOnRequest until it is asked again.
func TestTheHealthCheckFailsOnRequest(t *testing.T) {
	a := &app{began: time.Now()}
	for _, want := range []int{http.StatusServiceUnavailable, http.StatusOK} {
		ask(a, "POST", "/probe", "")
		if w := ask(a, "GET", "/healthz", ""); w.Code != want {
			t.Errorf("%d, want %d", w.Code, want)
		}
	}
}

// TestOtherSitesAskForNothing: a page elsewhere cannot make a browser crash the application.
func TestOtherSitesAskForNothing(t *testing.T) {
	r := httptest.NewRequest("POST", "/probe", http.NoBody)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	if (&app{}).routes().ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("%d", w.Code)
	}
}
