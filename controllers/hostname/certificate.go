package hostname

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	route53 "github.com/aws/aws-sdk-go-v2/service/route53/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
	"github.com/portico-platform/portico/controllers/hostname/dns"
)

// A failed request is repeated after one hour, two, and so on up to lastRetry: an account can request about a thousand
// certificates a year.
const (
	firstRetry = time.Hour
	lastRetry  = 32 * time.Hour
)

// acmPollInterval is how often ACM is polled for data that it generates within seconds.
const acmPollInterval = time.Second

// certificateStatus returns the status of the certificate. SaveStatus replaces it: do not keep the pointer.
func (r *reconciliation) certificateStatus() *v1alpha1.HostnameCertificate {
	return r.req.Status.Certificate
}

// correctTimes sets times in the future to now: a wrong clock has set them, and nothing must wait for them.
func (r *reconciliation) correctTimes() {
	c, now := r.certificateStatus(), r.Now()
	if c == nil {
		return
	}
	if c.RequestedAt.After(now) {
		c.RequestedAt.Time = now
	}
	if c.FailedAt != nil && c.FailedAt.After(now) {
		c.FailedAt.Time = now
	}
}

// requestCertificate makes sure that the hostname has a certificate, requested once.
func (r *reconciliation) requestCertificate(ctx context.Context) (string, error) {
	r.correctTimes()
	if r.certificateStatus() == nil {
		if err := r.adoptRestored(ctx); err != nil {
			return "", err
		}
	}
	if r.certificateStatus() == nil {
		if err := r.AllowCertificate(ctx, r.req.Namespace, r.Now()); err != nil {
			return "", err
		}
		if err := r.beginAttempt(ctx, 1); err != nil {
			return "", err
		}
	}
	if r.certificateStatus().ARN == "" {
		if err := r.submitRequest(ctx); err != nil {
			return "", err
		}
	}
	seen, err := r.account.Certs.Describe(ctx, r.certificateStatus().ARN)
	if err != nil {
		return "", err
	}
	if seen == nil {
		return "", r.handleLostCertificate()
	}
	if seen.Failed() {
		return "", r.retryFailedCertificate(ctx, seen)
	}
	r.certificate = seen
	c := r.certificateStatus()
	c.Status, c.FailedAt = string(seen.Status), nil
	c.RecordName, c.RecordValue = seen.Record.Name, seen.Record.Value
	r.checkRenewal(c, seen)
	return "ACM has the request for " + r.name.String(), nil
}

// adoptRestored adopts the certificate that the request had in a lost cluster, if an admin has named that request.
func (r *reconciliation) adoptRestored(ctx context.Context) error {
	if !r.req.Restored() {
		return nil
	}
	found, err := r.account.Certs.Find(ctx, r.account.SearchTags(r.req))
	if err != nil || len(found) == 0 {
		return err
	}
	if err := r.beginAttempt(ctx, 1); err != nil {
		return err
	}
	r.certificateStatus().ARN = found[0]
	r.pass.Normal(v1alpha1.ReasonCertificateFound, "GetResources", "%s, which was requested in another cluster",
		found[0])
	return nil
}

// beginAttempt saves that an attempt begins, so that it continues after a crash.
func (r *reconciliation) beginAttempt(ctx context.Context, attempt int32) error {
	r.req.Status.Certificate = &v1alpha1.HostnameCertificate{Attempt: attempt, RequestedAt: metav1.Time{Time: r.Now()}}
	r.saved = true
	return r.pass.SaveStatus(ctx)
}

// submitRequest requests the certificate of the attempt. ACM deduplicates requests for an hour; after that the
// certificate is searched for by its tags.
func (r *reconciliation) submitRequest(ctx context.Context) error {
	if r.Now().Sub(r.certificateStatus().RequestedAt.Time) > cert.TokenLife {
		found, err := r.account.Certs.Find(ctx, r.account.SearchTags(r.req))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			r.certificateStatus().ARN = found[0]
			r.pass.Normal(v1alpha1.ReasonCertificateFound, "GetResources", "%s, which was requested before", found[0])
			return nil
		}
		if err := r.beginAttempt(ctx, r.certificateStatus().Attempt+1); err != nil {
			return err
		}
	}
	if !r.saved { // the cache may be behind; saving proves that it is not
		if err := r.pass.SaveStatus(ctx); err != nil {
			return err
		}
	}
	token := cert.Token(string(r.req.HolderUID()), r.certificateStatus().Attempt)
	arn, err := r.account.Certs.Request(ctx, r.name, token, r.account.Tags(r.req))
	if err != nil {
		return err
	}
	requested.WithLabelValues(r.account.ID).Inc()
	// ACM may take a moment to show it, however long the request waited for the rate limit.
	r.certificateStatus().ARN, r.certificateStatus().RequestedAt = arn, metav1.Time{Time: r.Now()}
	r.pass.Normal(v1alpha1.ReasonCertificateRequested, "RequestCertificate", "%s", arn)
	return nil
}

