package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/portico-platform/portico/api/identity"
)

// Config configures the identity provider, and how its users are named in Kubernetes.
type Config struct {
	IssuerURL     string
	ClientID      string
	ClientSecret  string
	PublicURL     string // the portal's URL for browsers, scheme and host only
	UsernameClaim string // sub, or a claim by which RoleBindings name users
	GroupsClaim   string // usually groups; it can be a path, as realm_access.roles
	// GroupsOptional treats a missing groups claim as no groups; otherwise it counts as a mistake in the settings.
	GroupsOptional bool
	Scopes         []string // of a sign-in; empty: DefaultScopes, as far as the provider lists them
	AuthMethod     string   // client_secret_basic or client_secret_post; empty: as the provider says
	// ConfirmPrompt is the prompt of a fresh sign-in: login or select_account; empty: none.
	ConfirmPrompt string
	// PostLogoutRedirect makes the provider's sign-out page send browsers back to the portal; most providers refuse an
	// address that is not registered.
	PostLogoutRedirect bool
	Prefix             string   // of usernames and groups; the API server must use the same
	Audiences          []string // a bearer token must have one of them
	CLIClientID        string   // the public client of command-line tools; "" if there is none
	CLIScopes          []string // of such tools, so that their tokens have one of Audiences; empty: as Scopes
}

// Check returns an error for settings that are unsafe or cannot work.
func (c Config) Check() error {
	if err := checkPublicURL(c.PublicURL); err != nil {
		return err
	}
	switch {
	case c.IssuerURL == "" || c.ClientID == "":
		return errors.New("the OIDC issuer URL and the client ID are needed")
	case len(c.Audiences) == 0:
		return errors.New("at least one API audience is needed")
	case slices.Contains(c.Audiences, c.ClientID):
		return fmt.Errorf("API audience %q: it must not be the client ID, or a token of a sign-in would open the "+
			"REST API", c.ClientID)
	}
	return c.checkSignIn()
}

// checkSignIn checks the settings of requests to the provider and of how its claims are read.
func (c Config) checkSignIn() error {
	if err := c.claims().Check(); err != nil {
		return err
	}
	switch {
	case c.CLIClientID == c.ClientID:
		return fmt.Errorf("the client of command-line tools, %q, is the portal's own: register a public one for them",
			c.ClientID)
	case len(c.Scopes) > 0 && !slices.Contains(c.Scopes, oidc.ScopeOpenID):
		return fmt.Errorf("scopes %q: openid must be among them, or the identity provider does not say who signed in",
			strings.Join(c.Scopes, " "))
	case c.AuthMethod != "" && c.AuthMethod != secretBasic && c.AuthMethod != secretPost:
		return fmt.Errorf("client authentication %q: it is %s or %s, or empty for what the identity provider says",
			c.AuthMethod, secretBasic, secretPost)
	case c.ConfirmPrompt != "" && c.ConfirmPrompt != DefaultConfirmPrompt && c.ConfirmPrompt != "select_account":
		return fmt.Errorf("prompt %q of a fresh sign-in: it is login or select_account, or empty for none",
			c.ConfirmPrompt)
	case c.AuthMethod != "" && c.ClientSecret == "":
		return fmt.Errorf("client authentication %s needs the client's secret", c.AuthMethod)
	}
	return identity.CheckIssuer(c.IssuerURL)
}

// claims returns how the claims of a token are read.
func (c Config) claims() identity.Claims {
	return identity.Claims{
		Username: c.UsernameClaim, Groups: c.GroupsClaim, GroupsOptional: c.GroupsOptional,
		Prefix: c.Prefix,
	}
}

// CheckGroupName refuses group names that pages cannot show.
func CheckGroupName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("its name is empty")
	case clean(name) != name:
		return fmt.Errorf("its name %q must be of letters that can be read, at most %d, without blanks around or two "+
			"of them together", name, maxAnswer)
	}
	return nil
}

// checkPublicURL accepts only the form that browsers send as Origin, because the comparison is exact.
func checkPublicURL(public string) error {
	u, err := url.Parse(public)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return fmt.Errorf("public URL %q: give a scheme and a host, such as https://portal.example.com", public)
	case u.Path == "/" && u.RawQuery == "" && u.Fragment == "":
		return fmt.Errorf("public URL %q: leave out the slash at the end", public)
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("public URL %q: give the scheme and the host only, the portal lives at the root", public)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("public URL %q: browsers keep the session cookie over https only, but for localhost", public)
	case u.Port() == defaultPorts[u.Scheme], strings.HasSuffix(u.Host, ":"):
		return fmt.Errorf("public URL %q: leave out the port, browsers do so too when it is the default of %s", public,
			u.Scheme)
	case strings.ToLower(public) != public:
		return fmt.Errorf("public URL %q: write it in small letters, as browsers do", public)
	case u.Scheme+"://"+u.Host != public:
		return fmt.Errorf("public URL %q: write it as %s://%s", public, u.Scheme, u.Host)
	}
	return nil
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// redirectURL returns the address to which the provider sends browsers back after sign-in.
func (c Config) redirectURL() string { return c.origin() + CallbackPath }

// postLogoutURL returns the address to which the provider sends browsers back after sign-out.
func (c Config) postLogoutURL() string { return c.origin() + SignInPath }

// origin returns the Origin header that browsers send with the portal's forms.
func (c Config) origin() string { return c.PublicURL }
