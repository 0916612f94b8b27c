package auth

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Config says who signs users in, and under which names Kubernetes knows them.
type Config struct {
	IssuerURL     string
	ClientID      string
	ClientSecret  string
	PublicURL     string   // where browsers reach the portal, scheme and host only
	UsernameClaim string   // usually preferred_username
	GroupsClaim   string   // usually groups
	Prefix        string   // in front of usernames and groups; the API server's own must be the same
	Audiences     []string // of which one must be in a bearer token
}

// Check refuses settings with which signing in would be unsafe or could not work.
func (c Config) Check() error {
	public, err := url.Parse(c.PublicURL)
	switch {
	case err != nil || public.Host == "" || (public.Scheme != "http" && public.Scheme != "https"):
		return fmt.Errorf("public URL %q: give a scheme and a host, such as https://portal.example.com", c.PublicURL)
	case strings.TrimSuffix(public.Path, "/") != "" || public.RawQuery != "" || public.User != nil:
		return fmt.Errorf("public URL %q: give the scheme and the host only, the portal lives at the root", c.PublicURL)
	case public.Scheme == "http" && !loopback(public.Hostname()):
		return fmt.Errorf("public URL %q: browsers keep the session cookie over https only, but for localhost", c.PublicURL)
	case c.IssuerURL == "" || c.ClientID == "":
		return errors.New("the OIDC issuer URL and the client ID are needed")
	case c.UsernameClaim == "" || c.GroupsClaim == "":
		return errors.New("the username claim and the groups claim must not be empty")
	case c.Prefix == "" || isSystem(c.Prefix):
		return fmt.Errorf("prefix %q: it must be neither empty nor begin with system:, or the identity provider could name Kubernetes' own users", c.Prefix)
	case len(c.Audiences) == 0:
		return errors.New("at least one API audience is needed")
	}
	return nil
}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// origin is what browsers send as Origin.
func (c Config) origin() string {
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