// handleLostCertificate handles a certificate that ACM does not have. Just after the request ACM may not show it yet;
// later somebody has deleted it, which AWS allows only while nothing uses it. Replacements back off, so that repeated
// deletions do not use up the account's quota.
func (r *reconciliation) handleLostCertificate() error {
	c := r.certificateStatus()
	if r.Now().Sub(c.RequestedAt.Time) < time.Minute {
		return engine.Wait(v1alpha1.ReasonCertificatePending, acmPollInterval, "ACM does not show the certificate yet")
	}
	if due := c.RequestedAt.Add(backoff(c.Attempt - 1)); c.Attempt > 1 && r.Now().Before(due) {
		return engine.Blocked(v1alpha1.ReasonCertificateLost, "%s is gone from ACM, and it was not the first: find "+
			"out who deletes them. Portico requests another one at %s", c.ARN, formatTime(due))
	}
	r.pass.Repaired(v1alpha1.ReasonCertificateLost, "RequestCertificate",
		"%s is gone from ACM; another one is requested", c.ARN)
	*c = v1alpha1.HostnameCertificate{Attempt: c.Attempt + 1, RequestedAt: metav1.Time{Time: r.Now()}}
	return engine.Wait(v1alpha1.ReasonCertificatePending, time.Millisecond, "another certificate is requested")
}

// retryFailedCertificate waits, longer each time, and then requests another certificate.
func (r *reconciliation) retryFailedCertificate(ctx context.Context, seen *cert.Certificate) error {
	c := r.certificateStatus()
	if c.FailedAt == nil {
		c.FailedAt = &metav1.Time{Time: r.Now()}
	}
	c.Status = string(seen.Status)
	if due := c.FailedAt.Add(backoff(c.Attempt)); r.Now().Before(due) {
		return engine.Blocked(v1alpha1.ReasonCertificateFailed, "ACM has given up on the certificate of %s: %s. "+
			"Portico requests it again at %s; %s",
			r.name, failure(seen), formatTime(due), advice(seen))
	}
	if err := r.account.Certs.Delete(ctx, c.ARN); err != nil {
		return err
	}
	if err := r.beginAttempt(ctx, c.Attempt+1); err != nil {
		return err
	}
	return engine.Wait(v1alpha1.ReasonCertificatePending, time.Millisecond, "another certificate is requested")
}

func backoff(attempts int32) time.Duration {
	return min(firstRetry<<min(max(attempts-1, 0), 10), lastRetry)
}

func formatTime(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

func failure(c *cert.Certificate) string {
	if c.Reason != "" {
		return string(c.Status) + " " + c.Reason
	}
	return string(c.Status)
}

func advice(c *cert.Certificate) string {
	switch types.FailureReason(c.Reason) {
	case types.FailureReasonCaaError:
		return "let the CAA records of the domain, or of one above it, allow amazon.com"
	case types.FailureReasonNoAvailableContacts, types.FailureReasonAdditionalVerificationRequired,
		types.FailureReasonDomainNotAllowed:
		return "ask a platform admin, who must clear it with AWS"
	default: // private authorities only
	}
	if c.Status == types.CertificateStatusValidationTimedOut {
		return "check that the name servers at the domain's registrar are those of the hosted zone"
	}
	return "ask a platform admin if this stays"
}

// ensureValidationRecord keeps the record that proves the domain to ACM, now and at each renewal. All certificates of a
// domain in the account share this record, also those of other clusters and regions.
func (r *reconciliation) ensureValidationRecord(ctx context.Context) (string, error) {
	record := r.certificate.Record
	if record.Name == "" {
		return "", engine.Wait(v1alpha1.ReasonValidationPending, acmPollInterval,
			"ACM has not said yet which record proves the domain")
	}
	zone := string(r.req.Spec.ZoneID)
	if v := r.req.Spec.ValidationZoneID; v != "" {
		zone = string(v)
	}
	there, err := r.hasValidationRecord(ctx, zone, record)
	if err != nil {
		return "", err
	}
	if !there {
		_, err := r.account.Zones.Change(ctx, zone, dns.Create(dns.CNAME(record.Name, record.Value)))
		if dns.IsRefused(err) { // somebody else has created it meanwhile
			if there, err := r.hasValidationRecord(ctx, zone, record); there || err != nil {
				return "the record " + record.Name + " proves the domain", err
			}
		}
		if err != nil {
			return "", err
		}
		r.pass.Normal(v1alpha1.ReasonRecordCreated, "CreateCNAME", "%s in zone %s", record.Name, zone)
	}
	return "the record " + record.Name + " proves the domain, and stays for renewals", nil
}

// hasValidationRecord reports whether the record exists. A different record of that name is somebody else's: it is an
// error, and the record is left alone.
func (r *reconciliation) hasValidationRecord(ctx context.Context, zone string, record cert.Record) (bool, error) {
	sets, err := r.account.Zones.Records(ctx, zone, record.Name)
	if err != nil || len(sets) == 0 {
		return false, err
	}
	if cname, ok := dns.OfType(sets, route53.RRTypeCname); ok && dns.SameTarget(cname, record.Value) {
		return true, nil
	}
	return false, engine.Blocked(v1alpha1.ReasonConflict, "the zone %s has another record at %s, which is left "+
		"alone; delete it, and Portico writes the one that ACM asks for", zone, record.Name)
}

// checkIssued waits for ACM.
func (r *reconciliation) checkIssued(context.Context) (string, error) {
	if r.certificate.Over() {
		return "", engine.Blocked(v1alpha1.ReasonCertificateOver, "the certificate is %s and load balancers serve it "+
			"no more: make a new request for the hostname. ACM renews certificates as long as the record %s is in "+
			"public DNS",
			r.certificate.Status, r.certificate.Record.Name)
	}
	if !r.certificate.Issued() {
		age := r.Now().Sub(r.req.Status.Certificate.RequestedAt.Time)
		return "", engine.Wait(v1alpha1.ReasonCertificatePending, min(max(age/10, acmPollInterval), time.Minute),
			"ACM looks for the record and issues the certificate, which usually takes some minutes")
	}
	return "the certificate is issued", nil
}
