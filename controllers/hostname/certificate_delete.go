package hostname

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
)

// deleteCertificate deletes the certificate once nothing uses it.
func (r *reconciliation) deleteCertificate(ctx context.Context) error {
	r.correctTimes()
	c := r.req.Status.Certificate
	if c == nil {
		return nil
	}
	arns := []string{c.ARN}
	if c.ARN == "" { // a certificate may have been requested without a response
		var err error
		if arns, err = r.findUnanswered(ctx, c); err != nil {
			return err
		}
	}
	for _, arn := range arns {
		if err := r.deleteOne(ctx, c, arn); err != nil {
			return err
		}
	}
	return nil
}

// deleteOne deletes one certificate of the request.
func (r *reconciliation) deleteOne(ctx context.Context, c *v1alpha1.HostnameCertificate, arn string) error {
	seen, err := r.account.Certs.Describe(ctx, arn)
	switch {
	case err != nil:
		return err
	case seen == nil && r.Now().Sub(c.RequestedAt.Time) < r.account.Settling:
		return engine.Wait(v1alpha1.ReasonSettling, acmPollInterval, "ACM does not show the certificate %s yet, "+
			"which was requested a moment ago; it is deleted when it does", arn)
	case seen == nil: // not deleted: a policy with tag conditions would deny it
		return nil
	case seen.InUse:
		return engine.Wait(v1alpha1.ReasonDetaching, 5*time.Second, "AWS still shows the certificate in use; it is "+
			"deleted when it is not")
	}
	return r.account.Certs.Delete(ctx, arn)
}

// findUnanswered finds the certificate of an attempt whose response was lost: by repeating the request while ACM
// deduplicates it, else by tags, which ACM shows only some time after the request.
func (r *reconciliation) findUnanswered(ctx context.Context, c *v1alpha1.HostnameCertificate) ([]string, error) {
	var failed error
	if r.Now().Sub(c.RequestedAt.Time) < cert.TokenLife {
		var arn string
		if arn, failed = r.account.Certs.Request(ctx, r.name, cert.Token(string(r.req.HolderUID()), c.Attempt),
			r.account.Tags(r.req)); failed == nil {
			c.ARN, c.RequestedAt = arn, metav1.Time{Time: r.Now()} // it may have been created only now
			return []string{arn}, nil
		}
	}
	found, err := r.account.Certs.Find(ctx, r.account.SearchTags(r.req))
	if len(found) > 0 || err != nil {
		return found, err
	}
	return nil, r.waitForTags(c, failed)
}

// tagLooks times Account.Settling is the longest time until a new certificate is found by its tags.
const tagLooks = 5

// waitForTags returns an error while a certificate of the request may exist and not be found: until TokenLife is over
// if the outcome of the repeated request is unknown, and for some minutes if AWS denies it. So a team that has lost the
// right to request certificates can still release its hostname.
func (r *reconciliation) waitForTags(c *v1alpha1.HostnameCertificate, failed error) error {
	if failed == nil { // it was created at the latest when the token expired
		return r.waitUntil(c.RequestedAt.Add(cert.TokenLife), "none is known to be there")
	}
	wait, ok := engine.AsWait(cloud.Explain(failed))
	if !ok || !wait.Stalled {
		c.FailedAt = nil
		return failed
	}
	if c.FailedAt == nil {
		c.FailedAt = &metav1.Time{Time: r.Now()}
	}
	return r.waitUntil(c.FailedAt.Time, "ACM does not tell: "+wait.Error())
}

// waitUntil returns a WaitError until a certificate created at made would be found by its tags.
func (r *reconciliation) waitUntil(made time.Time, why string) error {
	until := made.Add(tagLooks*r.account.Settling + time.Second)
	if !r.Now().Before(until) {
		return nil
	}
	return engine.Wait(v1alpha1.ReasonSettling, min(10*time.Second, max(r.account.Settling, time.Second)),
		"a certificate may have been requested, and is looked for by its tags until %s; %s", formatTime(until), why)
}
