// Package cert requests certificates from AWS Certificate Manager, each once: an account can request about a thousand a
// year.
package cert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/controllers/cloud"
)

// API is the part of the ACM client that is used.
type API interface {
	RequestCertificate(context.Context, *acm.RequestCertificateInput, ...func(*acm.Options)) (
		*acm.RequestCertificateOutput, error)
	DescribeCertificate(context.Context, *acm.DescribeCertificateInput, ...func(*acm.Options)) (
		*acm.DescribeCertificateOutput, error)
	DeleteCertificate(context.Context, *acm.DeleteCertificateInput, ...func(*acm.Options)) (
		*acm.DeleteCertificateOutput, error)
}

// TagAPI finds resources by their tags.
type TagAPI interface {
	GetResources(context.Context, *resourcegroupstaggingapi.GetResourcesInput,
		...func(*resourcegroupstaggingapi.Options)) (*resourcegroupstaggingapi.GetResourcesOutput, error)
}

// TokenLife is how long a request with the same token returns the same certificate; ACM documents an hour.
const TokenLife = 55 * time.Minute

// Certificates are the certificates of one account and region.
type Certificates struct {
	ACM  API
	Tags TagAPI
}

// Certificate is a certificate as ACM shows it.
type Certificate struct {
	ARN       string
	Status    types.CertificateStatus
	Reason    string // why it failed
	Record    Record // the CNAME that proves the domain; zero just after the request
	InUse     bool
	NotBefore *time.Time
	NotAfter  *time.Time
	Renewal   string
}

// Record is a CNAME record.
type Record struct{ Name, Value string }

// Issued reports whether load balancers accept the certificate.
func (c Certificate) Issued() bool { return c.Status == types.CertificateStatusIssued }

// Failed reports whether ACM has given up on the request; such a certificate was never in use.
func (c Certificate) Failed() bool {
	return c.Status == types.CertificateStatusFailed || c.Status == types.CertificateStatusValidationTimedOut
}

// Over reports whether the certificate was issued once and is no longer valid.
func (c Certificate) Over() bool {
	return c.Status == types.CertificateStatusExpired || c.Status == types.CertificateStatusRevoked ||
		c.Status == types.CertificateStatusInactive
}

// Token returns the idempotency token of an attempt: ACM treats requests with the same token as one, for TokenLife.
func Token(uid string, attempt int32) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", uid, attempt))
	return hex.EncodeToString(sum[:16])
}

// Request requests a certificate, or returns the one requested earlier with the same token.
func (c Certificates) Request(ctx context.Context, name dnsname.Name, token string, tags map[string]string) (
	string, error,
) {
	in := &acm.RequestCertificateInput{
		DomainName: aws.String(name.String()), ValidationMethod: types.ValidationMethodDns, IdempotencyToken: &token,
		Tags: cloud.TagList(tags, func(key, value *string) types.Tag { return types.Tag{Key: key, Value: value} }),
	}
	out, err := c.ACM.RequestCertificate(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.CertificateArn), nil
}

// Describe returns the certificate, or nil if it does not exist.
func (c Certificates) Describe(ctx context.Context, arn string) (*Certificate, error) {
	out, err := c.ACM.DescribeCertificate(ctx, &acm.DescribeCertificateInput{CertificateArn: &arn})
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := out.Certificate
	seen := &Certificate{
		ARN: arn, Status: d.Status, Reason: string(d.FailureReason), InUse: len(d.InUseBy) > 0,
		NotBefore: d.NotBefore, NotAfter: d.NotAfter,
	}
	for _, o := range d.DomainValidationOptions {
		if r := o.ResourceRecord; r != nil {
			seen.Record = Record{
				Name:  dnsname.Canonical(aws.ToString(r.Name)),
				Value: dnsname.Canonical(aws.ToString(r.Value)),
			}
		}
	}
	if d.RenewalSummary != nil {
		seen.Renewal = string(d.RenewalSummary.RenewalStatus)
	}
	return seen, nil
}

// Delete deletes the certificate; no error if it does not exist. AWS refuses while the certificate is in use.
func (c Certificates) Delete(ctx context.Context, arn string) error {
	_, err := c.ACM.DeleteCertificate(ctx, &acm.DeleteCertificateInput{CertificateArn: &arn})
	if cloud.IsNotFound(err) {
		return nil
	}
	return err
}

// Find returns the ARNs of all certificates with all these tags, sorted.
func (c Certificates) Find(ctx context.Context, tags map[string][]string) ([]string, error) {
	in := &resourcegroupstaggingapi.GetResourcesInput{ResourceTypeFilters: []string{"acm:certificate"}}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		in.TagFilters = append(in.TagFilters, tagging.TagFilter{Key: &key, Values: tags[key]})
	}
	var all []string
	pages := resourcegroupstaggingapi.NewGetResourcesPaginator(c.Tags, in)
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range out.ResourceTagMappingList {
			all = append(all, aws.ToString(r.ResourceARN))
		}
	}
	slices.Sort(all)
	return all, nil
}
