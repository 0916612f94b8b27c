package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/portico-platform/portico/api/identity"
)

const (
	asksUserInfo = "reading at the userinfo endpoint what the ID token lacks"
	// maxUserInfo bounds the response.
	maxUserInfo = 256 << 10
	// userInfoAdvice is for a response that a retry will not change.
	userInfoAdvice = "The ID token does not say who you are or in which groups, and that is where the portal reads " +
		"the rest. Ask the people who run it to put these claims into one of the two."
)

// who returns the caller of a verified ID token. If the username or the groups are missing, it reads them from the
// userinfo endpoint, if there is one, with the access token that was issued with it. names requests display names, too;
// it is no error if they are missing.
func (p *Provider) who(ctx context.Context, tok *oidc.IDToken, access *oauth2.Token, names bool) (Identity, error) {
	said, err := identity.ClaimsOf(tok)
	if err != nil {
		return Identity{}, err
	}
	cfg := p.cfg.claims()
	lacks := cfg.Lacks(said)
	if !lacks && (!names || !said.LacksNames()) {
		return cfg.Who(said)
	}
	more, err := p.userInfo(ctx, tok.Subject, access)
	if err != nil && lacks {
		return Identity{}, err
	}
	return cfg.Who(cfg.Filled(said, more))
}

// userInfo returns the claims of the provider's userinfo endpoint, nil if there is none.
func (p *Provider) userInfo(ctx context.Context, subject string, access *oauth2.Token) (identity.ClaimSet, error) {
	found, err := p.discover(ctx)
	if err != nil || found.settings.UserInfo == "" {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, found.settings.UserInfo, http.NoBody)
	if err != nil {
		return nil, &ProviderError{Doing: asksUserInfo, Cause: errors.New("its address is none")}
	}
	access.SetAuthHeader(req)
	resp, err := p.http.Do(req)
	if err != nil {
		return nil, &ProviderError{Doing: asksUserInfo, Cause: err}
	}
	defer func() { _ = resp.Body.Close() }() // it has been read, or is not needed
	if resp.StatusCode != http.StatusOK {
		refusal := &AnswerError{Doing: asksUserInfo, Status: resp.StatusCode}
		if !refusal.passing() {
			refusal.Advice = userInfoAdvice
		}
		return nil, answered(refusal)
	}
	return p.readUserInfo(ctx, found, subject, resp)
}

// readUserInfo reads a response of the endpoint, which can be signed. It must be about the same user.
func (p *Provider) readUserInfo(
	ctx context.Context, found *discovered, subject string, resp *http.Response,
) (identity.ClaimSet, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxUserInfo+1))
	if err != nil {
		return nil, &ProviderError{Doing: asksUserInfo, Cause: err}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/jwt" {
		if body, err = found.keys.VerifySignature(p.with(ctx), string(body)); err != nil {
			return nil, useless("what it answered is signed with a key that it does not publish")
		}
	}
	var said identity.ClaimSet
	switch {
	case len(body) > maxUserInfo:
		return nil, useless(fmt.Sprintf("it answered more than %d KiB", maxUserInfo>>10))
	case json.Unmarshal(body, &said) != nil:
		return nil, useless("what it answered cannot be read")
	case said.Text("sub") != subject:
		return nil, useless("what it answered is about somebody else")
	}
	return said, nil
}

func useless(why string) error {
	return &AnswerError{Doing: asksUserInfo, Detail: why, Advice: userInfoAdvice}
}
