package deploy

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Row is one deployer of a team.
type Row struct {
	Team     string
	Deployer v1alpha1.TeamDeployer
}

func (r Row) String() string { return r.Team + "/" + r.Deployer.Name }

// key returns the name of the row: that of its team as namespace.
func (r Row) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Team, Name: r.Deployer.Name}
}

// misfit is a claim that does not fit a row. It has the caller's value, and never the expected one.
type misfit struct{ Fact }

func (m misfit) String() string {
	if m.Claim == "" {
		return "the tokens of the issuer do not say what the deployer runs for"
	}
	if m.Value == "" {
		return m.Claim + " is missing in the token, or is for another kind of run"
	}
	return fmt.Sprintf("%s %q", m.Claim, short(m.Value))
}

// longestValue bounds a claim's value in errors and statuses.
const longestValue = 120

func short(value string) string {
	value = identity.Clean(value)
	if len(value) > longestValue {
		return strings.ToValidUTF8(value[:longestValue], "") + "…"
	}
	return value
}

// misfitOf returns the first claim that does not fit the deployer, the most telling first, and how many fit before it;
// false if all fit.
func (f *Facts) misfitOf(d *v1alpha1.TeamDeployer) (bad misfit, fits int, wrong bool) {
	ref, want := f.Environment, d.Environment
	switch {
	case d.Branch != "":
		ref, want = f.Branch, d.Branch
	case d.Tag != "":
		ref, want = f.Tag, d.Tag
	}
	for _, c := range []struct {
		fact Fact
		want string
	}{
		{f.RepositoryID, string(d.RepositoryID)},
		{f.OwnerID, string(d.OwnerID)},
		{f.Repository, d.Repository},
		{f.Owner, d.Owner},
		{ref, want},
	} {
		if c.want == "" || c.fact.Value != c.want {
			return misfit{c.fact}, fits, true
		}
		fits++
	}
	events := d.Events
	if len(events) == 0 {
		events = f.usual
	}
	if f.Event.Value == "" || !slices.Contains(events, f.Event.Value) {
		return misfit{f.Event}, fits, true
	}
	return misfit{}, fits, false
}

// near reports whether a refused token is about the row: it has the row's repository, by its ID, or by its name with
// the same owner.
func (f *Facts) near(d *v1alpha1.TeamDeployer) bool {
	return f.RepositoryID.Value == string(d.RepositoryID) ||
		f.Repository.Value == d.Repository && f.OwnerID.Value == string(d.OwnerID)
}

// outcome is what came of comparing a token with the rows of its issuer.
type outcome struct {
	fit []Row
	// bad is the claim that does not fit the nearest row.
	bad misfit
	// near are the rows whose repository it is, each with the claim that does not fit.
	near map[types.NamespacedName]misfit
}

// match compares a token with rows.
func (f *Facts) match(rows []Row) outcome {
	out := outcome{bad: misfit{f.RepositoryID}, near: map[types.NamespacedName]misfit{}}
	most := 0
	for _, r := range rows {
		bad, fits, wrong := f.misfitOf(&r.Deployer)
		if !wrong {
			out.fit = append(out.fit, r)
			continue
		}
		if fits > most {
			out.bad, most = bad, fits
		}
		if f.near(&r.Deployer) {
			out.near[r.key()] = bad
		}
	}
	return out
}
