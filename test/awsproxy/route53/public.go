package route53

import (
	"context"
)

// PublicDNS answers as public resolvers would, from the zones that existed when it was created.
type PublicDNS struct {
	service *Service
	zones   []publicZone
}

type publicZone struct{ account, id, name string }

// PublicDNS lists the public zones of all accounts.
func (s *Service) PublicDNS(ctx context.Context) (*PublicDNS, error) {
	d := &PublicDNS{service: s}
	for _, account := range s.accounts() {
		zones, err := s.zones(ctx, account)
		if err != nil {
			return nil, err
		}
		for _, z := range zones {
			if !z.Private {
				d.zones = append(d.zones, publicZone{account, z.id(), dnsName(z.Name)})
			}
		}
	}
	return d, nil
}

// Has reports whether a zone that contains the name has the CNAME.
func (d *PublicDNS) Has(ctx context.Context, name, value string) (bool, error) {
	for _, zone := range d.zones {
		if !within(name, zone.name) {
			continue
		}
		sets, err := d.service.sets(ctx, zone.account, zone.id, name)
		if err != nil {
			return false, err
		}
		for _, set := range sets {
			if set.Type == "CNAME" && len(set.ResourceRecords) == 1 && dnsName(set.ResourceRecords[0].Value) == value {
				return true, nil
			}
		}
	}
	return false, nil
}
