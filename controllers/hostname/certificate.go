package hostname

import (
	"cmp"
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

// A failed request is made again after an hour, then two, and so on up to this: an account has some thousand a year.
const (
	firstRetry = time.Hour
	lastRetry  = 32 * time.Hour
)

// appears is how soon ACM is asked again for what it makes up within seconds.
const appears = time.Second

// kept is what the status has of the certificate. It is another one after each Save.
func (r *run) kept() *v1alpha1.HostnameCertificate { return r.req.Status.Certificate }

// request makes sure that there is one certificate, asked for once.
func (r *run) request(ctx context.Context) (string, error) {
	if r.kept() == nil {
		if err := r.restore(ctx); err != nil {
			return "", err
		}
	}
	if r.kept() == nil {
		if err := r.Pace(ctx, r.req.Namespace, r.Now()); err != nil {
			return "", err
		}
		if err := r.begin(ctx, 1); err != nil {
			return "", err
		}
	}
	if r.kept().ARN == "" {
		if err := r.order(ctx); err != nil {
			return "", err
		}
	}
	seen, err := r.Certs.Describe(ctx, r.kept().ARN)
	if err != nil {
		return "", err
	}
	if seen == nil {
		return "", r.lost()
	}
	if seen.Failed() {
		return "", r.retry(ctx, seen)
	}
	r.cert = seen
	c := r.kept()
	c.Status, c.FailedAt = string(seen.Status), nil
	c.RecordName, c.RecordValue = seen.Record.Name, seen.Record.Value
	r.watchRenewal(c, seen)
	return "ACM has the request for " + r.name.String(), nil
}

// restore finds the certificate that the request had in a lost cluster, if an admin has said which request that was.
func (r *run) restore(ctx context.Context) error {
	if !r.req.Restored() {
		return nil
	}
	found, err := r.Certs.Find(ctx, r.Search(r.req))
	if err != nil || len(found) == 0 {
		return err
	}
	if err := r.begin(ctx, 1); err != nil {
		return err
	}
	r.kept().ARN = found[0]
	r.pass.Normal("CertificateFound", "GetResources", "%s, which was requested in another cluster", found[0])
	return nil
}

// begin writes down that an attempt begins, so that it is the same one after a crash.
func (r *run) begin(ctx context.Context, attempt int32) error {
	r.req.Status.Certificate = &v1alpha1.HostnameCertificate{Attempt: attempt, RequestedAt: metav1.Time{Time: r.Now()}}
	r.proven = true
	return r.pass.Save(ctx)
}

// order requests the certificate of the attempt. ACM takes a repetition for the same request for an hour; after that it
// is looked for by its tags.
func (r *run) order(ctx context.Context) error {
	if r.Now().Sub(r.kept().RequestedAt.Time) > cert.TokenLife {
		found, err := r.Certs.Find(ctx, r.Search(r.req))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			r.kept().ARN = found[0]
			r.pass.Normal("CertificateFound", "GetResources", "%s, which was requested before", found[0])
			return nil
		}
		if err := r.begin(ctx, r.kept().Attempt+1); err != nil {
			return err
		}
	}
	if !r.proven { // the cache may not show yet that it was requested
		if err := r.pass.Save(ctx); err != nil {
			return err
		}
	}
	arn, err := r.Certs.Request(ctx, r.name, cert.Token(string(r.req.HolderUID()), r.kept().Attempt), r.Tags(r.req))
	if err != nil {
		return err
	}
	requested.WithLabelValues(r.ID).Inc()
	// ACM may take a moment to show it, however long it took to be let in.
	r.kept().ARN, r.kept().RequestedAt = arn, metav1.Time{Time: r.Now()}
	r.pass.Normal("CertificateRequested", "RequestCertificate", "%s", arn)
	return nil
}

// lost is about a certificate that ACM does not have: just after the request it may not show it yet; later somebody has
// deleted it, which AWS allows only while nothing uses it. Who does so again and again must not use up what an account
// may request.
func (r *run) lost() error {
	c := r.kept()
	if r.Now().Sub(c.RequestedAt.Time) < time.Minute {
		return engine.Wait("CertificatePending", appears, "ACM does not show the certificate yet")
	}
	if due := c.RequestedAt.Add(backoff(c.Attempt - 1)); c.Attempt > 1 && r.Now().Before(due) {
		return engine.Blocked("CertificateLost", "%s is gone from ACM, and it was not the first: find out who deletes them. Portico requests another one at %s", c.ARN, shown(due))
	}
	r.pass.Repaired("CertificateLost", "RequestCertificate", "%s is gone from ACM; another one is requested", c.ARN)
	*c = v1alpha1.HostnameCertificate{Attempt: c.Attempt + 1, RequestedAt: metav1.Time{Time: r.Now()}}
	return engine.Wait("CertificatePending", time.Millisecond, "another certificate is requested")
}

// retry waits, longer each time, and then requests anew.
func (r *run) retry(ctx context.Context, seen *cert.Certificate) error {
	c := r.kept()
	if c.FailedAt == nil {
		c.FailedAt = &metav1.Time{Time: r.Now()}
	}
	c.Status = string(seen.Status)
	if due := c.FailedAt.Add(backoff(c.Attempt)); r.Now().Before(due) {
		return engine.Blocked("CertificateFailed", "ACM has given up on the certificate of %s: %s. Portico requests it anew at %s; %s",
			r.name, failure(seen), shown(due), advice(seen))
	}
	if err := r.Certs.Delete(ctx, c.ARN); err != nil {
		return err
	}
	if err := r.begin(ctx, c.Attempt+1); err != nil {
		return err
	}
	return engine.Wait("CertificatePending", time.Millisecond, "another certificate is requested")
}

