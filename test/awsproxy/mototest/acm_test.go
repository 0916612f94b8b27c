//go:build integration

package mototest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	dns "github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func (w *world) acm(key, region string) *acm.Client {
	return acm.NewFromConfig(config(w.operator, key, region))
}

// timed returns a world without added latency, and the offset of its clock.
func timed(t *testing.T) (w *world, later *time.Duration) {
	t.Helper()
	later = new(time.Duration)
	w = unhurried(t, func(o *awsproxy.Options) { o.Now = standing(later) })
	w.operator.Client().Transport = stamped{w.operator.Client().Transport, later}
	w.SetACMRecordDelay(0)
	w.SetACMIssueDelay(time.Minute)
	return w, later
}

// stamped dates requests by the world's clock; signatures are not verified.
type stamped struct {
	http.RoundTripper
	later *time.Duration
}

func (s stamped) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Amz-Date", time.Now().Add(*s.later).UTC().Format("20060102T150405Z"))
	return s.RoundTripper.RoundTrip(r)
}

func certificate(domain string, sans ...string) *acm.RequestCertificateInput {
	return &acm.RequestCertificateInput{
		DomainName: &domain, SubjectAlternativeNames: sans,
		ValidationMethod: types.ValidationMethodDns,
	}
}

func request(t *testing.T, c *acm.Client, in *acm.RequestCertificateInput) string {
	t.Helper()
	out, err := c.RequestCertificate(t.Context(), in)
	must(t, err)
	return *out.CertificateArn
}

func described(t *testing.T, c *acm.Client, arn string) *types.CertificateDetail {
	t.Helper()
	out, err := c.DescribeCertificate(t.Context(), &acm.DescribeCertificateInput{CertificateArn: &arn})
	must(t, err)
	return out.Certificate
}

// validation returns the change that publishes the certificate's n-th record.
func validation(action dns.ChangeAction, c *types.CertificateDetail, n int) dns.Change {
	r := c.DomainValidationOptions[n].ResourceRecord
	return plain(action, dns.RRTypeCname, *r.Name, *r.Value)
}

func TestATokenIsForOneRequest(t *testing.T) {
	w, later := timed(t)
	c := w.acm(newAccount(w), "eu-west-1")
	with := func(in *acm.RequestCertificateInput) *acm.RequestCertificateInput {
		in.IdempotencyToken = aws.String("token")
		return in
	}
	first := request(t, c, with(certificate("a.token.test", "b.token.test")))
	email := with(certificate("a.token.test", "b.token.test"))
	email.ValidationMethod = types.ValidationMethodEmail
	for name, tc := range map[string]struct {
		in   *acm.RequestCertificateInput
		same bool
	}{
		"the same":             {with(certificate("A.token.test", "b.token.test")), true},
		"another domain":       {with(certificate("c.token.test", "b.token.test")), false},
		"other names":          {with(certificate("a.token.test")), false},
		"another method":       {email, false},
		"without a token":      {certificate("a.token.test", "b.token.test"), false},
		"once more the domain": {with(certificate("a.token.test", "b.token.test")), true},
	} {
		if arn := request(t, c, tc.in); (arn == first) != tc.same {
			t.Errorf("%s: %s after %s", name, arn, first)
		}
	}
	*later = time.Hour + time.Minute
	if arn := request(t, c, with(certificate("a.token.test", "b.token.test"))); arn == first {
		t.Error("a token is valid after an hour")
	}
	calls := w.Calls(awsproxy.To("acm", "RequestCertificate"), awsproxy.About(first))
	if len(calls) != 3 || !calls[0].Names("a.token.test") {
		t.Errorf("of %s the journal has %+v", first, calls)
	}
}

func TestACertificateRefusesWhatACMRefuses(t *testing.T) {
	w, _ := timed(t)
	c := w.acm(newAccount(w), "eu-west-1")
	long := strings.Repeat("a", 60) + ".long.test"
	for name, tc := range map[string]struct {
		in   *acm.RequestCertificateInput
		code string
	}{
		"a name that is none":          {certificate("under_score.test"), "ValidationException"},
		"an asterisk inside":           {certificate("a.*.test"), "ValidationException"},
		"a name too long to be common": {certificate(long), "ValidationException"},
		"a token with a dash":          {&acm.RequestCertificateInput{DomainName: aws.String("a.test.test"), IdempotencyToken: aws.String("a-b")}, "ValidationException"},
		"more than ten alternative names": {
			certificate("a.test.test", strings.Split("b.t.test c.t.test d.t.test e.t.test f.t.test g.t.test h.t.test "+
				"i.t.test j.t.test k.t.test l.t.test", " ")...), "LimitExceededException",
		},
		"a long name is an alternative one": {certificate("a.test.test", long), ""},
	} {
		_, err := c.RequestCertificate(t.Context(), tc.in)
		if tc.code == "" {
			must(t, err)
			continue
		}
		t.Run(name, func(t *testing.T) { wantCode(t, err, tc.code) })
	}
}

