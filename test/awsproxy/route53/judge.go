package route53

import (
	"fmt"
	"slices"
)

// judge applies a batch to the records of a zone, and records what Route 53 refuses.
type judge struct {
	zone     string
	had, has map[setKey]recordSet
	actions  map[setKey][]string
	order    []setKey // of the sets changed
	problems problems
}

func newJudge(zone string, sets []recordSet) *judge {
	j := &judge{zone: zone, had: map[setKey]recordSet{}, has: map[setKey]recordSet{}, actions: map[setKey][]string{}}
	for _, set := range sets {
		j.had[set.key()], j.has[set.key()] = set, set
	}
	return j
}

func (j *judge) refuse(format string, args ...any) {
	j.problems = append(j.problems, fmt.Sprintf(format, args...))
}

func (j *judge) judge(c change) {
	key := c.Set.key()
	if len(j.actions[key]) == 0 {
		j.order = append(j.order, key)
	}
	j.actions[key] = append(j.actions[key], c.Action)
	switch before := j.actions[key]; {
	case !within(key.name, j.zone):
		j.refuse("RRSet with DNS name %s is not permitted in zone %s", key.name, j.zone)
	case len(before) > 2 || (len(before) == 2 && (before[0] != "DELETE" || before[1] == "DELETE")):
		j.refuse("The request contains an invalid set of changes for a resource record set '%s %s'", key.kind, key.name)
	case c.Action == "DELETE":
		j.remove(c.Set)
	default:
		j.put(c)
	}
}

// remove judges a DELETE without regard to later changes in the batch: only an UPSERT can replace the apex's NS.
func (j *judge) remove(set recordSet) {
	key := set.key()
	switch is, there := j.has[key]; {
	case !there:
		j.refuse("Tried to delete resource record set %s but it was not found", key.describe())
	case !is.same(set):
		j.refuse("Tried to delete resource record set %s but the values provided do not match the current values",
			key.describe())
	case key.name == j.zone && key.kind == "SOA":
		j.refuse("A HostedZone must contain exactly one SOA record.")
	case key.name == j.zone && key.kind == "NS":
		j.refuse("A HostedZone must contain at least one NS record for the zone itself.")
	default:
		delete(j.has, key)
	}
}

func (j *judge) put(c change) {
	key := c.Set.key()
	if _, there := j.has[key]; there && c.Action == "CREATE" {
		j.refuse("Tried to create resource record set %s but it already exists", key.describe())
		return
	}
	if why := badName(key.name); why != "" {
		j.refuse("%s", why)
	}
	j.problems = append(j.problems, badValues(c.Set)...)
	if key.kind == "CNAME" && key.name == j.zone {
		j.refuse("RRSet of type CNAME with DNS name %s is not permitted at apex in zone %s", key.name, j.zone)
		return
	}
	j.beside(key)
	j.has[key] = c.Set
}

// beside refuses a record set that conflicts with one of the same name.
func (j *judge) beside(key setKey) {
	for other := range j.has {
		switch {
		case other.name != key.name || other == key:
		case key.kind == "CNAME" && other.kind != "CNAME":
			j.refuse("RRSet of type CNAME with DNS name %s is not permitted as it conflicts with other records with "+
				"the same DNS name in zone %s", key.name, j.zone)
			return
		case other.kind == "CNAME" && key.kind != "CNAME":
			j.refuse("RRSet of type %s with DNS name %s is not permitted because a conflicting RRSet of type  CNAME "+
				"with the same DNS name already exists in zone %s", key.kind, key.name, j.zone)
			return
		case other.kind == key.kind && (other.id == "") != (key.id == ""):
			j.refuse("RRSet with DNS name %s, type %s, SetIdentifier %s cannot be created as other RRSets exist with "+
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
func (j *judge) effect() []motoChange {
	var gone, put []motoChange
	dropped := map[string]bool{} // identifiers whose sets moto deletes all at once
	for _, key := range j.order {
		if set, there := j.has[key]; there {
			put = append(put, motoChange{"UPSERT", set})
		} else if was, had := j.had[key]; had {
			gone = append(gone, motoChange{"DELETE", was})
			dropped[key.id] = key.id != ""
		}
	}
	for key, set := range j.has {
		if dropped[key.id] && !slices.Contains(j.order, key) {
			put = append(put, motoChange{"UPSERT", set})
		}
	}
	return append(gone, put...)
}
