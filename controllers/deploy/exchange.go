// Package deploy exchanges the token that a CI system gives a job for a token of the job's deployer: a ServiceAccount
// that the controller of Teams keeps for one row of spec.deployers. The operator verifies the CI's token itself; the
// portal only carries it.
package deploy

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// IndexRepository is the index of Teams by the repositories of their deployers: RepositoryKeys.
const IndexRepository = "spec.deployers.repository"

// RepositoryKeys returns the values of the index for a deployer: its repository by ID and by name.
func RepositoryKeys(issuer, id, name string) []string {
	return []string{issuer + " id " + id, issuer + " name " + name}
}

// Exchange serves the exchange of tokens.
type Exchange struct {
	Issuers *Issuers
	Cached  client.Reader
	Tokens  *Tokens
	Records *Records
	Log     logr.Logger
	Now     func() time.Time

	paces *expiring.Cache[string, *rate.Limiter] // by repository
	used  *expiring.Cache[string, bool]          // tokens that were exchanged, beside the records
	notes *notes
}

// Limits for one repository: a job exchanges one token, and again every 15 minutes.
const (
	exchangesASecond = 1
	exchangesAtOnce  = 20
	paceFor          = time.Minute
	pacesKept        = 4096
	usedKept         = 10_000
)

// New returns an Exchange with these parts, all of which are needed.
func New(e Exchange, accounts client.Client) *Exchange {
	e.paces = expiring.New[string, *rate.Limiter](pacesKept, e.Now)
	e.used = expiring.New[string, bool](usedKept, e.Now)
	e.notes = newNotes(accounts, e.Now)
	return &e
}

func (e *Exchange) exchange(r *http.Request, a *attempt) (*operatorapi.Exchanged, error) {
	ctx := r.Context()
	raw := r.Header.Values(operatorapi.HeaderPerson)
	r.Header.Del(operatorapi.HeaderPerson)
	if len(raw) != 1 || raw[0] == "" {
		return nil, refuse("the token of the CI job is missing")
	}
	policy := &v1alpha1.DeployPolicy{}
	switch err := e.Cached.Get(ctx, types.NamespacedName{Name: v1alpha1.DeployPolicyName}, policy); {
	case apierrors.IsNotFound(err):
		return nil, refuse("no tokens of CI systems are exchanged here: there is no DeployPolicy, which a platform " +
			"admin makes")
	case err != nil:
		return nil, fmt.Errorf("read the DeployPolicy: %w", err)
	}
	verified, refused := e.Issuers.verify(ctx, policy, raw[0])
	if verified == nil {
		return nil, refused
	}
	facts := factsOf(verified.issuer, verified.claims)
	a.issuer, a.run = verified.issuer.Name, facts.run
	rows, err := e.rows(ctx, verified.issuer.Name, &facts)
	if err != nil {
		return nil, err
	}
	row, err := e.choose(ctx, rows, &facts, operatorapi.DeployerOf(r.URL.Query()), refused)
	if err != nil {
		return nil, err
	}
	a.row = row
	if _, used := e.used.Get(verified.key()); used {
		return nil, e.replayed(ctx, row, verified)
	}
	if err := e.pace(verified.issuer.Name + " " + facts.RepositoryID.Value); err != nil {
		return nil, err
	}
	return e.mint(ctx, row, verified, facts.run)
}

// pace rejects a repository whose jobs exchange too many tokens: all share the operator's rate at Kubernetes.
func (e *Exchange) pace(repository string) error {
	own, ok := e.paces.Get(repository)
	if !ok {
		own = rate.NewLimiter(exchangesASecond, exchangesAtOnce)
	}
	e.paces.Put(repository, own, paceFor)
	if !own.AllowN(e.Now(), 1) {
		return failed(http.StatusTooManyRequests, "the jobs of this repository exchange more than a token a second: "+
			"exchange one at the beginning of a job; it is valid for %d minutes", int(deploy.Lifetime.Minutes()))
	}
	return nil
}

