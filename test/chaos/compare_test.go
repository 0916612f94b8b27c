package chaos

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// whole returns a picture in which nothing is wrong: two queues with owners, one retained, one orphaned, and one of
// another owner.
func whole() picture {
	queue := func(id, uid string) resource {
		r := resource{
			kind: "SQSQueue", id: id, config: "{}", tags: map[string]string{"team": "a"},
			fields: map[string]string{"delaySeconds": "5"},
		}
		if uid != "" {
			r.tags["portico.dev/uid"] = uid
		}
		return r
	}
	owner := func(id, uid string) object {
		return object{
			kind: "SQSQueue", name: "n/" + id, id: id, uid: uid, tags: map[string]string{
				"team": "a", "portico.dev/uid": uid,
			},
			fields: map[string]string{"delaySeconds": "5", "visibilityTimeout": "9"},
		}
	}
	return picture{
		objects:   []object{owner("one", "1"), owner("two", "2"), {kind: "SQSQueue", name: "n/theirs", uid: "3", foreign: true}},
		resources: []resource{queue("one", "1"), queue("two", "2"), queue("retained", "8"), queue("orphaned", ""), queue("theirs", "")},
		leaves:    func(uid string) bool { return uid == "8" },
		isFree:    func(r resource) bool { return r.id == "orphaned" },
		control:   map[string]string{"SQSQueue theirs": "{}"},
		hostnames: map[string]string{"a.portico.localhost": "arn"},
		records: []record{
			{name: theirRecord, sort: "TXT"},
			{name: "a.portico.localhost", sort: "A"},
			{name: "a.portico.localhost", sort: "AAAA"},
			{name: "_portico.a.portico.localhost", sort: "TXT"},
			{name: "_x.a.portico.localhost", sort: "CNAME", proof: true},
			{name: "_x.gone.portico.localhost", sort: "CNAME", proof: true},
		},
		certificates: map[string]string{"arn": "a.portico.localhost"},
		bindings:     map[string]string{"n/r0": "1"},
		rights:       rights{map[string]string{"n/r0": "1"}, map[string]string{"n": "portico-pods-n-1"}},
	}
}

func TestNothingIsFoundWhereNothingIsWrong(t *testing.T) {
	if wrong := whole().compare(); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
}

// TestEachHarmIsFound checks that compare reports each harm under its own name, and nothing else.
func TestEachHarmIsFound(t *testing.T) {
	without := func(all []resource, id string) []resource {
		return slices.DeleteFunc(slices.Clone(all), func(r resource) bool { return r.id == id })
	}
	changed := func(all []resource, id string, change func(*resource)) []resource {
		all = slices.Clone(all)
		at := slices.IndexFunc(all, func(r resource) bool { return r.id == id })
		all[at].tags = maps.Clone(all[at].tags)
		change(&all[at])
		return all
	}
	more := func(uid string, kind string) func(*picture) {
		return func(p *picture) {
			r := resource{kind: kind, id: "more", tags: map[string]string{}}
			if uid != "" {
				r.tags["portico.dev/uid"] = uid
			}
			p.resources = append(p.resources, r)
		}
	}
	for want, harm := range map[string]func(*picture){
		"orphan: SQSQueue more belongs to the object 9":                     more("9", "SQSQueue"),
		"orphan: SQSQueue more has no marks":                                more("", "SQSQueue"),
		"duplicate: the SQSQueue n/one owns SQSQueue one and SQSQueue more": more("1", "SQSQueue"),
		"duplicate: SNSTopic more has the marks of the SQSQueue n/one":      more("1", "SNSTopic"),
		"missing: the SQSQueue n/one": func(p *picture) {
			p.resources = without(p.resources, "one")
		},
		"touched: somebody else's SQSQueue theirs is gone": func(p *picture) {
			p.resources = without(p.resources, "theirs")
		},
		"touched: somebody else's SQSQueue theirs was {}, and is x": func(p *picture) {
			p.resources = changed(p.resources, "theirs", func(r *resource) { r.config = "x" })
		},
		`the tag team="b", not "a"`: func(p *picture) {
			p.resources = changed(p.resources, "two", func(r *resource) { r.tags["team"] = "b" })
		},
		`has delaySeconds "7", not "5"`: func(p *picture) {
			p.resources = changed(p.resources, "two", func(r *resource) {
				r.fields = map[string]string{"delaySeconds": "7"}
			})
		},
		"missing: the association of n/r0": func(p *picture) { p.rights.associations = nil },
		"orphan: the association of n/r0 belongs to the object 9, not 1": func(p *picture) {
			p.rights.associations = map[string]string{"n/r0": "9"}
		},
		"orphan: the association of n/r1": func(p *picture) {
			p.rights.associations = map[string]string{"n/r0": "1", "n/r1": "2"}
		},
		"missing: the role of n": func(p *picture) { p.rights.roles = nil },
		"orphan: the role more of m": func(p *picture) {
			p.rights.roles = map[string]string{"n": "one", "m": "more"}
		},
		"orphan: the record A b.portico.localhost": func(p *picture) {
			p.records = append(slices.Clone(p.records), record{name: "b.portico.localhost", sort: "A"})
		},
		"missing: the record AAAA a.portico.localhost": func(p *picture) {
			p.records = slices.Delete(slices.Clone(p.records), 2, 3)
		},
		"touched: somebody else's record": func(p *picture) { p.records = p.records[1:] },
		"orphan: the certificate other":   func(p *picture) { p.certificates["other"] = "a.portico.localhost" },
		`missing: the certificate "lost"`: func(p *picture) {
			p.hostnames["a.portico.localhost"], p.certificates["lost"] = "lost", "b.example.com"
			delete(p.certificates, "arn")
		},
	} {
		p := whole()
		harm(&p)
		if wrong := p.compare(); len(wrong) != 1 || !strings.Contains(wrong[0], want) {
			t.Errorf("%s: told %q", want, wrong)
		}
	}
}
