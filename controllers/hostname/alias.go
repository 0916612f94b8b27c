package hostname

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/dns"
)

// records are the record sets that the zone has for the hostname.
type records struct {
	addresses []dns.Set // A and AAAA
	other     []dns.Set // conflicts with address records: a CNAME
	owner     dns.Set   // the TXT record that names the owner
	owned     bool      // owner exists
	ours      bool      // owner names this request
}

// readRecords reads the records of the hostname with read, which is Zones.Records or Zones.ExactRecords.
func (r *reconciliation) readRecords(ctx context.Context, read func(ctx context.Context, zone, name string) (
	[]dns.Set, error),
) (records, error) {
	var found records
	at, err := read(ctx, r.zone.ID, r.name.String())
	if err != nil {
		return found, err
	}
	for _, s := range at {
		switch s.Type {
		case types.RRTypeA, types.RRTypeAaaa:
			found.addresses = append(found.addresses, s)
		case types.RRTypeCname:
			found.other = append(found.other, s)
		default: // can coexist with ours: MX, TXT, CAA and so on
		}
	}
	if len(found.addresses) > 0 {
		read = r.account.Zones.ExactRecords // ownership must come from an exact read
	}
	notes, err := read(ctx, r.zone.ID, r.name.Ownership())
	if err != nil {
		return found, err
	}
	if found.owner, found.owned = dns.OfType(notes, types.RRTypeTxt); found.owned {
		found.ours = slices.Equal(dns.Values(found.owner), []string{r.ownershipValue()})
	}
	return found, nil
}

// ownershipValue returns the value of the TXT record: the cluster, and the UID of the request that claims the hostname.
func (r *reconciliation) ownershipValue() string {
	return fmt.Sprintf("heritage=portico,portico/cluster=%s,portico/request=%s", r.account.Cluster, r.req.HolderUID())
}

// refuseForeign returns an error if the records found belong to somebody else, or conflict with ours.
func (r *reconciliation) refuseForeign(found records) error {
	var what string
	switch {
	case found.owned && !found.ours:
		what = fmt.Sprintf("the TXT record %s says that the hostname is another's (%s)", r.name.Ownership(),
			strings.Join(dns.Values(found.owner), " "))
	case !found.ours && len(found.addresses) > 0:
		what = fmt.Sprintf("the zone %s has address records of %s already, and no TXT record %s that says that they "+
			"are ours", r.zone.Name, r.name, r.name.Ownership())
	case len(found.other) > 0:
		what = fmt.Sprintf("the zone %s has a CNAME record of %s", r.zone.Name, r.name)
	default:
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonConflict, "%s. Portico leaves them alone: delete them if nothing needs "+
		"them, or request another hostname and delete this object", what)
}

// wantedRecords returns the alias records for the load balancer.
func (r *reconciliation) wantedRecords() []dns.Set {
	lb := r.pool.Status.LoadBalancer
	return []dns.Set{
		dns.Alias(r.name.String(), types.RRTypeA, lb.ZoneID, lb.DNSName),
		dns.Alias(r.name.String(), types.RRTypeAaaa, lb.ZoneID, lb.DNSName),
	}
}

// ensureAlias points the hostname at the load balancer, and waits until every name server has the records.
func (r *reconciliation) ensureAlias(ctx context.Context) (string, error) {
	found, err := r.readRecords(ctx, r.account.Zones.Records)
	if err != nil {
		return "", err
	}
	if err := r.refuseForeign(found); err != nil {
		return "", err
	}
	s, lb := &r.req.Status, r.pool.Status.LoadBalancer.DNSName
	changes, why := r.planChanges(found)
	if len(changes) == 0 && r.answerLost(lb) {
		// Replacing the TXT record by itself returns a change ID to poll.
		changes = []types.Change{dns.Delete(found.owner), dns.Create(found.owner)}
	}
	if len(changes) > 0 {
		if err := r.sendChanges(ctx, changes); err != nil {
			return "", err
		}
		if s.LoadBalancer == lb {
			r.pass.Repaired(v1alpha1.ReasonRepaired, "ChangeRecords", "%s; it was changed outside Portico", why)
		}
	}
	if err := r.checkPropagated(ctx, "the records are written; the name servers take them over"); err != nil {
		return "", err
	}
	s.DNSChange, s.LoadBalancer, s.URL = "", lb, ""
	if !r.name.Wildcard() {
		s.URL = "https://" + r.name.String()
		if port := r.pool.Status.PublicPort; port != 0 {
			s.URL += ":" + strconv.Itoa(int(port))
		}
	}
	return fmt.Sprintf("%s leads to %s", r.name, lb), nil
}

// answerLost reports whether the records are correct but perhaps not propagated yet, because the response to the change
// was lost. Records of a lost cluster have propagated long ago.
func (r *reconciliation) answerLost(lb string) bool {
	s := &r.req.Status
	return s.DNSChange == "" && s.LoadBalancer != lb && (s.LoadBalancer != "" || !r.req.Restored())
}

