package auth

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestClientsAreToldApartByTrustedProxiesOnly(t *testing.T) {
	trust := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for reason, c := range map[string]struct {
		proxies []netip.Prefix
		remote  string
		said    []string
		want    string
	}{
		"nobody is trusted":                   {nil, "10.1.2.3:1", []string{"203.0.113.9"}, ""},
		"by a proxy":                          {trust, "10.1.2.3:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"by two":                              {trust, "10.1.2.3:1", []string{"203.0.113.9, 10.4.5.6"}, "203.0.113.9"},
		"in two headers":                      {trust, "10.1.2.3:1", []string{"203.0.113.9", "10.4.5.6"}, "203.0.113.9"},
		"with a forged beginning":             {trust, "10.1.2.3:1", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		"with a forged proxy":                 {trust, "10.1.2.3:1", []string{"198.51.100.1, 10.9.9.9, 203.0.113.9"}, "203.0.113.9"},
		"without a proxy":                     {trust, "203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"by a proxy that says nothing":        {trust, "10.1.2.3:1", nil, "10.1.2.3"},
		"by a proxy that passes on rubbish":   {trust, "10.1.2.3:1", []string{"203.0.113.9, unknown"}, "10.1.2.3"},
		"IPv6, by its network":                {trust, "[fd00::1]:1", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		"IPv4 written as IPv6":                {trust, "[::ffff:10.1.2.3]:1", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"a connection without an address":     {trust, "@", []string{"203.0.113.9"}, ""},
		"proxies that name each other only":   {trust, "10.1.2.3:1", []string{"10.0.0.1, 10.0.0.2"}, "10.0.0.1"},
		"an address with a zone, of a proxy":  {trust, "[fd00::1%eth0]:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"an address with a port is not taken": {trust, "10.1.2.3:1", []string{"203.0.113.9:80"}, "10.1.2.3"},
	} {
		var got string
		h := Address(c.proxies)(StripHeaders(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = AddressOf(r.Context())
			if r.Header.Get("X-Forwarded-For") != "" {
				t.Error("the header goes on")
			}
		})))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = c.remote
		for _, s := range c.said {
			r.Header.Add("X-Forwarded-For", s)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: %q, want %q", reason, got, c.want)
		}
	}
}
