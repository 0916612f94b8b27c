package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/runs"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
)

// Reviewer verifies tokens of ServiceAccounts. It implements auth.TokenReviewer.
type Reviewer struct {
	client  kubernetes.Interface
	own     *impersonate.Tokens // a token of our own names the issuer
	issuers sync.Map            // of ServiceAccounts' tokens
	signers *identity.Keys
	now     func() time.Time
	runs    *expiring.Cache[string, string] // of deployers' tokens, in words, by the ID of the token
}

// NewReviewer returns a Reviewer that fetches the API server's keys with the credentials in cfg, as client does.
func NewReviewer(cfg *rest.Config, client kubernetes.Interface, own *impersonate.Tokens, c clock.PassiveClock) (
	*Reviewer, error,
) {
	signers, err := newSigners(cfg, client, c)
	return &Reviewer{
		client: client, own: own, signers: signers, now: c.Now,
		runs: expiring.New[string, string](runsKept, c.Now),
	}, err
}

// IssuesTokens implements auth.TokenReviewer. The API server's issuer is the one in the tokens that it issues to the
// portal, now or earlier in this process.
func (t *Reviewer) IssuesTokens(ctx context.Context, issuer string) (bool, error) {
	token, err := t.own.Current(ctx)
	if err != nil {
		return false, &failure.UnavailableError{Doing: "learning who issues tokens of ServiceAccounts", Cause: err}
	}
	if now := auth.IssuerOf(token); now != "" {
		t.issuers.Store(now, true)
	}
	_, ours := t.issuers.Load(issuer)
	return ours, nil
}

// signersEvery is the minimum interval between fetches of the API server's keys, whatever tokens strangers send: a
// token with an unknown key waits for the next fetch.
const signersEvery = time.Second

// newSigners returns the API server's published keys for ServiceAccount tokens.
func newSigners(own *rest.Config, clients kubernetes.Interface, c clock.PassiveClock) (*identity.Keys, error) {
	transport, err := rest.TransportFor(own)
	if err != nil {
		return nil, fmt.Errorf("making the transport for keys: %w", err)
	}
	return identity.NewKeysFrom(identity.KeySource{
		Address:   clients.Discovery().RESTClient().Get().AbsPath("/openid/v1/jwks").URL().String(),
		Transport: transport, Every: signersEvery, Waits: true,
	}, c.Now), nil
}

// VerifyToken implements auth.TokenReviewer.
func (t *Reviewer) VerifyToken(ctx context.Context, issuer, token string, audiences []string) (
	namespace string, err error,
) {
	tok, err := identity.Verify(ctx, issuer, t.signers, token, audiences, t.now)
	if _, away := errors.AsType[*identity.ProviderError](err); away {
		return "", &failure.UnavailableError{Doing: "fetching the keys of tokens of ServiceAccounts", Cause: err}
	}
	if err != nil {
		return "", err
	}
	namespace, _, ok := auth.ServiceAccountName(tok.Subject)
	if !ok {
		return "", auth.ErrBadToken
	}
	if team, _, deployer := deploy.Parse(tok.Subject); deployer { // all teams' are in one namespace
		return namespace + "/" + team, nil
	}
	return namespace, nil
}

// ReviewToken asks the API server for the ServiceAccount of a token. The token must be for one of the audiences.
// auth.ErrBadToken means that the API server does not accept it; other errors, that it could not be reached.
func (t *Reviewer) ReviewToken(ctx context.Context, token string, audiences []string) (auth.Identity, error) {
	answer, err := t.client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	if err != nil {
		return auth.Identity{}, &failure.UnavailableError{Doing: "asking for a token review", Cause: err}
	}
	st := answer.Status
	// An authenticator that ignores audiences returns none: then the token is for the API server, not for us.
	forUs := slices.ContainsFunc(st.Audiences, func(a string) bool { return slices.Contains(audiences, a) })
	if !st.Authenticated || !forUs {
		return auth.Identity{}, auth.ErrBadToken
	}
	_, name, ok := auth.ServiceAccountName(st.User.Username)
	if !ok {
		return auth.Identity{}, auth.ErrBadToken
	}
	id := auth.Identity{Username: st.User.Username, Name: name, ServiceAccount: true}
	if _, _, deployer := deploy.Parse(id.Username); deployer {
		id.Name = t.deployer(ctx, id.Username, st.User.Extra[deploy.ExtraCredential])
	}
	return id, nil
}

// deployer returns the name of a deployer for people: with the run that has the token, if that can be found out.
func (t *Reviewer) deployer(ctx context.Context, username string, credential []string) string {
	name := deploy.Name(username)
	if len(credential) != 1 {
		return name
	}
	if run, known := t.runs.Get(credential[0]); known {
		return name + run
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	text, keep := "", runMissingFor
	run, known, err := runs.Find(ctx, t.client.CoordinationV1().Leases(deploy.Namespace), credential[0])
	if err == nil && known {
		text, keep = ": "+run.String(), deploy.Lifetime
	}
	t.runs.Put(credential[0], text, keep)
	return name + text
}

// Looking up runs: runTimeout bounds one request, a token without a known run is looked up again after runMissingFor,
// and runsKept bounds those that are remembered.
const (
	runTimeout    = 2 * time.Second
	runMissingFor = 15 * time.Second
	runsKept      = 10_000
)