// planChanges returns the changes from the records found to the wanted ones, and why they are needed. Each change
// deletes exactly the record that was read, so that the batch fails if a record has changed.
func (r *reconciliation) planChanges(found records) (changes []types.Change, why string) {
	var texts []string
	for _, w := range r.wantedRecords() {
		have := dns.AllOfType(found.addresses, w.Type) // more than one if somebody has created weighted records
		if len(have) == 1 && dns.Same(have[0], w) {
			continue
		}
		text := "the %s record was missing"
		for _, h := range have {
			changes, text = append(changes, dns.Delete(h)), "the %s record led elsewhere"
		}
		changes, texts = append(changes, dns.Create(w)), append(texts, fmt.Sprintf(text, w.Type))
	}
	if !found.owned {
		changes = append(changes, dns.Create(dns.Text(r.name.Ownership(), r.ownershipValue())))
		texts = append(texts, "the TXT record was missing")
	}
	return changes, strings.Join(texts, ", ")
}

// sendChanges sends the changes as one batch; Route 53 refuses it if somebody else has changed the records meanwhile.
func (r *reconciliation) sendChanges(ctx context.Context, changes []types.Change) error {
	if err := r.pass.SaveStatus(ctx); err != nil {
		return err
	}
	id, err := r.account.Zones.Change(ctx, r.zone.ID, changes...)
	if dns.IsRefused(err) {
		return r.replanRefused(ctx, err, changes, func(now records) ([]types.Change, error) {
			again, _ := r.planChanges(now)
			return again, r.refuseForeign(now)
		})
	}
	if err != nil {
		return err
	}
	r.req.Status.DNSChange = id
	return nil
}

// deleteAlias deletes the records that point at the load balancer, exactly as they were read, and only if we own them.
func (r *reconciliation) deleteAlias(ctx context.Context) error {
	if r.certificateStatus() == nil {
		return nil
	}
	var err error
	var found records
	r.zone, err = r.account.Zones.Zone(ctx, string(r.req.Spec.ZoneID))
	if err == nil { // the zone may be a cached copy
		found, err = r.readRecords(ctx, r.account.Zones.ExactRecords) // a record that is not read would be left behind
	}
	if cloud.IsNotFound(err) { // the zone is gone, and its records with it
		r.req.Status.LoadBalancer, r.req.Status.URL = "", ""
		return nil
	}
	if err != nil {
		return err
	}
	s := &r.req.Status
	if found.ours {
		changes := found.deletions()
		if s.DNSChange, err = r.account.Zones.Change(ctx, r.zone.ID, changes...); dns.IsRefused(err) {
			return r.replanRefused(ctx, err, changes, func(r records) ([]types.Change, error) {
				return r.deletions(), nil
			})
		} else if err != nil {
			return err
		}
	} else if len(found.addresses) > 0 && s.LoadBalancer != "" {
		r.pass.Warning(v1alpha1.ReasonRecordsLeft, "DeleteRecords", "the address records of %s stay: no TXT record "+
			"%s says that they are ours any more", r.name, r.name.Ownership())
	}
	s.LoadBalancer, s.URL = "", ""
	if err := r.checkPropagated(ctx, "the records are deleted; the name servers take it over"); err != nil {
		return err
	}
	s.DNSChange = ""
	return nil
}

// checkPropagated returns a WaitError until every name server has the latest change.
func (r *reconciliation) checkPropagated(ctx context.Context, pending string) error {
	change := r.req.Status.DNSChange
	if change == "" {
		return nil
	}
	arrived, again, err := r.account.Zones.ChangeInSync(ctx, change)
	if err != nil || arrived {
		return err
	}
	return engine.Wait(v1alpha1.ReasonPropagating, again, "%s, which usually takes less than a minute", pending)
}

func (r records) deletions() []types.Change {
	all := []types.Change{dns.Delete(r.owner)}
	for _, a := range r.addresses {
		all = append(all, dns.Delete(a))
	}
	return all
}

// replanRefused plans the changes again after Route 53 refused them, because an attempt whose response was lost or
// somebody's edit had changed the records. If the new plan equals the old one, it blocks: the same change would be
// refused for ever.
func (r *reconciliation) replanRefused(ctx context.Context, cause error, sent []types.Change,
	plan func(now records) ([]types.Change, error),
) error {
	now, err := r.readRecords(ctx, r.account.Zones.ExactRecords)
	if err != nil {
		return err
	}
	again, err := plan(now)
	switch {
	case err != nil:
		return err
	case reflect.DeepEqual(again, sent):
		return engine.Blocked(v1alpha1.ReasonRefused, "Route 53 refuses a change of the records of %s: %s. Ask a "+
			"platform admin", r.name, dns.RefusalMessage(cause))
	default:
		return engine.Wait(v1alpha1.ReasonSettling, time.Second, "the records of %s changed in the meantime, and are "+
			"read again", r.name)
	}
}
