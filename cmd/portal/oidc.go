package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/auth"
)

// oidc are the sign-in settings that are not in auth.Config.
type oidc struct {
	secretFile string
	namesFile  string
	groupNames map[string]string // display names of groups, by their names in Kubernetes
	check      bool              // only check, print, and exit
	tokenFile  string            // token whose claims to print; - is the standard input
}

// providerFlags defines the flags about the identity provider.
func (f *flags) providerFlags(set *flag.FlagSet) {
	set.StringVar(&f.auth.IssuerURL, "oidc-issuer-url", "", "`URL` of the OpenID Connect provider")
	set.StringVar(&f.auth.ClientID, "oidc-client-id", "", "the portal's client `ID` at the provider")
	set.StringVar(&f.oidc.secretFile, "oidc-client-secret-file", "", "`path` of a file with the client's secret; "+
		"empty for a public client")
	set.StringVar(&f.auth.AuthMethod, "oidc-client-auth-method", "", "`way` to show the secret: client_secret_basic "+
		"or client_secret_post; default: the first of them that the provider says it takes")
	set.StringVar(&f.auth.ConfirmPrompt, "oidc-confirm-prompt", auth.DefaultConfirmPrompt,
		"`prompt` with which users are asked to sign in again, for what they do with Secrets: login, or for "+
			"providers that refuse that, as Google does, select_account, or empty for none")
	set.Func("oidc-scopes", "`scopes`, with spaces between, that signing in asks for; default: those of \""+
		auth.DefaultScopes+"\" that the provider says it has. "+
		"Without offline_access a session is renewed when its ID token ends", scopes(&f.auth.Scopes))
	set.StringVar(&f.auth.UsernameClaim, "oidc-username-claim", "sub", "`claim` that holds the username, as the API "+
		"server's own setting says. sub is never given to anybody else; preferred_username and email may be changed, "+
		"or given again, and rights with them")
	set.StringVar(&f.auth.GroupsClaim, "oidc-groups-claim", "groups", "`claim` that holds the groups, as a list or a "+
		"single name; or the path to it, as realm_access.roles")
	set.BoolVar(&f.auth.GroupsOptional, "oidc-groups-optional", false, "let in who has no groups claim, as one who "+
		"is in no group: for providers that have none, or leave it out where it would be empty. Else that is refused")
	set.StringVar(&f.oidc.namesFile, "oidc-group-names-file", "", "`path` of a YAML file that says what groups are "+
		"called, by their IDs at the provider, for pages to show beside the ID; rights go by the ID")
	set.StringVar(&f.auth.Prefix, "oidc-prefix", "oidc:", "`prefix` of usernames and groups in Kubernetes")
	set.BoolVar(&f.auth.PostLogoutRedirect, "oidc-post-logout-redirect", false,
		"have the provider's sign-out page lead back to the portal. Register <public URL>"+auth.SignInPath+
			" there first, as post-logout redirect URI or sign-out URL; most providers refuse one that they do "+
			"not know")
	set.BoolVar(&f.oidc.check, "check-oidc", false, "print what the provider says of itself, what signing in would "+
		"ask it for and what is wrong with that, and end")
	set.StringVar(&f.oidc.tokenFile, "check-oidc-token", "", "`path` of a file with a token, - for the standard "+
		"input, of which --check-oidc prints the claims, and which username and groups they give")
}

func scopes(into *[]string) func(string) error {
	return func(s string) error {
		*into = strings.Fields(s)
		return nil
	}
}

// checkOIDC reads the files, and validates the flags of --check-oidc.
func (f *flags) checkOIDC() error {
	switch {
	case f.auth.IssuerURL == "" || f.auth.ClientID == "":
		return errors.New("--oidc-issuer-url and --oidc-client-id are needed")
	case f.oidc.tokenFile != "" && !f.oidc.check:
		return errors.New("--check-oidc-token belongs to --check-oidc: give both")
	}
	if f.oidc.secretFile != "" {
		b, err := os.ReadFile(f.oidc.secretFile)
		if err != nil {
			return fmt.Errorf("--oidc-client-secret-file: %w", err)
		}
		f.auth.ClientSecret = strings.TrimSpace(string(b))
	}
	if f.oidc.namesFile != "" {
		names, err := readGroupNames(f.oidc.namesFile, f.auth.Prefix)
		if err != nil {
			return fmt.Errorf("--oidc-group-names-file: %w", err)
		}
		f.oidc.groupNames = names
	}
	return nil
}

// readGroupNames refuses display names that could be confused with another group.
func readGroupNames(path, prefix string) (map[string]string, error) {
	b, err := os.ReadFile(path) //nolint:gosec // the path is a flag
	if err != nil {
		return nil, err
	}
	var byID map[string]string
	if err := yaml.UnmarshalStrict(b, &byID); err != nil {
		return nil, fmt.Errorf("%s: want lines such as 6f1c0c2e-0f51-4c8e-9a34-0f3c2d1b7a55: Payments: %w", path, err)
	}
	names, whose := map[string]string{}, map[string]string{}
	for id, name := range byID {
		folded := strings.ToLower(name)
		if err := auth.CheckGroupName(name); err != nil {
			return nil, fmt.Errorf("%s: group %q: %w", path, id, err)
		}
		if other, twice := whose[folded]; twice {
			return nil, fmt.Errorf("%s: groups %q and %q are both called %q: nobody could tell them apart", path,
				min(id, other), max(id, other), name)
		}
		if _, taken := byID[name]; taken && name != id {
			return nil, fmt.Errorf("%s: group %q is called %q, which is the ID of another group", path, id, name)
		}
		names[prefix+id], whose[folded] = name, id
	}
	return names, nil
}

// maxTokenFile exceeds the size of any token.
const maxTokenFile = 1 << 20

// lookAtProvider runs portal --check-oidc. It fails if there is a problem.
func (f *flags) lookAtProvider(ctx context.Context, in io.Reader, out io.Writer) error {
	token, err := f.token(in)
	if err != nil {
		return fmt.Errorf("--check-oidc-token: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	n, err := auth.Inspect(ctx, out, auth.Inspection{
		Config: f.auth, Token: token, GroupNames: f.oidc.groupNames,
		Now: clock.RealClock{}.Now,
	})
	switch {
	case err != nil:
		return err
	case n == 1:
		return errors.New("1 problem was found")
	case n > 1:
		return fmt.Errorf("%d problems were found", n)
	}
	return nil
}

// token returns the token whose claims are printed. There is no flag for the token itself, because every user of the
// machine could read it.
func (f *flags) token(in io.Reader) (string, error) {
	switch f.oidc.tokenFile {
	case "":
		return "", nil
	case "-":
	default:
		file, err := os.Open(f.oidc.tokenFile)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	b, err := io.ReadAll(io.LimitReader(in, maxTokenFile))
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", errors.New("there is no token")
	}
	return token, nil
}
