package auth

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// csp is the Content-Security-Policy: no inline scripts or styles, nothing from other origins, no frames.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// SecurityHeaders sets the security headers of every response. Handlers of static files can replace Cache-Control.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", csp)
		h.Set("X-Content-Type-Options", "nosniff")
		// same-origin, not no-referrer: with the latter browsers would send "Origin: null" with our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", cachingOf(r))
		next.ServeHTTP(w, r)
	})
}

// cachingOf returns the Cache-Control header. Responses are stored only in the browser's back/forward cache, which
// drops a page when a cookie changes, as at sign-out. Requests by scripts, which bypass the cache, must not get
// no-store: a page with such a response is not kept in the back/forward cache.
func cachingOf(r *http.Request) string {
	if r.Header.Get("Sec-Fetch-Dest") == "empty" {
		return "private, no-cache"
	}
	return "no-store"
}

// Untransformed marks a response that shows, or may show, a secret: no proxy may change it, in particular compress it,
// because the length of a compressed page reveals repeated text.
func Untransformed(h http.Header) {
	h.Set("Cache-Control", cmp.Or(h.Get("Cache-Control"), "no-store")+", no-transform")
}

// StrictTransport tells browsers to use https only from now on, if that is how they reach the portal. It does not
// include subdomains, which can belong to tenants.
func (p *Provider) StrictTransport(next http.Handler) http.Handler {
	if !strings.HasPrefix(p.cfg.PublicURL, "https://") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// distrusted are prefixes of headers that state who or where the client is; no proxy is trusted with that.
var distrusted = []string{
	"impersonate-", "x-remote-", "x-forwarded-", "x-real-ip", "forwarded", "x-request-id",
	"x-original-", "true-client-ip", "x-client-ip", "x-auth-request-", "x-user", "x-groups",
}

// StripHeaders removes inbound headers that state an identity, in any spelling, and those that Connection names.
func StripHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, names := range r.Header["Connection"] {
			for name := range strings.SplitSeq(names, ",") {
				r.Header.Del(strings.TrimSpace(name))
			}
		}
		for name := range r.Header {
			spelled := strings.ReplaceAll(strings.ToLower(name), "_", "-")
			for _, d := range distrusted {
				if strings.HasPrefix(spelled, d) {
					delete(r.Header, name)
				}
			}
		}
		r.Header.Del("Connection")
		next.ServeHTTP(w, r)
	})
}

// SameOrigin refuses writes from other sites: by the standard library's check and, because tenants own sibling hosts,
// by the stricter rule that the Origin must be the portal's.
func (b *Browser) SameOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	origin := b.provider.cfg.origin()
	if err := cross.AddTrustedOrigin(origin); err != nil { // a proxy may have replaced the Host header
		panic(fmt.Sprintf("the portal's own origin: %v", err)) // cannot happen: NewProvider has checked it
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := cross.Check(r); err != nil || !fromUs(r, origin) {
			b.pages.Problem(w, r, http.StatusForbidden, "This request came from another site",
				"Nothing was changed. Open the portal at "+origin+" and try again there.")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromUs reports whether a page of the portal sent the write. Browsers send Origin with every write; without it the
// fetch metadata must say so.
func fromUs(r *http.Request, origin string) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	if sent := r.Header.Get("Origin"); sent != "" {
		return sent == origin && (site == "" || site == "same-origin" || site == "none")
	}
	return site == "same-origin"
}

// bodyTime is the time limit for reading a request's body.
const bodyTime = 30 * time.Second

// LimitBody limits a request's body to limit bytes and half a minute. Requests without a body, such as streams, get no
// deadline: Go ends a request when its connection's deadline passes.
func LimitBody(limit int64, now func() time.Time) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength != 0 && r.Body != nil {
				// Some tests' writers do not support deadlines.
				_ = http.NewResponseController(w).SetReadDeadline(now().Add(bodyTime))
				r.Body = http.MaxBytesReader(w, r.Body, limit)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// answerTime is the time limit for a response, from the request's header, or from its body's end, to the last byte
// written.
const answerTime = 30 * time.Second

// LimitAnswer limits the time of a client that does not read the response. A stream sets its own deadline for each
// message.
func LimitAnswer(now func() time.Time) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limit := answerTime
			if r.ContentLength != 0 {
				limit += bodyTime
			}
			// Some tests' writers do not support deadlines.
			_ = http.NewResponseController(w).SetWriteDeadline(now().Add(limit))
			next.ServeHTTP(w, r)
		})
	}
}
