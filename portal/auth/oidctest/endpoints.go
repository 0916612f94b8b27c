package oidctest

import (
	"crypto/rand"
	"crypto/sha256"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

func (p *Provider) revoke(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.grants[r.FormValue("token")]; known {
		p.revoked = append(p.revoked, clientAuth(r))
		delete(p.grants, r.FormValue("token"))
	}
	w.WriteHeader(max(p.Revocation, http.StatusOK))
}

func clientAuth(r *http.Request) string {
	switch _, _, basic := r.BasicAuth(); {
	case basic:
		return "client_secret_basic"
	case r.FormValue("client_secret") != "":
		return "client_secret_post"
	}
	return "none"
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if p.Before != nil {
		p.Before(r.FormValue("grant_type"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.FormValue("grant_type")+" "+clientAuth(r))
	if p.Refusal != nil {
		if status, answer := p.Refusal(r.FormValue("grant_type")); status != 0 {
			reply(w, status, answer)
			return
		}
	}
	p.grant(w, r)
}

func (p *Provider) grant(w http.ResponseWriter, r *http.Request) {
	switch r.FormValue("grant_type") {
	case "authorization_code":
		g, ok := p.grants[r.FormValue("code")]
		delete(p.grants, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !ok || b64(sum[:]) != g.challenge {
			reply(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
			return
		}
		p.issue(w, g)
	case "refresh_token":
		p.refreshes++
		g, ok := p.spend(r.FormValue("refresh_token"))
		status := http.StatusOK
		if p.Refreshed != nil {
			g.claims, status = p.Refreshed()
		}
		if !ok || status != http.StatusOK {
			reply(w, max(status, http.StatusBadRequest), map[string]any{"error": "invalid_grant"})
			return
		}
		p.issue(w, g)
	}
}

// spend consumes a refresh token: each is valid once, as with strict providers.
func (p *Provider) spend(token string) (grant, bool) {
	if signIn, again := p.used[token]; again && p.DetectReuse {
		p.reuses++
		maps.DeleteFunc(p.grants, func(_ string, g grant) bool { return g.signIn == signIn })
	}
	g, ok := p.grants[token]
	delete(p.grants, token)
	p.used[token] = g.signIn
	return g, ok
}

// Reuses returns how many times a consumed refresh token was sent again.
func (p *Provider) Reuses() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reuses
}

func (p *Provider) issue(w http.ResponseWriter, g grant) {
	access, subject := rand.Text(), any(Subject)
	if own, ok := g.claims["sub"]; ok {
		subject = own
	}
	p.access[access] = subject
	answer := map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": 3600, "id_token": p.sign(g.claims),
	}
	if !p.WithoutRefresh {
		refresh := p.RefreshToken + rand.Text()
		p.grants[refresh] = grant{claims: g.claims, signIn: g.signIn}
		answer["refresh_token"] = refresh
	}
	reply(w, http.StatusOK, answer)
}

// UserInfoPath is the path of the userinfo endpoint.
const UserInfoPath = "/me"

// userInfo returns the claims of the access token's user.
func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	subject, ok := p.access[token]
	p.mu.Unlock()
	claims, status := p.UserInfo()
	switch {
	case !ok:
		reply(w, http.StatusUnauthorized, map[string]any{"error": "invalid_token"})
	case status != http.StatusOK:
		reply(w, status, map[string]any{})
	default:
		all := Claims{"sub": subject}
		maps.Copy(all, claims)
		reply(w, status, all)
	}
}

// wanted returns the parameters of an authorization request, from the URL or from the pushed request.
func (p *Provider) wanted(q url.Values) url.Values {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	uri := q.Get("request_uri")
	switch pushed := p.pushed[uri]; {
	case uri == "" && p.RequirePush:
		p.t.Fatalf("nothing was pushed, but the browser brings %v", q)
	case uri != "" && (pushed == nil || len(q) != 2 || q.Get("client_id") != pushed.Get("client_id")):
		p.t.Fatalf("nothing was pushed for %v", q)
	case uri != "":
		delete(p.pushed, uri)
		return pushed
	}
	return q
}

// Pushed returns the pushed parameters with this request URI.
func (p *Provider) Pushed(uri string) url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pushed[uri]
}

// push handles a pushed authorization request.
func (p *Provider) push(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, "push "+clientAuth(r))
	if p.Refusal != nil {
		if status, answer := p.Refusal("push"); status != 0 {
			reply(w, status, answer)
			return
		}
	}
	if err := r.ParseForm(); err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
		return
	}
	uri := "urn:ietf:params:oauth:request_uri:" + rand.Text()
	p.pushed[uri] = r.PostForm
	reply(w, http.StatusCreated, map[string]any{"request_uri": uri, "expires_in": 60})
}
