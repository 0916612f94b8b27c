package deploy

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/ciissuer"
)

const portal = "https://portal.example.com"

func policyOf(issuers ...*ciissuer.Issuer) *v1alpha1.DeployPolicy {
	p := &v1alpha1.DeployPolicy{}
	for n, i := range issuers {
		p.Spec.Issuers = append(p.Spec.Issuers, v1alpha1.DeployIssuer{
			Name: fmt.Sprint("ci-", n), Type: v1alpha1.IssuerGitHub, URL: i.URL, CABundle: i.CA,
		})
	}
	return p
}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// TestKeysAreFetchedAtABoundedPace checks that unknown keys cause few fetches, that a new key counts after the pause,
// and that a known one counts while the issuer is away.
func TestKeysAreFetchedAtABoundedPace(t *testing.T) {
	i, other := ciissuer.Start(t), ciissuer.Start(t)
	c := &clock{now: time.Now()}
	issuers := &Issuers{Audience: portal, Now: c.Now}
	policy := policyOf(i)
	verify := func(token string) error {
		_, err := issuers.verify(t.Context(), policy, token)
		return err
	}
	if err := verify(i.Sign(i.GitHub(portal))); err != nil {
		t.Fatal(err)
	}
	for range 100 { // the issuer may have this key by now: it is asked again after the pause
		if err := verify(other.Sign(i.GitHub(portal))); !errors.Is(err, errNotYet) {
			t.Fatalf("a token with an unknown key: %v", err)
		}
	}
	if n := i.Fetches.Load(); n != 1 {
		t.Errorf("%d fetches, want 1", n)
	}
	i.Rotate()
	if err := verify(i.Sign(i.GitHub(portal))); !errors.Is(err, errNotYet) {
		t.Errorf("a new key before the pause is over: %v", err)
	}
	c.move(keysEvery)
	if err := verify(other.Sign(i.GitHub(portal))); err == nil || !strings.Contains(err.Error(), "kid") {
		t.Errorf("an unknown key, of which the issuer was asked: %v", err)
	}
	if err := verify(i.Sign(i.GitHub(portal))); err != nil {
		t.Errorf("a new key after the pause: %v", err)
	}
	i.Away.Store(true)
	c.move(keysEvery)
	if err := verify(i.Sign(i.GitHub(portal))); err != nil {
		t.Errorf("a known key, while the issuer is away: %v", err)
	}
	err := verify(other.Sign(i.GitHub(portal)))
	if _, away := errors.AsType[*identity.ProviderError](err); !away {
		t.Errorf("an unknown key, while the issuer is away: %v", err)
	}
}

// TestASlowIssuerHoldsUpNobodyElse verifies tokens of an issuer that does not answer: a few wait, the others fail at
// once, and tokens of another issuer are verified meanwhile.
func TestASlowIssuerHoldsUpNobodyElse(t *testing.T) {
	slow, quick := ciissuer.Start(t), ciissuer.Start(t)
	slow.Delay.Store(int64(time.Minute)) // until the fetch gives up
	issuers := &Issuers{Audience: portal, Now: time.Now}
	policy := policyOf(slow, quick)
	var busy, waited atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		token := slow.Sign(slow.GitHub(portal))
		all.Go(func() {
			_, err := issuers.verify(t.Context(), policy, token)
			if errors.Is(err, errBusy) {
				busy.Add(1)
			} else {
				waited.Add(1)
			}
		})
	}
	if _, err := issuers.verify(t.Context(), policy, quick.Sign(quick.GitHub(portal))); err != nil {
		t.Errorf("a token of another issuer: %v", err)
	}
	if n := waited.Load(); n != 0 {
		t.Errorf("%d tokens of the slow issuer came first", n)
	}
	slow.Delay.Store(0)
	all.Wait()
	if got := waited.Load(); got > mostWaiting {
		t.Errorf("%d waited and %d did not, want %d at most", got, busy.Load(), mostWaiting)
	}
}

// TestClaimsFitARow reads the claims of an issuer that the policy describes, with IDs that are numbers.
func TestClaimsFitARow(t *testing.T) {
	issuer := &v1alpha1.DeployIssuer{Type: v1alpha1.IssuerOIDC, Claims: &v1alpha1.DeployClaims{
		Repository: "repo.name", RepositoryID: "repo.id", Owner: "owner", OwnerID: "owner_id", Branch: "branch",
		Tag: "tag", Environment: "env", Event: "why", Events: []string{"push"}, Commit: "commit",
	}}
	row := v1alpha1.TeamDeployer{
		Repository: "acme/shop", RepositoryID: "74", Owner: "acme", OwnerID: "65", Tag: "v1",
	}
	claims := func(change map[string]string) identity.ClaimSet {
		c := identity.ClaimSet{
			"repo":  []byte(`{"name":"acme/shop","id":74}`),
			"owner": []byte(`"acme"`), "owner_id": []byte(`65`), "tag": []byte(`"v1"`), "why": []byte(`"push"`),
			"commit": []byte(`"1f3a"`),
		}
		for name, value := range change {
			c[name] = []byte(value)
		}
		return c
	}
	for name, c := range map[string]struct {
		change map[string]string
		row    func(*v1alpha1.TeamDeployer)
		bad    string
	}{
		"all fit":                   {},
		"another ID":                {change: map[string]string{"repo": `{"name":"acme/shop","id":75}`}, bad: "repo.id"},
		"an ID in another form":     {change: map[string]string{"owner_id": `65.0`}, bad: "owner_id"},
		"a list":                    {change: map[string]string{"owner": `["acme"]`}, bad: "owner"},
		"nothing where a tag is":    {change: map[string]string{"tag": `""`}, bad: "tag"},
		"an event that is named":    {change: map[string]string{"why": `"pull_request"`}, row: func(d *v1alpha1.TeamDeployer) { d.Events = []string{"pull_request"} }},
		"one that is not":           {row: func(d *v1alpha1.TeamDeployer) { d.Events = []string{"pull_request"} }, bad: "why"},
		"an environment":            {row: func(d *v1alpha1.TeamDeployer) { d.Tag, d.Environment = "", "prod" }, bad: "env"},
		"a row without a condition": {row: func(d *v1alpha1.TeamDeployer) { d.Tag = "" }, bad: "env"},
	} {
		d := row
		if c.row != nil {
			c.row(&d)
		}
		facts := factsOf(issuer, claims(c.change))
		bad, _, wrong := facts.misfitOf(&d)
		if got := bad.Claim; got != c.bad || wrong != (c.bad != "") {
			t.Errorf("%s: %q does not fit, want %q", name, got, c.bad)
		}
	}
}
