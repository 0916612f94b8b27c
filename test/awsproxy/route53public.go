package awsproxy

import "context"

// publicDNS answers as public resolvers would, from the zones that existed when it was created.
type publicDNS struct {
	service *route53Service
	zones   []publicZone
}

type publicZone struct{ account, id, name string }

// public lists the public zones of all accounts.
func (s *route53Service) public(ctx context.Context) (*publicDNS, error) {
	d := &publicDNS{service: s}
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

// has reports whether a zone that contains the name has the CNAME.
func (d *publicDNS) has(ctx context.Context, name, value string) (bool, error) {
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
