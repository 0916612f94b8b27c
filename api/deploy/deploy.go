// Package deploy describes deployers, the pipelines of teams that exchange a token of their CI system for one of
// Portico: what they are called in Kubernetes, and how a run of one is named. Operator and portal both need it.
package deploy

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/identity"
)

const (
	// Namespace has the ServiceAccounts of all deployers, and nothing else: no Pod runs in it, and no team has rights
	// in it. The operator can create tokens of ServiceAccounts in this namespace only.
	Namespace = "portico-deployers"
	// UserPrefix begins the usernames of deployers in Kubernetes.
	UserPrefix = "system:serviceaccount:" + Namespace + ":"
	// Lifetime is how long a token of a deployer is valid.
	Lifetime = 15 * time.Minute

	// LabelCredential is on the record of an exchange: the ID that Kubernetes gave the token. Requests with the token
	// carry it in the extra field of their user.
	LabelCredential = "portico.dev/credential" //nolint:gosec // a label, no secret
	// ExtraCredential is that field.
	ExtraCredential = "authentication.kubernetes.io/credential-id"
	// ExtraCredentialPrefix is in front of the ID there.
	ExtraCredentialPrefix = "JTI="
	// AnnotationRun is on the record of an exchange: the Run, as JSON.
	AnnotationRun = "portico.dev/run"
	// AnnotationUntil is when the record can be deleted.
	AnnotationUntil = "portico.dev/until"

	// AnnotationConditions is on the ServiceAccount of a deployer: a hash of what its tokens must say. When that
	// changes, the account is created again, and the tokens it had are no longer valid.
	AnnotationConditions = "portico.dev/deployer-conditions"
	// AnnotationUsed is on the ServiceAccount, too: when it was last used.
	AnnotationUsed = "portico.dev/last-used"
	// AnnotationUsedBy is the run that used it last.
	AnnotationUsedBy = "portico.dev/last-run"
	// AnnotationRefused is when a token that nearly fits was last refused.
	AnnotationRefused = "portico.dev/last-refused"
	// AnnotationRefusal is which claim of that token did not fit.
	AnnotationRefusal = "portico.dev/last-refusal"
)

// Account returns the name of the ServiceAccount of a team's deployer. Names of teams have no dots.
func Account(team, deployer string) string { return team + "." + deployer }

// Username returns the username of a team's deployer in Kubernetes.
func Username(team, deployer string) string { return UserPrefix + Account(team, deployer) }

// Parse splits the username of a deployer; false for other users.
func Parse(username string) (team, deployer string, ok bool) {
	account, ok := strings.CutPrefix(username, UserPrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(account, ".")
}

// Name returns how a deployer is called to people, such as payments/release; other usernames stay as they are.
func Name(username string) string {
	if team, deployer, ok := Parse(username); ok {
		return team + "/" + deployer
	}
	return username
}

// Run is the run of a pipeline, as its token describes it.
type Run struct {
	Repository string `json:"repository"`
	Workflow   string `json:"workflow,omitempty"`
	Commit     string `json:"commit,omitempty"`
	Ref        string `json:"ref,omitempty"` // a branch or tag
	ID         string `json:"id,omitempty"`  // of the run
	Actor      string `json:"actor,omitempty"`
}

// longest bounds each part of a Run, and shortCommit is as much of a commit as people read.
const (
	longest     = 100
	shortCommit = 10
)

// Bounded returns the run without anything that has no place in a log or on a page.
func (r Run) Bounded() Run {
	for _, part := range []*string{&r.Repository, &r.Workflow, &r.Commit, &r.Ref, &r.ID, &r.Actor} {
		text := identity.Clean(*part)
		if len(text) > longest {
			text = strings.ToValidUTF8(text[:longest], "")
		}
		*part = text
	}
	return r
}

// String returns the run in one line, such as "acme/shop, Deploy, commit 1f3a9c04d2, run 4711".
func (r Run) String() string {
	parts := []string{cmp.Or(r.Repository, "a repository")}
	for _, part := range []struct{ before, text string }{
		{"", r.Workflow},
		{"commit ", r.Commit[:min(len(r.Commit), shortCommit)]},
		{"run ", r.ID},
	} {
		if part.text != "" {
			parts = append(parts, part.before+part.text)
		}
	}
	return strings.Join(parts, ", ")
}

// Text returns the run for AnnotationRun.
func (r Run) Text() string {
	text, err := json.Marshal(r.Bounded())
	if err != nil {
		return "" // cannot happen: it has only strings
	}
	return string(text)
}

// ParseRun reads AnnotationRun; a text that is none is an empty run.
func ParseRun(text string) Run {
	var r Run
	_ = json.Unmarshal([]byte(text), &r) // an unreadable one says nothing
	return r
}
