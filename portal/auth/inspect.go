package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/portico-platform/portico/api/identity"
)

// Inspection is the input of Inspect: the settings, and a token to try with them.
type Inspection struct {
	Config     Config
	Token      string            // "" for none
	GroupNames map[string]string // by the groups' names in Kubernetes
	Now        func() time.Time
}

// inspector writes the results and counts the problems.
type inspector struct {
	Inspection
	provider *Provider
	out      *tabwriter.Writer
	problems []string
}

// Inspect requests the identity provider's settings and keys, and writes for people what a sign-in would request and
// how the token would be read. It returns the number of problems. It never writes the client's secret, or the token or
// its signature.
func Inspect(ctx context.Context, out io.Writer, what Inspection) (problems int, err error) {
	i := &inspector{
		Inspection: what, provider: newProvider(what.Config, what.Now),
		out: tabwriter.NewWriter(out, 0, 4, 2, ' ', 0),
	}
	i.settings()
	found := i.discovery(ctx)
	if found != nil {
		i.keys(ctx, found)
		i.signIn(ctx, found)
		i.tools(found)
	}
	if what.Token != "" {
		i.token(ctx, found)
	}
	if len(i.problems) == 0 {
		i.title("Nothing is wrong as far as can be seen from here")
	} else {
		i.title("Problems")
	}
	for n, p := range i.problems {
		i.say("%d. %s", n+1, p)
	}
	return len(i.problems), i.out.Flush()
}

func (i *inspector) title(s string) { i.say("\n%s", s) }

func (i *inspector) say(format string, args ...any) { _, _ = fmt.Fprintf(i.out, format+"\n", args...) } // see Flush

// line prints a setting and its value.
func (i *inspector) line(name, value string) {
	i.say("  %s\t%s", name, cmp.Or(clean(value), "none"))
}

func (i *inspector) wrong(format string, args ...any) {
	i.problems = append(i.problems, fmt.Sprintf(format, args...))
}

// settings reports mistakes that can be found without the provider.
func (i *inspector) settings() {
	if err := i.Config.checkSignIn(); err != nil {
		i.wrong("The settings: %s.", err)
	}
	if i.Config.PublicURL != "" {
		if err := checkPublicURL(i.Config.PublicURL); err != nil {
			i.wrong("The settings: %s.", err)
		}
	}
}

func (i *inspector) discovery(ctx context.Context) *discovered {
	i.say("Identity provider")
	i.line("issuer", i.Config.IssuerURL)
	found, err := i.provider.discover(ctx)
	if answer, ok := errors.AsType[*AnswerError](err); ok {
		i.wrong("The identity provider answered %s at %s%s. --oidc-issuer-url must be its issuer letter by letter, a "+
			"slash at the end included.",
			answer.said(), strings.TrimSuffix(i.Config.IssuerURL, "/"), settingsPath)
		return nil
	}
	if err != nil {
		i.wrong("The identity provider does not answer: %s. Look at --oidc-issuer-url, at the network between (DNS, "+
			"egress policies, a proxy in HTTPS_PROXY), and whether its certificate is of a CA that is known here.",
			clean(err.Error()))
		return nil
	}
	said, endpoint := found.settings, found.Endpoint()
	i.line("authorization endpoint", endpoint.AuthURL)
	i.line("token endpoint", endpoint.TokenURL)
	i.line("device authorization endpoint", endpoint.DeviceAuthURL)
	i.line("end session endpoint", said.EndSession)
	i.line("revocation endpoint", said.Revocation)
	i.line("userinfo endpoint", said.UserInfo)
	i.line("pushed authorization requests", said.Pushed+map[bool]string{true: " (required)"}[said.MustPush])
	i.line("keys", said.Keys)
	i.line("signs with", strings.Join(said.Algorithms, ", "))
	i.line("scopes it lists", strings.Join(said.Scopes, " "))
	i.line("client authentication it lists", strings.Join(said.AuthMethods, ", "))
	if len(said.Algorithms) > 0 && !slices.ContainsFunc(said.Algorithms, func(a string) bool {
		return slices.Contains(identity.Algorithms, a)
	}) {
		i.wrong("The identity provider signs with none of %s: choose one of them there.",
			strings.Join(identity.Algorithms, ", "))
	}
	return found
}

func (i *inspector) keys(ctx context.Context, found *discovered) {
	if err := identity.CheckKeys(ctx, found.settings.Keys); err != nil {
		i.wrong("Its keys cannot be fetched, so that no token can be verified: %s.", clean(err.Error()))
	}
}

func (i *inspector) signIn(ctx context.Context, found *discovered) {
	i.title("Signing in")
	i.line("client", i.Config.ClientID)
	if i.Config.PublicURL != "" {
		i.line("redirect URI to register", i.Config.redirectURL())
		if found.settings.BackChannel {
			i.line("back-channel logout URI to register", i.Config.origin()+BackChannelPath)
		}
		if i.Config.PostLogoutRedirect {
			i.line("post-logout redirect URI to register", i.Config.postLogoutURL())
		}
	}
	asked := found.scopes(i.Config.Scopes)
	i.line("asks for scopes", strings.Join(asked, " "))
	if method, err := found.authMethod(i.Config); err == nil {
		i.line("client authentication", method)
	}
	i.line("username claim", i.Config.UsernameClaim)
	i.line("groups claim", i.Config.GroupsClaim+map[bool]string{true: " (may be missing)"}[i.Config.GroupsOptional])
	if !slices.Contains(asked, "offline_access") {
		i.say("  Without offline_access there may be no refresh token: groups are asked for again when the ID " +
			"token ends.")
	}
	client, err := i.provider.oauth(found)
	if err != nil {
		i.wrong("Nobody can sign in: %s.", clean(err.Error()))
		return
	}
	i.push(ctx, found, client)
}

func (i *inspector) tools(found *discovered) {
	if i.Config.CLIClientID == "" {
		return
	}
	i.title("portico login")
	i.line("client", i.Config.CLIClientID)
	i.line("asks for scopes", strings.Join(found.scopes(i.Config.CLIScopes), " "))
	if found.Endpoint().DeviceAuthURL == "" {
		i.say("  The identity provider has no device flow: portico login needs a browser on the same machine.")
	}
}
