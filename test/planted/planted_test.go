package planted

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func begin(t *testing.T) *Search {
	t.Helper()
	s, err := Begin(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Plant("the key", "a-key-that-nobody-has-seen")
	return s
}

func TestASecretIsFoundInEveryForm(t *testing.T) {
	const value = `pass"word/of the+shop`
	for name, form := range map[string]string{
		"as it is": value, "quoted": `pass\"word/of the+shop`, "in a query": url.QueryEscape(value),
		"in base64":          base64.StdEncoding.EncodeToString([]byte(value)),
		"in base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		s := begin(t)
		s.Plant("the password", value)
		s.Write("the answers", "GET /one", "nothing")
		s.Write("the answers", "GET /two", "before "+form+" after")
		_, _ = s.Into("the log").Write([]byte(form)) // at the beginning and the end of a text
		found, _, err := s.End()
		if want := []string{"the answers, GET /two: the password", "the log: the password"}; err != nil ||
			!slices.Equal(found, want) {
			t.Errorf("%s: found %q, %v", name, found, err)
		}
	}
}

func TestOfATokenTheSignatureCounts(t *testing.T) {
	s := begin(t)
	s.Plant("the token", "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.signature-of-the-token")
	s.Write("the answers", "GET /claims", "eyJzdWIiOiJhbm4ifQ")
	s.Write("the answers", "GET /token", "signature-of-the-token")
	if found, _, err := s.End(); err != nil || !slices.Equal(found, []string{"the answers, GET /token: the token"}) {
		t.Errorf("found %q, %v", found, err)
	}
}

func TestASearchForNothingFails(t *testing.T) {
	s, err := Begin(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Write("the answers", "GET /", "something")
	if _, _, err := s.End(); err == nil {
		t.Error("a search without secrets passes")
	}
	if _, _, err := begin(t).End(); err == nil {
		t.Error("a search that saw nothing passes")
	}
}

func TestAnswersAreKept(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "a-session-that-nobody-reads"})
		w.Header().Set("Location", "/a-code-that-nobody-reads")
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<16)+"a-password-that-nobody-reads")
	}))
	defer srv.Close()
	s := begin(t)
	for _, name := range []string{"session", "code", "password"} {
		s.Plant(name, "a-"+name+"-that-nobody-reads")
	}
	resp, err := (&http.Client{Transport: s.Transport(http.DefaultTransport)}).Get(srv.URL + "/some/page")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	found, _, err := s.End() // a session belongs in its cookie
	if want := []string{"answers, GET /some/page: code", "answers, GET /some/page: password"}; err != nil ||
		!slices.Equal(found, want) {
		t.Errorf("found %q, %v", found, err)
	}
}
