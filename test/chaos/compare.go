package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/test/stack"
)

// object is an existing object of an AWS kind.
type object struct {
	kind, name, uid string
	id              string            // of its resource in AWS
	foreign         bool              // it requests another owner's resource, and has none
	tags            map[string]string // tags that its resource must have
	fields          map[string]string // of the spec
}

func (o object) String() string { return o.kind + " " + o.name }

// picture is the state of the cluster and AWS at one moment.
type picture struct {
	objects   []object
	resources []resource
	leaves    func(uid string) bool // whether the deleted object with this UID may have left a resource
	isFree    func(resource) bool   // whether the resource needs no ownership tag
	control   map[string]string

	hostnames    map[string]string // certificate ARN, by hostname
	records      []record
	certificates map[string]string // domain, by ARN

	bindings map[string]string // UIDs of AccessBindings, by namespace/ServiceAccount
	rights   rights
}

func (w *world) picture(ctx context.Context) (p picture, err error) {
	p = picture{
		leaves: w.ledger.leaves, isFree: w.ledger.isFree, control: w.control, hostnames: map[string]string{},
		bindings: map[string]string{},
	}
	provider := &unstructured.Unstructured{}
	for _, k := range slices.Backward(kinds) { // the provider first
		all, err := w.objects(ctx, k)
		if err != nil {
			return p, err
		}
		for i := range all {
			switch o := &all[i]; {
			case k.name == "AWSProvider":
				provider = o
			case k.name == "AccessBinding":
				p.bindings[o.GetNamespace()+"/"+field(o, "spec", "serviceAccountName")] = string(o.GetUID())
			case k.name == "GatewayHostnameRequest":
				p.hostnames[field(o, "spec", "hostname")] = field(o, "status", "certificate", "arn")
			case k.id != "":
				p.objects = append(p.objects, pictureOf(k, o, provider))
			}
		}
	}
	if p.resources, err = inventory(ctx, w.services); err != nil {
		return p, err
	}
	if p.records, err = w.account.records(ctx); err != nil {
		return p, err
	}
	if p.certificates, err = w.account.certificates(ctx); err != nil {
		return p, err
	}
	p.rights, err = w.account.rights(ctx)
	return p, err
}

func pictureOf(k kind, o, provider *unstructured.Unstructured) object {
	of := object{
		kind: k.name, name: o.GetNamespace() + "/" + o.GetName(), uid: string(o.GetUID()),
		id: field(o, "status", k.id), foreign: o.GetName() == theirs,
	}
	of.tags = map[string]string{}
	for _, layer := range []struct {
		of   *unstructured.Unstructured
		path string
	}{{provider, "defaultTags"}, {o, "tags"}, {provider, "enforcedTags"}} {
		some, _, _ := unstructured.NestedStringMap(layer.of.Object, "spec", layer.path)
		maps.Copy(of.tags, some)
	}
	of.tags["portico.dev/uid"] = of.uid
	of.fields = map[string]string{}
	spec, _, _ := unstructured.NestedMap(o.Object, "spec")
	for key, value := range spec {
		of.fields[key] = fmt.Sprint(value)
	}
	return of
}

func (p picture) counts() string {
	return fmt.Sprintf("compared                      %d objects, %d resources, %d of somebody else, %d hostnames, "+
		"%d records, %d certificates, %d ServiceAccounts with rights",
		len(p.objects), len(p.resources), len(p.control), len(p.hostnames), len(p.records), len(p.certificates),
		len(p.bindings))
}

