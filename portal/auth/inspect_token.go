package auth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/portico-platform/portico/api/identity"
)

func (i *inspector) token(ctx context.Context, found *discovered) {
	i.title("Token")
	payload, err := payloadOf(i.Token)
	var claims identity.ClaimSet
	if errors.Is(err, errTooLong) {
		i.wrong("The token has %d bytes, and more than %d are not checked: it names too many groups. Neither the "+
			"REST API nor pages about Secrets take it. Have the identity provider send only the groups that "+
			"matter here.", len(i.Token), maxToken)
		return
	}
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		i.wrong("What was given is no signed token (JWT) that can be read. Opaque access tokens are of no use here: " +
			"give an ID token.")
		return
	}
	i.payload(payload)
	i.verified(ctx)
	if found != nil && found.settings.UserInfo != "" && i.Config.claims().Lacks(claims) {
		i.say("  What this token lacks is read at the userinfo endpoint when people sign in. By itself, as the REST " +
			"API gets it:")
	}
	id, err := i.Config.claims().Who(claims)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		i.wrong("%s", refused.Reason)
		if refused.Cause != nil {
			i.say("  %s", refused.Cause)
		}
		return
	}
	i.line("username", id.Username)
	i.line("name", id.Name)
	i.line("e-mail", id.Email)
	i.groups(id)
	now := i.Now().Unix()
	if _, _, err := fit(session{
		ID: newSessionID(), Subject: claims.Text("sub"), Username: id.Username, Groups: id.Groups, Name: id.Name,
		Email: id.Email,
		Start: now, Seen: now, Checked: now, TokenEnd: now,
	}); err != nil {
		i.wrong("%s", err)
	}
}

// payload prints the claims of a token.
func (i *inspector) payload(text []byte) {
	var indented bytes.Buffer
	if json.Indent(&indented, text, "  ", "  ") != nil {
		return
	}
	i.say("  %s", strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, indented.String()))
}

func (i *inspector) groups(id Identity) {
	i.say("  groups\t%d", len(id.Groups))
	for _, g := range id.Groups {
		i.say("  \t%s", strings.TrimSpace(clean(g)+"  "+i.GroupNames[g]))
	}
}

// verified prints what the token can be used for.
func (i *inspector) verified(ctx context.Context) {
	cfg := i.Config
	tok, err := i.provider.verify(ctx, i.Token, append([]string{cfg.ClientID}, cfg.Audiences...))
	switch {
	case errors.Is(err, ErrBadToken):
		i.wrong("The token is not good here: %s. It must be of this issuer, not have ended, and be for %s.",
			clean(strings.TrimPrefix(err.Error(), ErrBadToken.Error()+": ")),
			strings.Join(append([]string{cfg.ClientID + " (signing in)"}, cfg.Audiences...), ", "))
	case err != nil:
		i.wrong("The token could not be verified: %s.", clean(err.Error()))
	default:
		for _, a := range tok.Audience {
			if a == cfg.ClientID {
				i.line("good for", "signing in")
			} else if slices.Contains(cfg.Audiences, a) {
				i.line("good for", "the REST API, by its audience "+a)
			}
		}
	}
}

// payloadOf returns the payload of a token without verifying it.
func payloadOf(token string) ([]byte, error) {
	switch {
	case len(token) > maxToken:
		return nil, errTooLong
	case strings.Count(token, ".") != 2:
		return nil, errMalforms
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		return nil, errMalforms
	}
	return payload, nil
}