func backoff(attempts int32) time.Duration {
	return min(firstRetry<<min(max(attempts-1, 0), 10), lastRetry)
}

func shown(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

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
	case types.FailureReasonNoAvailableContacts, types.FailureReasonAdditionalVerificationRequired, types.FailureReasonDomainNotAllowed:
		return "ask a platform admin, who must clear it with AWS"
	default: // those of private authorities cannot be
	}
	if c.Status == types.CertificateStatusValidationTimedOut {
		return "check that the name servers at the domain's registrar are those of the hosted zone"
	}
	return "ask a platform admin if this stays"
}

// withdraw deletes the certificate once nothing uses it.
func (r *run) withdraw(ctx context.Context) error {
	c := r.req.Status.Certificate
	if c == nil {
		return nil
	}
	arns := []string{c.ARN}
	if c.ARN == "" { // a request may have been made of which no answer came
		var err error
		if arns, err = r.unanswered(ctx, c); err != nil {
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
			return engine.Wait("Detaching", 5*time.Second, "AWS still shows the certificate in use; it is deleted when it is not")
		}
		if err := r.Certs.Delete(ctx, arn); err != nil {
			return err
		}
	}
	return nil
}

// unanswered finds what was requested by an attempt whose answer was lost: by asking again, while ACM takes that for the
// same request, and by the tags, which can be found some time after the request only.
func (r *run) unanswered(ctx context.Context, c *v1alpha1.HostnameCertificate) ([]string, error) {
	if r.Now().Sub(c.RequestedAt.Time) < cert.TokenLife {
		if arn, err := r.Certs.Request(ctx, r.name, cert.Token(string(r.req.HolderUID()), c.Attempt), r.Tags(r.req)); err == nil {
			return []string{arn}, nil
		}
	}
	return r.Certs.Find(ctx, r.Search(r.req))
}

// validate keeps the record that proves the domain to ACM, now and at each renewal. Other certificates of the same domain
// have the same one, here and in other clusters and regions.
func (r *run) validate(ctx context.Context) (string, error) {
	record := r.cert.Record
	if record.Name == "" {
		return "", engine.Wait("ValidationPending", appears, "ACM has not said yet which record proves the domain")
	}
	zone := string(r.req.Spec.ZoneID)
	if v := r.req.Spec.ValidationZoneID; v != "" {
		zone = string(v)
	}
	there, err := r.proves(ctx, zone, record)
	if err != nil {
		return "", err
	}
	if !there {
		_, err := r.Zones.Change(ctx, zone, dns.Create(dns.CNAME(record.Name, record.Value)))
		if dns.Refused(err) { // somebody was faster
			if there, err := r.proves(ctx, zone, record); there || err != nil {
				return "the record " + record.Name + " proves the domain", err
			}
		}
		if err != nil {
			return "", err
		}
		r.pass.Normal("RecordCreated", "CreateCNAME", "%s in zone %s", record.Name, zone)
	}
	return "the record " + record.Name + " proves the domain, and stays for renewals", nil
}

// proves tells whether the record is there. Another one in its place is somebody's, and is left alone.
func (r *run) proves(ctx context.Context, zone string, record cert.Record) (bool, error) {
	sets, err := r.Zones.At(ctx, zone, record.Name)
	if err != nil || len(sets) == 0 {
		return false, err
	}
	if cname, ok := dns.Of(sets, route53.RRTypeCname); ok && dns.SameTarget(cname, record.Value) {
		return true, nil
	}
	return false, engine.Blocked("Conflict", "the zone %s has another record at %s, which is left alone; delete it, and Portico writes the one that ACM asks for", zone, record.Name)
}

// issued waits for ACM.
func (r *run) issued(context.Context) (string, error) {
	if r.cert.Over() {
		return "", engine.Blocked("CertificateOver", "the certificate is %s and load balancers serve it no more: make a new request for the hostname. ACM renews certificates as long as the record %s is in public DNS",
			r.cert.Status, r.cert.Record.Name)
	}
	if !r.cert.Issued() {
		age := r.Now().Sub(r.req.Status.Certificate.RequestedAt.Time)
		return "", engine.Wait("CertificatePending", min(max(age/10, appears), time.Minute), "ACM looks for the record and issues the certificate, which takes some minutes as a rule")
	}
	return "the certificate is issued", nil
}

// renewBy is how long before its end a certificate that is not renewed is a matter for people; ACM begins 60 days before.
const renewBy = 30 * 24 * time.Hour

// watchRenewal tells of a renewal that is late, once.
func (r *run) watchRenewal(c *v1alpha1.HostnameCertificate, seen *cert.Certificate) {
	c.Renewal = seen.Renewal
	if seen.NotAfter == nil {
		return
	}
	c.NotAfter = &metav1.Time{Time: seen.NotAfter.UTC().Truncate(time.Second)}
	late := seen.Renewal == string(types.RenewalStatusFailed) || c.NotAfter.Sub(r.Now()) < renewBy
	if late && !c.RenewalLate {
		r.pass.Warning("RenewalLate", "DescribeCertificate", "the certificate ends on %s and ACM has not renewed it (%s): the record %s must be in public DNS",
			c.NotAfter.UTC().Format(time.DateOnly), cmp.Or(seen.Renewal, "not begun"), seen.Record.Name)
	}
	c.RenewalLate = late
}
