package route53

import (
	"fmt"
	"slices"
)

// changeBatch applies a batch of changes to the records of a zone, and records what Route 53 refuses.
type changeBatch struct {
	zone     string
	had, has map[setKey]recordSet
	actions  map[setKey][]string
	order    []setKey // of the sets changed
	problems problems
}

func newBatch(zone string, sets []recordSet) *changeBatch {
	b := &changeBatch{
		zone: zone, had: map[setKey]recordSet{}, has: map[setKey]recordSet{}, actions: map[setKey][]string{},
	}
	for _, set := range sets {
		b.had[set.key()], b.has[set.key()] = set, set
	}
	return b
}

func (b *changeBatch) refuse(format string, args ...any) {
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

func (b *changeBatch) apply(c change) {
	key := c.Set.key()
	if len(b.actions[key]) == 0 {
		b.order = append(b.order, key)
	}
	b.actions[key] = append(b.actions[key], c.Action)
	switch before := b.actions[key]; {
	case !within(key.name, b.zone):
		b.refuse("RRSet with DNS name %s is not permitted in zone %s", key.name, b.zone)
	case len(before) > 2 || (len(before) == 2 && (before[0] != "DELETE" || before[1] == "DELETE")):
		b.refuse("The request contains an invalid set of changes for a resource record set '%s %s'", key.kind, key.name)
	case c.Action == "DELETE":
		b.remove(c.Set)
	default:
		b.put(c)
	}
}

// remove judges a DELETE without regard to later changes in the batch: only an UPSERT can replace the apex's NS.
func (b *changeBatch) remove(set recordSet) {
	key := set.key()
	switch is, there := b.has[key]; {
	case !there:
		b.refuse("Tried to delete resource record set %s but it was not found", key.describe())
	case !is.same(set):
		b.refuse("Tried to delete resource record set %s but the values provided do not match the current values",
			key.describe())
	case key.name == b.zone && key.kind == "SOA":
		b.refuse("A HostedZone must contain exactly one SOA record.")
	case key.name == b.zone && key.kind == "NS":
		b.refuse("A HostedZone must contain at least one NS record for the zone itself.")
	default:
		delete(b.has, key)
	}
}

func (b *changeBatch) put(c change) {
	key := c.Set.key()
	if _, there := b.has[key]; there && c.Action == "CREATE" {
		b.refuse("Tried to create resource record set %s but it already exists", key.describe())
		return
	}
	if why := badName(key.name); why != "" {
		b.refuse("%s", why)
	}
	b.problems = append(b.problems, badValues(c.Set)...)
	if key.kind == "CNAME" && key.name == b.zone {
		b.refuse("RRSet of type CNAME with DNS name %s is not permitted at apex in zone %s", key.name, b.zone)
		return
	}
	b.beside(key)
	b.has[key] = c.Set
}

// beside refuses a record set that conflicts with one of the same name.
func (b *changeBatch) beside(key setKey) {
	for other := range b.has {
		switch {
		case other.name != key.name || other == key:
		case key.kind == "CNAME" && other.kind != "CNAME":
			b.refuse("RRSet of type CNAME with DNS name %s is not permitted as it conflicts with other records with "+
				"the same DNS name in zone %s", key.name, b.zone)
			return
		case other.kind == "CNAME" && key.kind != "CNAME":
			b.refuse("RRSet of type %s with DNS name %s is not permitted because a conflicting RRSet of type  CNAME "+
				"with the same DNS name already exists in zone %s", key.kind, key.name, b.zone)
			return
		case other.kind == key.kind && (other.id == "") != (key.id == ""):
			b.refuse("RRSet with DNS name %s, type %s, SetIdentifier %s cannot be created as other RRSets exist with "+
				"the same name and type.", key.name, key.kind, key.id)
			return
		}
	}
}

// motoChange is a change in the order in which moto reads it.
type motoChange struct {
	Action string
	Set    recordSet `xml:"ResourceRecordSet"`
}

// effect returns the batch in a form that moto applies correctly: it deletes the removed sets as moto has them, and
// upserts the remaining ones, so that moto need not judge.
func (b *changeBatch) effect() []motoChange {
	var gone, put []motoChange
	dropped := map[string]bool{} // identifiers whose sets moto deletes all at once
	for _, key := range b.order {
		if set, there := b.has[key]; there {
			put = append(put, motoChange{"UPSERT", set})
		} else if was, had := b.had[key]; had {
			gone = append(gone, motoChange{"DELETE", was})
			dropped[key.id] = key.id != ""
		}
	}
	for key, set := range b.has {
		if dropped[key.id] && !slices.Contains(b.order, key) {
			put = append(put, motoChange{"UPSERT", set})
		}
	}
	return append(gone, put...)
}
