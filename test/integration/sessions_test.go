//go:build integration

package integration

import (
	"bufio"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// soon is the longest time until all parts of a session have ended: streams check every five seconds, and this machine
// may be busy.
const soon = 10 * time.Second

// visitor is a user of the portal with a session and a token.
type visitor struct {
	claims  oidctest.Claims
	token   string
	session map[string]string
}

// comes signs in a user who is in one group, in a browser and for the REST API.
func (r *replica) comes(t *testing.T, issuer *oidctest.Provider, name, group string) visitor {
	t.Helper()
	p := visitor{claims: oidctest.Claims{"sub": name, "preferred_username": name, "groups": []string{group}}}
	p.session = map[string]string{
		"__Host-portico": r.signIn(t, issuer, p.claims).want(t, http.StatusSeeOther).session(),
	}
	with := maps.Clone(p.claims)
	with["aud"] = stack.Audience
	p.token = issuer.Token(with)
	secrets.Plant("a token of "+name, p.token)
	return p
}

// follows opens a stream and reads its first line. The returned channel receives the time at which the stream ends.
func (p visitor) follows(t *testing.T, r *replica, path string) <-chan time.Time {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan struct{})
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(path, "/api/") {
		req.Header.Set("Authorization", "Bearer "+p.token)
	} else {
		req.Header.Set("Accept", "text/event-stream")
		for name, value := range p.session {
			req.AddCookie(&http.Cookie{Name: name, Value: value})
		}
	}
	client := plainly()
	client.Timeout = 0 // the stream must not time out
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, nothing came: %v", path, resp.StatusCode, err)
	}
	ended := make(chan time.Time, 1)
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	go func() {
		defer close(closed)
		defer func() { _ = resp.Body.Close() }()
		for err == nil {
			_, err = lines.ReadString('\n')
		}
		ended <- time.Now()
	}()
	return ended
}

// loggingApp creates an application, and returns the paths of its log, for the page and for the REST API.
func loggingApp(t *testing.T) (page, api string) {
	t.Helper()
	app := &v1alpha1.WebApp{ObjectMeta: meta1("payments", unique("logging")), Spec: v1alpha1.WebAppSpec{
		Image: "registry.example.com/shop:1.0.0",
	}}
	app.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	c := admin(t)
	create(t, c, app)
	discard(t, app)
	pod := podOfApp(t, app.Name, true)
	await(t, "the Pod to run", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)
		return err == nil && pod.Status.Phase == corev1.PodRunning, string(pod.Status.Phase)
	})
	return "/teams/payments/webapps/" + app.Name + "/pods/" + pod.Name + "/logs/live",
		"/api/v1/namespaces/payments/webapps/" + app.Name + "/logs?follow=true"
}

