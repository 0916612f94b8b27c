package hostname

import (
	"cmp"
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// certificateEvery is how often a namespace can request a certificate for a new hostname in the long run: an account
// can request about a thousand a year, for all its namespaces together.
const certificateEvery = 12 * time.Hour

// CertificateLimiter limits the certificates that a namespace requests for new hostnames: a burst of the maxHostnames
// of its grant, then one each certificateEvery. Certificates that replace lost or failed ones have their own back-off.
type CertificateLimiter struct {
	Client    client.Client
	APIReader client.Reader
}

// Allow counts one certificate, or returns a WaitError that says when the next can be requested. It is called before
// the attempt is saved: a crash in between costs the namespace one certificate, and AWS none.
func (l CertificateLimiter) Allow(ctx context.Context, namespace string, now time.Time) error {
	// Conflicts occur, because the same status lists what is in use.
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return l.allow(ctx, namespace, now) })
}

func (l CertificateLimiter) allow(ctx context.Context, namespace string, now time.Time) error {
	grant := &v1alpha1.HostnameGrant{}
	err := l.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v1alpha1.HostnameGrantName}, grant)
	if apierrors.IsNotFound(err) {
		return nil // withdrawn since the hostname was claimed; existing claims are still served
	}
	if err != nil {
		return fmt.Errorf("read the HostnameGrant of %s: %w", namespace, err)
	}
	from := now
	if to := grant.Status.CertificatesPacedTo; to != nil && to.After(now) {
		from = to.Time
	}
	next := from.Add(certificateEvery)
	most := cmp.Or(grant.Spec.MaxHostnames, v1alpha1.DefaultMaxHostnames)
	if wait := next.Sub(now) - time.Duration(most)*certificateEvery; wait > 0 {
		return engine.Wait(v1alpha1.ReasonCertificatesPaced, wait, "namespace %s has requested many certificates "+
			"lately, and the AWS account may request some thousand a year: the next one is requested at %s. Keep "+
			"hostnames that you still need: each one that is deleted and requested again needs another certificate",
			namespace, formatTime(now.Add(wait)))
	}
	before := grant.DeepCopy()
	grant.Status.CertificatesPacedTo = &metav1.Time{Time: next}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := l.Client.Status().Patch(ctx, grant, patch, client.FieldOwner("portico")); err != nil {
		return fmt.Errorf("count a certificate in the HostnameGrant of %s: %w", namespace, err)
	}
	return nil
}
