package route53

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// changeRequest is the body of ChangeResourceRecordSets.
type changeRequest struct {
	Comment string   `xml:"ChangeBatch>Comment"`
	Changes []change `xml:"ChangeBatch>Changes>Change"`
}

// change serves ChangeResourceRecordSets.
func (s *Service) change(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	zone := x.Call.Resource
	if !s.begin(zone) {
		return x.Fail(http.StatusBadRequest, "PriorRequestNotComplete", "The request was rejected because Route 53 "+
			"was still processing a prior request."), nil
	}
	defer s.finish(zone)
	defer s.locks.Lock(zone, true)()
	is, err := s.zone(ctx, x.Call.Account, zone)
	if err != nil {
		return nil, err
	}
	if is == nil {
		return next(ctx) // moto reports that it does not exist
	}
	var request changeRequest
	if err := xml.Unmarshal(x.Body, &request); err != nil {
		return x.Fail(http.StatusBadRequest, "MalformedInput", "The XML you provided was not well-formed: "+
			err.Error()), nil
	}
	if refusal := refuseShape(x, request.Changes); refusal != nil {
		return refusal, nil
	}
	names, err := s.apply(ctx, x.Call.Account, is, request.Changes)
	if refused, ok := errors.AsType[problems](err); ok {
		return x.Fail(http.StatusBadRequest, "InvalidChangeBatch", refused.Error()), nil
	}
	if err != nil {
		return nil, err
	}
	id := s.accept(x.Call.Account, request.Comment)
	s.changed(ctx, names)
	s.mu.Lock()
	made := s.changes[id]
	s.mu.Unlock()
	return changeReply("ChangeResourceRecordSetsResponse", id, made, false), nil
}

// refuseShape refuses a batch for what is wrong regardless of the zone's records, and normalizes names.
func refuseShape(x *wire.Exchange, changes []change) *wire.Reply {
	if len(changes) == 0 {
		return x.Fail(http.StatusBadRequest, "InvalidInput", "Invalid XML ; the element 'Changes' must have at least "+
			"one 'Change'.")
	}
	for i := range changes {
		changes[i].Set = changes[i].Set.kept()
		if why := changes[i].misshapen(); why != "" {
			return x.Fail(http.StatusBadRequest, "InvalidInput", why)
		}
	}
	if why := tooMuch(changes); why != "" {
		return x.Fail(http.StatusBadRequest, "InvalidChangeBatch", why)
	}
	return nil
}

// problems are the errors of a batch.
type problems []string

// Error lists them as Route 53 does.
func (p problems) Error() string { return "[" + strings.Join(p, ", ") + "]" }

// apply judges the batch and makes all of its changes, or returns the problems and makes none.
func (s *Service) apply(ctx context.Context, account string, zone *hostedZone, changes []change) (
	names []string, err error,
) {
	identified := false
	for _, c := range changes {
		names = append(names, c.Set.Name)
		identified = identified || c.Set.SetIdentifier != ""
	}
	slices.Sort(names)
	names = slices.Compact(names)
	wanted := names
	if identified { // moto deletes all sets with the identifier, whatever their names
		wanted = nil
	}
	has, err := s.sets(ctx, account, zone.id(), wanted...)
	if err != nil {
		return nil, err
	}
	b := newBatch(dnsName(zone.Name), has)
	for _, c := range changes {
		b.apply(c)
	}
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	for _, batch := range batches(b.effect()) {
		if err := s.commit(ctx, account, zone.id(), batch); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// batches splits the changes for moto: of the values that moto counts, those of an UPSERT count twice, and every
// CREATE has become one.
func batches(changes []motoChange) [][]motoChange {
	var out [][]motoChange
	values := 0
	for _, c := range changes {
		n := 2 * len(c.Set.ResourceRecords)
		if values += n; len(out) == 0 || values > maxBatchRecords {
			out, values = append(out, nil), n
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

func (s *Service) commit(ctx context.Context, account, zone string, changes []motoChange) error {
	body, err := xml.Marshal(struct {
		XMLName xml.Name     `xml:"https://route53.amazonaws.com/doc/2013-04-01/ ChangeResourceRecordSetsRequest"`
		Changes []motoChange `xml:"ChangeBatch>Changes>Change"`
	}{Changes: changes})
	if err != nil {
		return fmt.Errorf("write the batch for zone %s: %w", zone, err)
	}
	r, err := s.ask(ctx, account, http.MethodPost, "hostedzone/"+zone+"/rrset/", nil, string(body))
	if err != nil {
		return err
	}
	if r.Status != http.StatusOK {
		return fmt.Errorf("make the changes in zone %s: %d %s", zone, r.Status, r.Body)
	}
	return nil
}