// compare returns every difference between the cluster and AWS, sorted.
func (p picture) compare() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	living, by := map[string]object{}, map[string]resource{}
	for _, o := range p.objects {
		living[o.uid] = o
	}
	owned := map[string][]string{}
	for _, r := range p.resources {
		by[r.String()] = r
		uid := r.tags["portico.dev/uid"]
		_, isControl := p.control[r.String()]
		switch owner, lives := living[uid]; {
		case isControl:
		case uid == "" && !p.isFree(r):
			say("orphan: %s has no marks, and nobody else made it", r)
		case uid == "":
		case !lives && !p.leaves(uid):
			say("orphan: %s belongs to the object %s, which is gone, and nothing of it was to be left", r, uid)
		case lives && owner.kind != r.kind:
			say("duplicate: %s has the marks of the %s", r, owner)
		case lives:
			owned[uid] = append(owned[uid], r.String())
		}
	}
	for uid, all := range owned {
		if len(all) > 1 {
			say("duplicate: the %s owns %s", living[uid], strings.Join(all, " and "))
		}
	}
	for _, o := range p.objects {
		wrong = append(wrong, p.compareObject(o, by)...)
	}
	wrong = append(append(wrong, p.compareControl(by)...), append(p.compareNames(), p.compareRights()...)...)
	slices.Sort(wrong)
	return wrong
}

// compareControl compares the resources of another owner with their original configuration.
func (p picture) compareControl(by map[string]resource) (wrong []string) {
	for name, config := range p.control {
		if r, there := by[name]; !there {
			wrong = append(wrong, fmt.Sprintf("touched: somebody else's %s is gone", name))
		} else if r.config != config {
			wrong = append(wrong, fmt.Sprintf("touched: somebody else's %s was %s, and is %s", name, config, r.config))
		}
	}
	return wrong
}

// compareObject compares one object with its resource.
func (p picture) compareObject(o object, by map[string]resource) (wrong []string) {
	if o.foreign {
		return nil
	}
	r, there := by[resource{kind: o.kind, id: o.id}.String()]
	if !there {
		return []string{fmt.Sprintf("missing: the %s has no %q in AWS", o, o.id)}
	}
	for key, want := range o.tags {
		if r.tags[key] != want {
			wrong = append(wrong, fmt.Sprintf("differs: %s of the %s has the tag %s=%q, not %q", r, o, key, r.tags[key],
				want))
		}
	}
	for key, have := range r.fields {
		if want, said := o.fields[key]; said && want != have {
			wrong = append(wrong, fmt.Sprintf("differs: %s of the %s has %s %q, not %q", r, o, key, have, want))
		}
	}
	return wrong
}

// compareNames compares hostnames with records and certificates.
func (p picture) compareNames() (wrong []string) {
	have := map[string]bool{}
	for _, r := range p.records {
		name := strings.TrimPrefix(r.name, "_portico.")
		_, held := p.hostnames[name]
		switch {
		case r.name == theirRecord:
			have[theirRecord] = true
		case r.proof: // the validation record stays: other certificates of the domain need it
			_, of, _ := strings.Cut(r.name, ".")
			have["proof "+of] = true
		case !held:
			wrong = append(wrong, fmt.Sprintf("orphan: the record %s %s", r.sort, r.name))
		default:
			have[r.sort+" "+name] = true
		}
	}
	if !have[theirRecord] && p.records != nil {
		wrong = append(wrong, "touched: somebody else's record "+theirRecord+" is gone")
	}
	for name, arn := range p.hostnames {
		wrong = append(wrong, p.compareName(name, arn, have)...)
	}
	for arn, domain := range p.certificates {
		if strings.HasSuffix(domain, "."+stack.Domain) && p.hostnames[domain] != arn {
			wrong = append(wrong, fmt.Sprintf("orphan: the certificate %s of %s", arn, domain))
		}
	}
	return wrong
}

// compareName compares one hostname with the existing records and its certificate.
func (p picture) compareName(name, arn string, have map[string]bool) (wrong []string) {
	for _, sort := range []string{"A", "AAAA", "TXT", "proof"} {
		if !have[sort+" "+name] {
			wrong = append(wrong, fmt.Sprintf("missing: the record %s %s", sort, name))
		}
	}
	if p.certificates[arn] != name {
		wrong = append(wrong, fmt.Sprintf("missing: the certificate %q of %s", arn, name))
	}
	return wrong
}
