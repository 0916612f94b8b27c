// Package sessions has who is signed in: which sessions were revoked, who renews one, and whose token a token is.
package sessions

import (
	"cmp"
	"context"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Resource is the RBAC resource of sessions.
const Resource = "sessions"

// Sessions ends the sessions of users for callers, after checking their rights.
type Sessions struct {
	rights  *rights.Rights
	revoked *Revocations
	prefix  string // of usernames in Kubernetes
}

// New returns Sessions, which adds to revoked.
func New(may *rights.Rights, revoked *Revocations, prefix string) *Sessions {
	return &Sessions{rights: may, revoked: revoked, prefix: prefix}
}

// toEndSessions is the right to end the sessions of any user. The resource exists in RBAC only: there are no such
// objects.
var toEndSessions = rights.Right{Verb: "delete", Group: v1alpha1.GroupVersion.Group, Resource: Resource}

// Ended is the user whose sessions have ended.
type Ended struct {
	// Username is the user's name in Kubernetes.
	Username string
	// Until is the latest beginning of a session that has ended; zero after a dry run.
	Until time.Time
}

// MayEnd reports whether the caller may end the sessions of users.
func (s *Sessions) MayEnd(ctx context.Context, id auth.Identity) (bool, error) {
	return s.rights.Allowed(ctx, id, toEndSessions)
}

// End ends, on every replica, all of a user's sessions and bearer tokens for the portal, or with dryRun only returns
// whose they are. user is in a format that auth.NameUser accepts. Sessions that begin after it has returned are valid.
// Errors are *failure.ForbiddenError, *auth.NoUserError and *failure.UnavailableError; after the last one the sessions
// have ended on this replica, and possibly on no other.
func (s *Sessions) End(ctx context.Context, id auth.Identity, user string, dryRun bool) (Ended, error) {
	out, err := s.end(ctx, id, user, dryRun)
	auth.NoteWrite(ctx, auth.Write{
		Verb: toEndSessions.Verb, Resource: toEndSessions.Resource, Name: cmp.Or(out.Username, user), DryRun: dryRun,
		Outcome: failure.OutcomeOf(err),
	})
	return out, err
}

func (s *Sessions) end(ctx context.Context, id auth.Identity, user string, dryRun bool) (Ended, error) {
	s.rights.Forget(id, toEndSessions) // no API server checks this right later
	if err := s.rights.RequireRight(ctx, id, toEndSessions); err != nil {
		return Ended{}, err
	}
	named, err := auth.NameUser(s.prefix, user)
	if err != nil {
		return Ended{}, err
	}
	out := Ended{Username: named.Username}
	if !named.Sure {
		if group, err := s.rights.IsGroup(ctx, named.Username); err != nil || group {
			return out, cmp.Or(err, auth.GroupError(named.Username))
		}
	}
	if dryRun {
		return out, nil
	}
	if out.Until, err = s.revoked.EndUser(ctx, named.Username); err != nil {
		return out, &failure.UnavailableError{Doing: "ending the sessions of " + named.Username, Cause: err}
	}
	return out, nil
}