func TestAValidationRecordIsTheDomains(t *testing.T) {
	w, later := timed(t)
	w.SetACMRecordDelay(time.Minute)
	key := newAccount(w)
	c := w.acm(key, "eu-west-1")
	arn := request(t, c, certificate("record.test", "*.record.test", "a.record.test"))
	for _, option := range described(t, c, arn).DomainValidationOptions {
		if option.ResourceRecord != nil {
			t.Errorf("%s has its record at once", *option.DomainName)
		}
	}
	*later = time.Minute
	got := described(t, c, arn)
	if !slices.Equal(got.SubjectAlternativeNames, []string{"record.test", "*.record.test", "a.record.test"}) ||
		len(got.DomainValidationOptions) != 3 {
		t.Fatalf("names %v", got.SubjectAlternativeNames)
	}
	record := func(c *acm.Client, domain string) types.ResourceRecord {
		arn := request(t, c, certificate(domain))
		*later += time.Minute
		return *described(t, c, arn).DomainValidationOptions[0].ResourceRecord
	}
	want := *got.DomainValidationOptions[0].ResourceRecord
	for name, tc := range map[string]struct {
		got  types.ResourceRecord
		same bool
	}{
		"its wildcard":       {*got.DomainValidationOptions[1].ResourceRecord, true},
		"a name below":       {*got.DomainValidationOptions[2].ResourceRecord, false},
		"a second request":   {record(c, "record.test"), true},
		"another region":     {record(w.acm(key, "us-east-1"), "*.record.test"), true},
		"another account":    {record(w.acm(newAccount(w), "eu-west-1"), "record.test"), false},
		"a domain it is not": {record(c, "other.test"), false},
	} {
		if same := *tc.got.Name == *want.Name && *tc.got.Value == *want.Value; same != tc.same {
			t.Errorf("%s: %s %s, while that of the domain is %s %s", name, *tc.got.Name, *tc.got.Value, *want.Name,
				*want.Value)
		}
	}
	if !strings.HasSuffix(*want.Name, ".record.test.") || want.Type != types.RecordTypeCname {
		t.Errorf("the record is %s %s", want.Type, *want.Name)
	}
}