// rows returns the deployers for the token's repository, by ID or by name.
func (e *Exchange) rows(ctx context.Context, issuer string, facts *Facts) ([]Row, error) {
	var rows []Row
	seen := map[types.NamespacedName]bool{}
	for _, key := range RepositoryKeys(issuer, facts.RepositoryID.Value, facts.Repository.Value) {
		var teams v1alpha1.TeamList
		if err := e.Cached.List(ctx, &teams, client.MatchingFields{IndexRepository: key}); err != nil {
			return nil, fmt.Errorf("list the deployers of a repository: %w", err)
		}
		for i := range teams.Items {
			for _, d := range teams.Items[i].Spec.Deployers {
				row := Row{Team: teams.Items[i].Name, Deployer: d}
				if d.Issuer == issuer && facts.near(&d) && !seen[row.key()] {
					seen[row.key()] = true
					rows = append(rows, row)
				}
			}
		}
	}
	return rows, nil
}

// mostNoted bounds on how many deployers one refusal is noted.
const mostNoted = 5

// choose returns the one deployer that the token fits, or why there is none. refused is why the token itself is not
// accepted, nil if it is.
func (e *Exchange) choose(ctx context.Context, rows []Row, facts *Facts, wanted string, refused error) (Row, error) {
	if wanted != "" {
		rows = slices.DeleteFunc(rows, func(r Row) bool { return r.String() != wanted })
		if len(rows) == 0 {
			return Row{}, refuse("scope %q is no deployer for the repository of this token", short(wanted))
		}
	}
	out := facts.match(rows)
	if refused != nil {
		for _, row := range rows[:min(len(rows), mostNoted)] {
			e.notes.refused(ctx, row.key(), refused.Error())
		}
		return Row{}, refused
	}
	if len(out.fit) == 0 {
		for _, row := range rows[:min(len(rows), mostNoted)] {
			e.notes.refused(ctx, row.key(), out.near[row.key()].String())
		}
	}
	switch len(out.fit) {
	case 1:
		return out.fit[0], nil
	case 0:
		return Row{}, refuse("no deployer fits: %s. A deployer of a Team names repository, owner, branch or "+
			"environment, and the events that may start the run", out.bad)
	}
	var names []string
	for _, row := range out.fit {
		names = append(names, row.String())
	}
	slices.Sort(names)
	return Row{}, refuse(
		"the token fits several deployers, %s: name one, as scope=%s or portico login --ci --deployer %s",
		strings.Join(names, " and "),
		names[0],
		names[0],
	)
}

// mint issues a token of the deployer's account, and records the exchange: each token of a CI system counts once.
func (e *Exchange) mint(ctx context.Context, row Row, of *token, run deploy.Run) (*operatorapi.Exchanged, error) {
	account := &corev1.ServiceAccount{}
	key := types.NamespacedName{Namespace: deploy.Namespace, Name: deploy.Account(row.Team, row.Deployer.Name)}
	err := e.Cached.Get(ctx, key, account)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read the account of a deployer: %w", err)
	}
	if err != nil || account.Annotations[deploy.AnnotationConditions] != Conditions(&row.Deployer, of.issuer) {
		return nil, failed(http.StatusServiceUnavailable, "deployer %s is not set up yet, or not any more: the "+
			"condition Deployers of the Team %s says why; try again in a moment", row, row.Team)
	}
	minted, err := e.Tokens.mint(ctx, key.Name, account.UID)
	if err != nil {
		return nil, err
	}
	switch err := e.Records.Add(ctx, of, minted, run); {
	case apierrors.IsAlreadyExists(err):
		return nil, e.replayed(ctx, row, of)
	case err != nil:
		return nil, fmt.Errorf("record an exchange: %w", err)
	}
	e.used.Put(of.key(), true, of.expires.Add(clockSlack).Sub(e.Now()))
	e.notes.used(ctx, row.key(), run.String())
	return &operatorapi.Exchanged{
		Token: minted.text, Expires: minted.expires, Deployer: row.String(), Run: run.String(),
	}, nil
}

// replayed refuses a token that was exchanged before, and notes it: it may be stolen.
func (e *Exchange) replayed(ctx context.Context, row Row, of *token) error {
	e.used.Put(of.key(), true, of.expires.Add(clockSlack).Sub(e.Now()))
	err := refuse("jti %q: the token was exchanged before, and each counts once; a job asks its CI system for a new "+
		"one", short(of.id))
	e.notes.refused(ctx, row.key(), err.Error())
	return err
}
