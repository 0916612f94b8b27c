package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Config says who signs users in, and under which names Kubernetes knows them.
type Config struct {
	IssuerURL     string
	ClientID      string
	ClientSecret  string
	PublicURL     string   // where browsers reach the portal, scheme and host only
	UsernameClaim string   // sub, or one that RoleBindings name people by
	GroupsClaim   string   // usually groups
	Prefix        string   // in front of usernames and groups; the API server's own must be the same
	Audiences     []string // of which one must be in a bearer token
	CLIClientID   string   // the public client of command-line tools; "" if there is none
	CLIScopes     []string // what such tools ask for, so that their tokens have one of Audiences
}

// Check refuses settings with which signing in would be unsafe or could not work.
func (c Config) Check() error {
	if err := checkPublicURL(c.PublicURL); err != nil {
		return err
	}
	switch {
	case c.IssuerURL == "" || c.ClientID == "":
		return errors.New("the OIDC issuer URL and the client ID are needed")
	case c.UsernameClaim == "" || c.GroupsClaim == "":
		return errors.New("the username claim and the groups claim must not be empty")
	case c.Prefix == "" || isSystem(c.Prefix):
		return fmt.Errorf("prefix %q: it must be neither empty nor begin with system:, or the identity provider could name Kubernetes' own users", c.Prefix)
	case strings.TrimLeftFunc(c.Prefix, unicode.IsSpace) != c.Prefix || strings.ContainsFunc(c.Prefix, unprintable):
		return fmt.Errorf("prefix %q: it must not begin with a blank, which HTTP drops, nor have characters that cannot be printed", c.Prefix)
	case len(c.Audiences) == 0:
		return errors.New("at least one API audience is needed")
	case slices.Contains(c.Audiences, c.ClientID):
		return fmt.Errorf("API audience %q: it must not be the client ID, or a token of a sign-in would open the REST API", c.ClientID)
	case c.CLIClientID == c.ClientID:
		return fmt.Errorf("the client of command-line tools, %q, is the portal's own: register a public one for them", c.ClientID)
	}
	return checkIssuer(c.IssuerURL)
}

func checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return fmt.Errorf("OIDC issuer URL %q: give a URL such as https://login.example.com", issuer)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("OIDC issuer URL %q: it must be https, or whoever is on the way could sign in as anybody", issuer)
	}
	return nil
}

// checkPublicURL wants the one form that browsers send as Origin, for it is compared with that letter by letter.
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
		return fmt.Errorf("public URL %q: leave out the port, browsers do so too when it is the default of %s", public, u.Scheme)
	case strings.ToLower(public) != public:
		return fmt.Errorf("public URL %q: write it in small letters, as browsers do", public)
	case u.Scheme+"://"+u.Host != public:
		return fmt.Errorf("public URL %q: write it as %s://%s", public, u.Scheme, u.Host)
	}
	return nil
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// origin is what browsers send as Origin.
func (c Config) origin() string { return c.PublicURL }
