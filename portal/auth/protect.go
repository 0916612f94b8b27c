package auth

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// csp is the whole policy: no inline script or style, nothing from elsewhere, no frames.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// SecurityHeaders sets the security headers of every answer. Handlers of static files may replace Cache-Control.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", csp)
		h.Set("X-Content-Type-Options", "nosniff")
		// same-origin, not no-referrer: with that browsers would send "Origin: null" with our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", cachingOf(r))
		next.ServeHTTP(w, r)
	})
}

// cachingOf returns what caches are told. Nothing is stored but in the memory of the browser, from which a page comes
// back that was left a moment ago; it drops it there when a cookie changes, as at sign-out. A script's requests, which
// our scripts make past the cache, must not say no-store for that: a page that had such an answer is not kept.
func cachingOf(r *http.Request) string {
	if r.Header.Get("Sec-Fetch-Dest") == "empty" {
		return "private, no-cache"
	}
	return "no-store"
}

// Untransformed marks an answer that shows a secret, or what may be one. Nobody on the way may change it, which
// compressing is: the length of a compressed page tells what stands in it twice.
func Untransformed(h http.Header) {
	h.Set("Cache-Control", cmp.Or(h.Get("Cache-Control"), "no-store")+", no-transform")
}

// StrictTransport tells browsers to come by https only from now on, if that is how they reach the portal. It says
// nothing of hosts below ours: they may be tenants'.
func (p *Provider) StrictTransport(next http.Handler) http.Handler {
	if !strings.HasPrefix(p.cfg.PublicURL, "https://") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		next.ServeHTTP(w, r)
	})
}

// distrusted are the beginnings of header names that say who or where the client is; nobody in front of us is
// trusted with that.
var distrusted = []string{
	"impersonate-", "x-remote-", "x-forwarded-", "x-real-ip", "forwarded", "x-request-id",
	"x-original-", "true-client-ip", "x-client-ip", "x-auth-request-", "x-user", "x-groups",
}

// StripHeaders removes inbound headers that claim an identity, in any spelling, and those that Connection names.
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

// SameOrigin refuses writes that another site sent: with the standard library's check, and because tenants own sibling
// hosts with the stricter rule that the Origin must be ours.
func (b *Browser) SameOrigin(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	origin := b.provider.cfg.origin()
	if err := cross.AddTrustedOrigin(origin); err != nil { // a proxy may have put another host in the place of ours
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

// fromUs reports whether a write was sent by a page of ours. Browsers send Origin with every write; without one the
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

// bodyTime is how long a request's body may take to arrive.
const bodyTime = 30 * time.Second

// LimitBody refuses to read more than limit bytes of a request, or for longer than half a minute. Requests
// without a body, such as streams, get no deadline: Go ends a request when its connection's deadline passes.
func LimitBody(limit int64, now func() time.Time) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength != 0 && r.Body != nil {
				// Writers that know no deadlines, as those of some tests, go without.
				_ = http.NewResponseController(w).SetReadDeadline(now().Add(bodyTime))
				r.Body = http.MaxBytesReader(w, r.Body, limit)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// answerTime is how long an answer may take, from the request's header, or from its body's end, to the last byte read.
const answerTime = 30 * time.Second

// LimitAnswer gives up on a client that does not read its answer. A stream sets a deadline of its own for each message.
func LimitAnswer(now func() time.Time) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limit := answerTime
			if r.ContentLength != 0 {
				limit += bodyTime
			}
			// Writers that know no deadlines, as those of some tests, go without.
			_ = http.NewResponseController(w).SetWriteDeadline(now().Add(limit))
			next.ServeHTTP(w, r)
		})
	}
}
