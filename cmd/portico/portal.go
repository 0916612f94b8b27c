package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"net/http"
	"os"
	"strings"

	"github.com/portico-platform/portico/api/version"
	"github.com/portico-platform/portico/cmd/portico/session"
	"github.com/portico-platform/portico/portal/client"
)

func (a *app) store() session.Store { return session.Store{Dir: a.dir} }

// address returns the address of the portal: from the flag, the environment or the last login.
func (a *app) address() (string, error) {
	all, err := a.store().Read()
	if err != nil {
		return "", err
	}
	server := cmp.Or(a.server, a.env("PORTICO_SERVER"), all.Current)
	if server == "" {
		return "", &session.NoLoginError{
			Why:     "which portal? none is known yet",
			Instead: "run portico login https://<your portal>, or set PORTICO_SERVER",
		}
	}
	return normal(server), nil
}

// normal returns an address in its stored form: with a scheme and without trailing slashes.
func normal(server string) string {
	if !strings.Contains(server, "://") {
		server = "https://" + server
	}
	return strings.TrimRight(server, "/")
}

// api returns a client of the portal with the caller's token.
func (a *app) api() (*client.Client, error) {
	server, err := a.address()
	if err != nil {
		return nil, err
	}
	token, err := a.token(server)
	if err != nil {
		return nil, err
	}
	return a.clientOf(server, token)
}

// via returns the transport to the portal and its identity provider.
func (a *app) via() (http.RoundTripper, error) {
	if a.transport != nil {
		return a.transport, nil
	}
	path := cmp.Or(a.caFile, a.env("PORTICO_CA_FILE"))
	if path == "" {
		a.transport = client.Transport(nil)
		return a.transport, nil
	}
	pem, err := os.ReadFile(path) //nolint:gosec // the person named it
	if err != nil {
		return nil, usagef("--ca-file: %v", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // only those of the file
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, usagef("--ca-file: %s has no certificates in PEM form, which begin with -----BEGIN "+
			"CERTIFICATE-----", path)
	}
	a.transport = client.Transport(roots)
	return a.transport, nil
}

func (a *app) clientOf(server string, token func(context.Context) (string, error)) (*client.Client, error) {
	via, err := a.via()
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Options{
		Server: server, Token: token, PlainHTTP: a.plainHTTP, UserAgent: "portico/" + version.Get().Version,
		Clock: a.clock, Transport: via,
	})
	if err != nil {
		return nil, usagef("--server: %v", err)
	}
	return c, nil
}

// token returns the source of the token: the environment, as in CI jobs, or the stored login.
func (a *app) token(server string) (func(context.Context) (string, error), error) {
	if path := a.env("PORTICO_TOKEN_FILE"); path != "" {
		return func(context.Context) (string, error) {
			b, err := os.ReadFile(path) //nolint:gosec // the caller named it; read each time, for Kubernetes replaces the tokens of Pods
			if err != nil {
				return "", &session.NoLoginError{
					Why:     "PORTICO_TOKEN_FILE: " + err.Error(),
					Instead: "name a file that holds a token, or unset it",
				}
			}
			return plausible("the file of PORTICO_TOKEN_FILE", string(b))
		}, nil
	}
	if given := a.env("PORTICO_TOKEN"); given != "" {
		token, err := plausible("PORTICO_TOKEN", given)
		return client.StaticToken(token), err
	}
	via, err := a.via()
	if err != nil {
		return nil, err
	}
	return (&session.Tokens{Server: server, Store: a.store(), Clock: a.clock, Via: via, Env: a.env}).Token, nil
}

// plausible returns a token without its trailing line break. Text that is no token is an error, which never repeats it.
func plausible(from, text string) (string, error) {
	token := strings.TrimSpace(text)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", &session.NoLoginError{Why: from + " holds no token", Instead: "put one there, or unset it"}
	}
	return token, nil
}
