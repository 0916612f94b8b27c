package identity

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// issuer serves settings and keys, which a test changes.
type issuer struct {
	*httptest.Server
	issuer string // "" is its own
	status int    // of the settings
	keys   string
	keysAt string // "" is its own
}

func newIssuer(t *testing.T, secure bool) *issuer {
	t.Helper()
	i := &issuer{status: http.StatusOK, keys: `{"keys":[{"kty":"RSA"}]}`}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		name := i.issuer
		if name == "" {
			name = i.URL
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(i.status)
		_ = json.NewEncoder(w).Encode(map[string]string{
			"issuer": name, "jwks_uri": cmp.Or(i.keysAt, i.URL+"/keys"), "secret": "inside",
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(i.keys)) })
	i.Server = httptest.NewUnstartedServer(mux)
	i.Config.ErrorLog = nil
	if secure {
		i.StartTLS()
	} else {
		i.Start()
	}
	t.Cleanup(i.Close)
	return i
}

// TestWhyAProviderCannotBeUsed checks that the cause has neither addresses nor the provider's answer in it.
func TestWhyAProviderCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*issuer) // nil: it serves a certificate that nobody trusts
		url    string        // instead of the issuer's
		says   string        // "": it can be used
		fix    string
	}{
		"all is well":              {change: func(*issuer) {}},
		"an unknown authority":     {says: "has a certificate of an authority that is not trusted here", fix: "--ca-file"},
		"nobody listens":           {change: func(i *issuer) { i.Close() }, says: "cannot be reached: connection refused", fix: "network policies"},
		"a name that nobody has":   {change: func(*issuer) {}, url: "https://login.invalid", says: "has a name that", fix: "DNS"},
		"another issuer":           {change: func(i *issuer) { i.issuer = "https://other" }, says: "calls itself by another issuer URL", fix: "letter by letter"},
		"something else":           {change: func(i *issuer) { i.status = http.StatusNotFound }, says: "does not answer as an OpenID Connect", fix: "--check-oidc"},
		"no keys":                  {change: func(i *issuer) { i.keys = `{"keys":[]}` }, says: "has no keys at its jwks_uri", fix: "run it"},
		"keys without TLS":         {change: func(i *issuer) { i.keysAt = "http://login.example.com/keys" }, says: "has addresses among its settings that are not https", fix: "proxy"},
		"keys that cannot be read": {change: func(i *issuer) { i.keys = "<html>" }, says: "does not give its keys", fix: "--check-oidc"},
	} {
		t.Run(name, func(t *testing.T) {
			i := newIssuer(t, c.change == nil)
			address := i.URL
			if c.change != nil {
				c.change(i)
			}
			if c.url != "" {
				address = c.url
			}
			v, err := NewVerifier(settings(func(s *Settings) { s.Issuer = address }), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			err = v.Reach(t.Context())
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("it can be used")
			}
			says, fix := WhyUnreachable(err)
			if !strings.Contains(says, c.says) || !strings.Contains(fix, c.fix) {
				t.Errorf("%v: %q, %q, want %q, %q", err, says, fix, c.says, c.fix)
			}
			host, port, _ := net.SplitHostPort(i.Listener.Addr().String())
			for _, hidden := range []string{host, port, "inside"} {
				if strings.Contains(says+fix, hidden) {
					t.Errorf("%q, %q have %s in them", says, fix, hidden)
				}
			}
		})
	}
}

// TestAProxyThatIsAwayIsNamed checks the error that net/http has for it.
func TestAProxyThatIsAwayIsNamed(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &url.URL{Scheme: "http", Host: l.Addr().String()}
	_ = l.Close() // nobody listens there any more
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://login.example.com", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}).Do(request)
	if err == nil {
		_ = resp.Body.Close()
		t.Fatal("it was reached")
	}
	says, fix := WhyUnreachable(fmt.Errorf("asking: %w", err))
	if says != "cannot be reached through the proxy" || !strings.Contains(fix, "HTTPS_PROXY") {
		t.Errorf("%v: %q, %q", err, says, fix)
	}
}

func TestWhatTheProgramCannotUseSaysSo(t *testing.T) {
	err := fmt.Errorf("in a program: %w", &UnusableError{Says: "is odd", Fix: "mend it", Cause: syscall.EINVAL})
	if says, fix := WhyUnreachable(err); says != "is odd" || fix != "mend it" || !errors.Is(err, syscall.EINVAL) {
		t.Errorf("%v: %q, %q", err, says, fix)
	}
}

func TestIssuersThatAreRefused(t *testing.T) {
	for issuer, why := range map[string]string{
		"https://login.example.com/realms/a@b": "",
		"http://127.0.0.1:5556":                "",
		"http://login.example.com":             "must be https",
		"ftp://login.example.com":              "give a URL",
		"https://":                             "give a URL",
		"https://me:hidden@login.example.com":  "no password",
		"ftp://me:hidden@login.example.com":    "no password",
		"https://me:hidden@login\x7f":          "cannot be read",
	} {
		err := CheckIssuer(issuer)
		says := fmt.Sprint(err)
		if (err == nil) != (why == "") || !strings.Contains(says, why) || strings.Contains(says, "hidden") {
			t.Errorf("CheckIssuer(%q) = %v, want %q", issuer, err, why)
		}
	}
}