// endings are the ways for an admin to end the sessions of a user.
var endings = map[string]func(t *testing.T, r *replica, admin visitor, user string) *http.Request{
	"by the page": func(t *testing.T, r *replica, admin visitor, user string) *http.Request {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/admin/sessions",
			strings.NewReader(url.Values{"user": {"user:" + user}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", r.url)
		req.AddCookie(&http.Cookie{Name: "__Host-portico", Value: admin.session["__Host-portico"]})
		return req
	},
	"over REST": func(t *testing.T, r *replica, admin visitor, user string) *http.Request {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, r.url+"/api/v1/sessions?user="+
			url.QueryEscape(user), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+admin.token)
		return req
	},
}

// TestAnAdminEndsSessionsOnEveryReplica measures how soon all sessions and streams of a user have ended, on the replica
// that the admin used and on another one. Another user is not affected, and the user can sign in again immediately.
func TestAnAdminEndsSessionsOnEveryReplica(t *testing.T) {
	issuer, keys := oidctest.New(t), sessionKeys(t)
	one, other := startPortal(t, issuer.URL, keys), startPortal(t, issuer.URL, keys)
	logPage, logAPI := loggingApp(t)
	streams := []string{"/teams/payments/live", "/api/v1/namespaces/payments/s3buckets?watch=true", logPage, logAPI}
	admin, neighbour := one.comes(t, issuer, unique("root"), "platform-admins"),
		other.comes(t, issuer, unique("neighbour"), "team-payments")
	await(t, "the application in the caches", func() (bool, string) {
		path := strings.TrimSuffix(strings.TrimPrefix(logAPI, "/api/v1"), "?follow=true")
		a, b := one.call(t, neighbour.token, "GET", path, nil), other.call(t, neighbour.token, "GET", path, nil)
		return a.status == http.StatusOK && b.status == http.StatusOK, a.raw + b.raw
	})
	for _, by := range slices.Sorted(maps.Keys(endings)) {
		t.Run(by, func(t *testing.T) {
			user := one.comes(t, issuer, unique("user"), "team-payments")
			name := stack.Prefix + user.claims["preferred_username"].(string)
			open, others := map[string]<-chan time.Time{}, map[string]<-chan time.Time{}
			for _, path := range streams {
				open["here "+path], open["there "+path] = user.follows(t, one, path), user.follows(t, other, path)
				others[path] = neighbour.follows(t, other, path)
			}
			act, began := endings[by](t, one, admin, name), time.Now()
			answered := make(chan time.Time, 1)
			programs := programs(t)
			go func() {
				defer close(answered)
				resp, err := programs.Do(act)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
				if answered <- time.Now(); resp.StatusCode != http.StatusOK {
					t.Errorf("the admin is answered %d", resp.StatusCode)
				}
			}()
			user.isRefused(t, began, one, "here")
			user.isRefused(t, began, other, "there")
			t.Logf("the admin has the answer after %.2f s", (<-answered).Sub(began).Seconds())
			again := other.comes(t, issuer, user.claims["preferred_username"].(string), "team-payments")
			for where, r := range map[string]*replica{"here": one, "there": other} {
				if a, b := r.visit(t, "GET", "/teams/payments", again.session),
					r.call(t, again.token, "GET", "/me", nil); a.status != http.StatusOK || b.status != http.StatusOK {
					t.Errorf("who signs in at once is refused %s: %d, %d %s", where, a.status, b.status, b.raw)
				}
				if a, b := r.visit(t, "GET", "/teams/payments", neighbour.session),
					r.call(t, neighbour.token, "GET", "/me", nil); a.status != http.StatusOK ||
					b.status != http.StatusOK {
					t.Errorf("another user is refused %s: %d, %d", where, a.status, b.status)
				}
			}
			allEnd(t, began, open)
			for path, ended := range others {
				select {
				case <-ended:
					t.Errorf("another user's stream of %s has ended", path)
				default:
				}
			}
			user.isToldWhy(t, other)
			one.recorded(t, `"name":"`+name+`"`, `"resource":"sessions"`, `"outcome":"done"`)
			// All replicas are replaced by new ones.
			fresh := startPortal(t, issuer.URL, keys)
			user.isToldWhy(t, fresh)
			fresh.visit(t, "GET", "/teams/payments", again.session).want(t, http.StatusOK)
			fresh.call(t, again.token, "GET", "/me", nil).want(t, http.StatusOK)
		})
	}
}

// isRefused waits until both cookie and token are refused.
func (p visitor) isRefused(t *testing.T, began time.Time, r *replica, where string) {
	t.Helper()
	cookie, token := false, false
	for !cookie || !token {
		if !cookie && r.visit(t, "GET", "/teams/payments", p.session).status == http.StatusSeeOther {
			cookie = true
			t.Logf("%s the cookie is refused after %.2f s", where, time.Since(began).Seconds())
		}
		if !token && r.call(t, p.token, "GET", "/me", nil).status == http.StatusUnauthorized {
			token = true
			t.Logf("%s the token is refused after %.2f s", where, time.Since(began).Seconds())
		}
		if time.Since(began) > soon {
			t.Fatalf("%s the cookie is refused: %v, the token: %v", where, cookie, token)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// allEnd waits until all streams have ended.
func allEnd(t *testing.T, began time.Time, open map[string]<-chan time.Time) {
	t.Helper()
	late := time.After(soon)
	for _, path := range slices.Sorted(maps.Keys(open)) {
		select {
		case at := <-open[path]:
			t.Logf("%s ended after %.2f s", path, at.Sub(began).Seconds())
		case <-late:
			t.Fatalf("%s goes on", path)
		}
	}
}

// isToldWhy checks that requests with the ended session and token are refused with the reason.
func (p visitor) isToldWhy(t *testing.T, r *replica) {
	t.Helper()
	const words = "your sessions were ended by a platform admin; sign in again"
	for _, path := range []string{"/me", "/namespaces/payments/s3buckets?watch=true"} {
		if got := r.call(t, p.token, "GET", path, nil).want(t, http.StatusUnauthorized); got.detail() != words {
			t.Errorf("%s answers %q", path, got.detail())
		}
	}
	to := r.visit(t, "GET", "/teams/payments", p.session).want(t, http.StatusSeeOther).header.Get("Location")
	if got := r.visit(t, "GET", to, p.session).want(t, http.StatusOK); !strings.Contains(
		got.raw, "A platform admin ended your sessions") {
		t.Errorf("%s says %s", to, got.raw)
	}
}

// recorded fails unless one line of the log contains all these parts.
func (r *replica) recorded(t *testing.T, parts ...string) {
	t.Helper()
	for line := range strings.Lines(r.log.String()) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			return
		}
	}
	t.Errorf("nothing is logged with %q", parts)
}

// TestWhoMayNotEndSessionsIsToldSo checks that a user without the permission is refused with the reason, and that the
// attempt is logged.
func TestWhoMayNotEndSessionsIsToldSo(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	admin, dev := p.comes(t, issuer, unique("root"), "platform-admins"),
		p.comes(t, issuer, unique("dev"), "team-payments")
	got := p.call(t, dev.token, "DELETE", "/sessions?user=oidc:somebody", nil).want(t, http.StatusForbidden)
	if got.detail() != "you are not allowed to delete sessions" {
		t.Errorf("answers %q", got.detail())
	}
	page := send(t, endings["by the page"](t, p, dev, "oidc:somebody")).want(t, http.StatusForbidden)
	if !strings.Contains(page.raw, "You are not allowed to delete sessions.") {
		t.Errorf("the page says %s", page.raw)
	}
	p.recorded(t, dev.claims["preferred_username"].(string), `"resource":"sessions"`, `"name":"oidc:somebody"`,
		`"decision":"deny"`, `"outcome":"forbidden"`)
	for user, words := range map[string]string{
		"oidc:team-payments":                "oidc:team-payments is a group",
		"system:serviceaccount:payments:ci": "is a ServiceAccount", "oidc:": "empty username",
	} {
		got := p.call(t, admin.token, "DELETE", "/sessions?user="+url.QueryEscape(user), nil).want(
			t, http.StatusUnprocessableEntity)
		if at, _ := got.location(); !strings.Contains(got.detail(), words) || at != "query.user" {
			t.Errorf("%s: %q at %q", user, got.detail(), at)
		}
	}
	p.call(t, dev.token, "GET", "/me", nil).want(t, http.StatusOK)
}
