// Package provider keeps AWSProviders: are the credentials good, whose are they, who uses them.
package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// Revalidate is how often credentials are checked although nothing changed.
const Revalidate = 5 * time.Minute

// Work implements engine.Work for AWSProvider.
type Work struct {
	Sessions *cloud.Sessions
	// Users lists what holds something at a provider, as "Kind namespace/name"; UsersNow does so past the cache.
	Users, UsersNow func(ctx context.Context, provider string) ([]string, error)
	// Throttled names the services of an account that AWS has throttled lately.
	Throttled func(account string) []string
	Now       func() time.Time
}

// conditionThrottled is there and True while AWS limits the rate of the account's calls, and some minutes longer.
const conditionThrottled = "Throttled"

// Sync implements engine.Work: it asks STS who the credentials are and pins the account.
func (w Work) Sync(ctx context.Context, p *v1alpha1.AWSProvider, run *engine.Pass) error {
	users, err := w.Users(ctx, p.Name)
	if err != nil {
		return fmt.Errorf("count what uses the provider: %w", err)
	}
	p.Status.Resources = int64(len(users))
	err = w.authenticate(ctx, p, run)
	w.mark(p, err)
	w.markThrottled(p)
	return err
}

// markThrottled tells which services are limited: their resources take longer, and nothing is wrong with them.
func (w Work) markThrottled(p *v1alpha1.AWSProvider) {
	services := w.Throttled(p.Status.AccountID)
	if len(services) == 0 {
		meta.RemoveStatusCondition(&p.Status.Conditions, conditionThrottled)
		return
	}
	meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
		Type: conditionThrottled, Status: metav1.ConditionTrue, Reason: "RateExceeded", ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: w.Now()},
		Message:            fmt.Sprintf("AWS limits the rate of calls to %s; Portico slows down and goes on", strings.Join(services, ", ")),
	})
}

func (w Work) authenticate(ctx context.Context, p *v1alpha1.AWSProvider, run *engine.Pass) error {
	if _, err := cloud.Allows(p, nil); err != nil {
		return err
	}
	session, err := w.Sessions.Verify(ctx, p)
	if err != nil {
		return err
	}
	if err := cloud.Pinned(p, session); err != nil {
		return err
	}
	s := &p.Status
	if s.CallerIdentity != session.CallerARN || s.AccountID != session.AccountID || s.CredentialsVersion != session.CredentialsVersion {
		run.Normal("Authenticated", "GetCallerIdentity", "the credentials are %s of account %s", session.CallerARN, session.AccountID)
		s.CallerIdentity, s.AccountID, s.CredentialsVersion = session.CallerARN, session.AccountID, session.CredentialsVersion
		s.LastAuthenticationTime = &metav1.Time{Time: w.Now()}
	}
	return nil
}

// mark keeps the condition that resources go by; see cloud.ConditionAuthenticated. A failure that will pass (a
// throttled or lost call) takes nothing from credentials that worked.
func (w Work) mark(p *v1alpha1.AWSProvider, err error) {
	c := metav1.Condition{
		Type: cloud.ConditionAuthenticated, ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: w.Now()},
	}
	switch pause, paused := engine.AsPause(err); {
	case err == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, "Verified", "AWS knows the credentials"
	case paused && pause.Stalled:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, pause.Reason, pause.Error()
	case meta.IsStatusConditionTrue(p.Status.Conditions, cloud.ConditionAuthenticated) && p.Status.ObservedGeneration == p.Generation:
		return
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, "Checking", err.Error()
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
}

// users asks the cache, and believes only the API server that there are none: see cloud.Connector.Prove.
func (w Work) users(ctx context.Context, provider string) ([]string, error) {
	found, err := w.Users(ctx, provider)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return w.UsersNow(ctx, provider)
}

// Release implements engine.Work: a provider goes when nothing uses it any more, and until then it keeps working.
func (w Work) Release(ctx context.Context, p *v1alpha1.AWSProvider, run *engine.Pass) error {
	users, err := w.users(ctx, p.Name)
	if err != nil {
		return fmt.Errorf("list what uses the provider: %w", err)
	}
	if len(users) == 0 {
		w.Sessions.Forget(p)
		return nil
	}
	p.Status.Resources = int64(len(users))
	w.mark(p, w.authenticate(ctx, p, run))
	w.markThrottled(p)
	return engine.Blocked("InUse", "%s; delete or move them first", inUse(users))
}

// inUse names the first few users, sorted: a stable text.
func inUse(users []string) string {
	const most = 3
	slices.Sort(users)
	text := fmt.Sprintf("%d resources use this provider: ", len(users))
	if len(users) == 1 {
		text = "1 resource uses this provider: "
	}
	if len(users) > most {
		return text + strings.Join(users[:most], ", ") + fmt.Sprintf(" and %d more", len(users)-most)
	}
	return text + strings.Join(users, ", ")
}