func TestACertificateIsIssuedOnceItsRecordsArePublic(t *testing.T) {
	w, later := timed(t)
	c, zones := w.acm(newAccount(w), "eu-west-1"), w.route53(newAccount(w))
	arn := request(t, c, certificate("a.issue.test", "b.issue.test"))
	*later = 2 * time.Hour // moto would have issued it
	pending := described(t, c, arn)
	private, err := zones.CreateHostedZone(t.Context(), privateZone(t, "issue.test"))
	must(t, err)
	for name, step := range map[string]func() error{
		"nothing published": func() error { return nil },
		"in a private zone": func() error {
			_, err := change(t, zones, *private.HostedZone.Id, validation(creates, pending, 0),
				validation(creates, pending, 1))
			return err
		},
		"in a zone beside": func() error {
			_, err := change(t, zones, newZone(t, zones, "c.issue.test"),
				plain(creates, "CNAME", "_x.c.issue.test", "x.test"))
			return err
		},
	} {
		must(t, step())
		*later += time.Hour
		if got := described(t, c, arn); got.Status != types.CertificateStatusPendingValidation || got.IssuedAt != nil ||
			got.NotAfter != nil {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
	_, err = c.GetCertificate(t.Context(), &acm.GetCertificateInput{CertificateArn: &arn})
	wantCode(t, err, "RequestInProgressException")

	public := newZone(t, zones, "issue.test")
	_, err = change(t, zones, public, validation(creates, pending, 0),
		plain(creates, "CNAME", *pending.DomainValidationOptions[1].ResourceRecord.Name, "wrong.test"))
	must(t, err)
	*later += time.Hour
	if got := described(t, c, arn); got.Status != types.CertificateStatusPendingValidation {
		t.Errorf("with one record of two: %s", got.Status)
	}
	_, err = change(t, zones, public, validation(upserts, pending, 1))
	must(t, err)
	if got := described(t, c, arn); got.Status != types.CertificateStatusPendingValidation {
		t.Errorf("at once: %s", got.Status)
	}
	*later += time.Minute // counted from the record's creation, although nothing described the certificate since
	got := described(t, c, arn)
	if got.Status != types.CertificateStatusIssued || got.IssuedAt == nil {
		t.Fatalf("validated: %+v", got)
	}
	if !got.NotAfter.After(*got.NotBefore) {
		t.Errorf("valid from %s to %s", got.NotBefore, got.NotAfter)
	}
	if got := got.DomainValidationOptions[1].ValidationStatus; got != types.DomainStatusSuccess {
		t.Errorf("the second name is %s, want %s", got, types.DomainStatusSuccess)
	}
	_, err = c.GetCertificate(t.Context(), &acm.GetCertificateInput{CertificateArn: &arn})
	must(t, err)
	_, err = change(t, zones, public, validation(removes, pending, 0), validation(removes, pending, 1))
	must(t, err)
	if got := described(t, c, arn); got.Status != types.CertificateStatusIssued {
		t.Errorf("once the records are gone: %s", got.Status)
	}
}

func TestACertificateIsNotIssuedWithoutAReason(t *testing.T) {
	w, later := timed(t)
	key := newAccount(w)
	c := w.acm(key, "eu-west-1")
	email := certificate("email.why.test")
	email.ValidationMethod = ""
	arns := map[string]string{
		"timed out": request(t, c, certificate("late.why.test")),
		"failed":    request(t, c, certificate("caa.why.test")),
		"by e-mail": request(t, c, email),
	}
	tagged := certificate("tagged.why.test")
	tagged.Tags = []types.Tag{{Key: aws.String("owner"), Value: aws.String("me")}}
	arns["tagged"] = request(t, c, tagged)
	w.FailCertificate(arns["failed"], "FAILED", "CAA_ERROR")
	if got := described(t, c, arns["failed"]); got.Status != types.CertificateStatusFailed ||
		got.FailureReason != types.FailureReasonCaaError ||
		got.DomainValidationOptions[0].ValidationStatus != types.DomainStatusFailed {
		t.Errorf("failed: %s %s", got.Status, got.FailureReason)
	}
	if got := described(t, c, arns["by e-mail"]); got.DomainValidationOptions[0].ResourceRecord != nil ||
		got.DomainValidationOptions[0].ValidationMethod != types.ValidationMethodEmail {
		t.Errorf("by e-mail: %+v", got.DomainValidationOptions[0])
	}
	tags, err := c.ListTagsForCertificate(t.Context(), &acm.ListTagsForCertificateInput{
		CertificateArn: aws.String(arns["tagged"]),
	})
	must(t, err)
	if len(tags.Tags) != 1 || *tags.Tags[0].Value != "me" {
		t.Errorf("tags %v", tags.Tags)
	}
	w.FailCertificate(arns["tagged"], "VALIDATION_TIMED_OUT", "")
	list := func(statuses ...types.CertificateStatus) (out []string) {
		pages := acm.NewListCertificatesPaginator(
			c, &acm.ListCertificatesInput{CertificateStatuses: statuses, MaxItems: aws.Int32(1)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			must(t, err)
			if len(page.CertificateSummaryList) > 1 {
				t.Errorf("a page of %d", len(page.CertificateSummaryList))
			}
			for _, is := range page.CertificateSummaryList {
				out = append(out, *is.DomainName)
			}
		}
		slices.Sort(out)
		return out
	}
	for _, tc := range []struct {
		later  time.Duration
		status types.CertificateStatus
		want   []string
	}{
		{0, types.CertificateStatusPendingValidation, []string{"email.why.test", "late.why.test"}},
		{0, types.CertificateStatusIssued, nil},
		{0, types.CertificateStatusFailed, []string{"caa.why.test"}},
		{72 * time.Hour, types.CertificateStatusValidationTimedOut, []string{"email.why.test", "late.why.test", "tagged.why.test"}},
	} {
		*later = tc.later
		if got := list(tc.status); !slices.Equal(got, tc.want) {
			t.Errorf("after %s %s are %v, want %v", tc.later, tc.status, got, tc.want)
		}
	}
}
