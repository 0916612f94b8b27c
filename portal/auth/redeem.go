package auth

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
)

// redeemed is what the provider issued for a code, verified.
type redeemed struct {
	id      Identity
	token   *oidc.IDToken
	raw     string // the signed token
	refresh string
}

// redeem exchanges the code of the response for tokens, and verifies the ID token.
func (b *Browser) redeem(ctx context.Context, l login, answer url.Values) (redeemed, error) {
	if code := answer.Get("error"); code != "" {
		return redeemed{}, &AnswerError{
			Doing: "signing in", Code: clean(code),
			Detail: clean(answer.Get("error_description")),
		}
	}
	tok, err := b.provider.trade(ctx, answer.Get("code"), l.Verifier)
	if err != nil {
		return redeemed{}, err
	}
	raw, ok := tok.Extra("id_token").(string)
	if !ok {
		return redeemed{}, &AnswerError{Doing: "signing in", Detail: "tokens without an ID token"}
	}
	idToken, err := b.provider.verifyIssued(ctx, raw)
	if err != nil {
		return redeemed{}, err
	}
	// go-oidc does not check the nonce.
	if subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(l.Nonce)) != 1 {
		return redeemed{}, fmt.Errorf("%w: %w", ErrBadToken, errNonce)
	}
	id, err := b.provider.who(ctx, idToken, tok, l.Confirms == "")
	return redeemed{id: id, token: idToken, raw: raw, refresh: tok.RefreshToken}, err
}
