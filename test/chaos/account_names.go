package chaos

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/test/stack"
)

// record is a record set of the zone.
type record struct {
	name, sort, config string
	proof              bool // validates a domain for ACM
}

// records lists the zone's record sets, without those that every zone has.
func (a *account) records(ctx context.Context) (all []record, err error) {
	pages := route53.NewListResourceRecordSetsPaginator(a.dns, &route53.ListResourceRecordSetsInput{
		HostedZoneId: &a.zone,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list records: %w", err)
		}
		for i := range page.ResourceRecordSets {
			set := &page.ResourceRecordSets[i]
			if set.Type == types.RRTypeNs || set.Type == types.RRTypeSoa {
				continue
			}
			all = append(all, record{
				name: dnsname.Canonical(aws.ToString(set.Name)), sort: string(set.Type), config: text(set),
				proof: set.Type == types.RRTypeCname && strings.Contains(text(set), "acm-validations"),
			})
		}
	}
	return all, nil
}

// certificates returns the domains of all certificates by ARN.
func (a *account) certificates(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	pages := acm.NewListCertificatesPaginator(a.acm, &acm.ListCertificatesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list certificates: %w", err)
		}
		for _, c := range page.CertificateSummaryList {
			all[aws.ToString(c.CertificateArn)] = aws.ToString(c.DomainName)
		}
	}
	return all, nil
}

// theirRecord is a record in the zone that Portico does not own.
const theirRecord = "theirs." + stack.Domain

func (a *account) makeRecord(ctx context.Context) error {
	_, err := a.dns.ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: &a.zone, ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{
			Action: types.ChangeActionCreate, ResourceRecordSet: &types.ResourceRecordSet{
				Name: aws.String(theirRecord), Type: types.RRTypeTxt, TTL: aws.Int64(300),
				ResourceRecords: []types.ResourceRecord{{Value: aws.String(`"theirs"`)}},
			},
		}}},
	})
	return err
}
