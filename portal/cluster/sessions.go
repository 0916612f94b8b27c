package cluster

import (
	"cmp"
	"context"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
)

// SessionsResource is the RBAC resource of sessions.
const SessionsResource = "sessions"

// toEndSessions is the right to end the sessions of any user. The resource exists in RBAC only: there are no such
// objects.
var toEndSessions = Right{verb: "delete", group: v1alpha1.GroupVersion.Group, resource: SessionsResource}

// Ended is the user whose sessions have ended.
type Ended struct {
	// Username is the user's name in Kubernetes.
	Username string
	// Until is the latest beginning of a session that has ended; zero after a dry run.
	Until time.Time
}

// MayEndSessions reports whether the caller may end the sessions of users.
func (c *Cluster) MayEndSessions(ctx context.Context, id auth.Identity) (bool, error) {
	return c.access.allowed(ctx, id, toEndSessions)
}

// EndSessions ends, on every replica, all of a user's sessions and bearer tokens for the portal, or with dryRun only
// returns whose they are. user is in a format that auth.NameUser accepts. Sessions that begin after it has returned are
// valid. Errors are *ForbiddenError, *auth.NoUserError and *UnavailableError; after the last one the sessions have
// ended on this replica, and possibly on no other.
func (c *Cluster) EndSessions(ctx context.Context, id auth.Identity, user string, dryRun bool) (Ended, error) {
	out, err := c.endSessions(ctx, id, user, dryRun)
	auth.NoteWrite(ctx, auth.Write{
		Verb: toEndSessions.verb, Resource: toEndSessions.resource, Name: cmp.Or(out.Username, user), DryRun: dryRun,
		Outcome: outcomeOf(err),
	})
	return out, err
}

func (c *Cluster) endSessions(ctx context.Context, id auth.Identity, user string, dryRun bool) (Ended, error) {
	c.access.forget(id, toEndSessions) // no API server checks this right later
	if err := c.access.require(ctx, id, toEndSessions); err != nil {
		return Ended{}, err
	}
	named, err := auth.NameUser(c.prefix, user)
	if err != nil {
		return Ended{}, err
	}
	out := Ended{Username: named.Username}
	if !named.Sure {
		if group, err := c.isGroup(ctx, named.Username); err != nil || group {
			return out, cmp.Or(err, auth.GroupError(named.Username))
		}
	}
	if dryRun {
		return out, nil
	}
	if out.Until, err = c.revoked.EndUser(ctx, named.Username); err != nil {
		return out, &UnavailableError{Doing: "ending the sessions of " + named.Username, Cause: err}
	}
	return out, nil
}

// isGroup reports whether bindings name a group of that name, and no user.
func (c *Cluster) isGroup(ctx context.Context, name string) (bool, error) {
	group, err := c.isBound(ctx, rbacv1.GroupKind+" "+name)
	if err != nil || !group {
		return false, err
	}
	user, err := c.isBound(ctx, rbacv1.UserKind+" "+name)
	return !user, err
}

// isBound reports whether any binding names the subject, in the format of subjectName.
func (c *Cluster) isBound(ctx context.Context, subject string) (bool, error) {
	for _, index := range []string{bySubject, byTeamSubject} {
		var wide rbacv1.ClusterRoleBindingList
		if err := c.cache.List(ctx, &wide, client.MatchingFields{index: subject}); err != nil {
			return false, &UnavailableError{Doing: "reading the cache of cluster role bindings", Cause: err}
		}
		if len(wide.Items) > 0 {
			return true, nil
		}
	}
	in := sets.Set[string]{}
	err := c.withBindings(ctx, bySubject, subject, in)
	return len(in) > 0, err
}
