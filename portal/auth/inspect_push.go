package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// push checks whether the provider accepts a pushed authorization request. It is not used, and the provider lets it
// expire.
func (i *inspector) push(ctx context.Context, found *discovered, client *oauth2.Config) {
	said := found.settings
	switch {
	case said.Pushed == "" && said.MustPush:
		i.wrong("Nobody can sign in: the identity provider requires pushed authorization requests, and does not " +
			"say where.")
		return
	case said.Pushed == "" || i.Config.PublicURL == "":
		return
	}
	challenge := oauth2.S256ChallengeOption(oauth2.GenerateVerifier())
	asked, err := url.Parse(client.AuthCodeURL(rand.Text(), oidc.Nonce(rand.Text()), challenge))
	if err == nil {
		_, err = i.provider.push(ctx, client, said.Pushed, asked.Query())
	}
	answer, told := errors.AsType[*AnswerError](err)
	switch {
	case err == nil:
		i.say("  It took a pushed sign-in: client, secret, redirect URI and scopes are as it wants them.")
	case told && said.MustPush:
		i.wrong("Nobody can sign in: the identity provider does not take what signing in asks for: %s. %s",
			answer.said(), answer.advice())
	case said.MustPush:
		i.wrong("Nobody can sign in: what signing in asks for cannot be pushed: %s.", clean(err.Error()))
	default:
		i.say("  It does not take a pushed sign-in (%s), and need not: what is asked for goes with the browser.",
			clean(err.Error()))
	}
}
