package hostname

import (
	"context"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
)

// deleteCertificate deletes the certificate once nothing uses it.
func (r *reconciliation) deleteCertificate(ctx context.Context) error {
	c := r.req.Status.Certificate
	if c == nil {
		return nil
	}
	arns := []string{c.ARN}
	if c.ARN == "" { // a request may have been made of which no answer came
		var err error
		if arns, err = r.findUnanswered(ctx, c); err != nil {
			return err
		}
	}
	for _, arn := range arns {
		seen, err := r.Certs.Describe(ctx, arn)
		if err != nil {
			return err
		}
		if seen == nil { // not asked to delete it: a policy that goes by tags would refuse what has none
			continue
		}
		if seen.InUse {
			return engine.Wait(v1alpha1.ReasonDetaching, 5*time.Second, "AWS still shows the certificate in use; it is deleted when it is not")
		}
		if err := r.Certs.Delete(ctx, arn); err != nil {
			return err
		}
	}
	return nil
}

// findUnanswered finds what was requested by an attempt whose answer was lost: by asking again, while ACM takes that for the
// same request, and by the tags, which can be found some time after the request only.
func (r *reconciliation) findUnanswered(ctx context.Context, c *v1alpha1.HostnameCertificate) ([]string, error) {
	if r.Now().Sub(c.RequestedAt.Time) < cert.TokenLife {
		if arn, err := r.Certs.Request(ctx, r.name, cert.Token(string(r.req.HolderUID()), c.Attempt), r.Tags(r.req)); err == nil {
			return []string{arn}, nil
		}
	}
	return r.Certs.Find(ctx, r.SearchTags(r.req))
}
