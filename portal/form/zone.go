package form

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// The inputs of hosted zones.
const (
	ZoneField           = "spec.zoneId"
	ValidationZoneField = "spec.validationZoneId"
)

// Zone is a hosted zone of an AWS account.
type Zone struct {
	ID, Domain string
	Private    bool
}

func (z Zone) words() string {
	if z.Private {
		return z.Domain + " (" + z.ID + ", private)"
	}
	return z.Domain + " (" + z.ID + ")"
}

// WantsZone reports whether the draft is for a hostname, so that a hosted zone can be found or checked.
func (d Draft) WantsZone() bool {
	return d.namesItself() && d.Edit == nil && catalog.TextAt(d.Object, "spec", "hostname") != "" &&
		catalog.TextAt(d.Object, "spec", "providerRef", "name") != ""
}

// Internal reports whether the draft is for a hostname that is not public.
func (d Draft) Internal() bool {
	return catalog.TextAt(d.Object, "spec", "visibility") == string(v1alpha1.Internal)
}

// WithZone returns the draft with the hosted zone of its hostname, if none is entered, and with the public zone that a
// private one needs. Errors say why there is none, or what is wrong with the entered one. all are the zones for
// hostnames, and public those in which certificates can be validated.
func (d Draft) WithZone(all, public []Zone) (Draft, catalog.FieldErrors) {
	name, err := dnsname.Parse(catalog.TextAt(d.Object, "spec", "hostname"))
	if err != nil {
		return d, nil // the hostname's own error says so
	}
	holding := slices.DeleteFunc(slices.Clone(all), func(z Zone) bool {
		return !name.Within(z.Domain) || z.Private && !d.Internal()
	})
	zone, enter, wrong := d.zoneAmong(name, all, holding)
	if len(wrong) > 0 {
		return d, wrong
	}
	if zone.Private && catalog.TextAt(d.Object, "spec", "validationZoneId") == "" {
		public = slices.DeleteFunc(slices.Clone(public), func(z Zone) bool {
			return z.Private || !name.Within(z.Domain)
		})
		if found, none := closest(name, public, false); none == "" {
			enter[ValidationZoneField] = found.ID
		}
	}
	return d.with(enter), nil
}

// zoneAmong returns the entered zone, if it is known, or else the best match, with the values to enter.
func (d Draft) zoneAmong(name dnsname.Name, all, holding []Zone) (
	zone Zone, enter map[string]string, wrong catalog.FieldErrors,
) {
	if id := catalog.TextAt(d.Object, "spec", "zoneId"); id != "" {
		if i := slices.IndexFunc(holding, func(z Zone) bool { return z.ID == id }); i >= 0 {
			zone = holding[i]
		}
		return zone, map[string]string{}, misplaced(name, id, all, holding)
	}
	zone, why := closest(name, holding, d.Internal())
	if why != "" {
		return zone, nil, catalog.FieldErrors{{Field: ZoneField, Message: why}}
	}
	enter = map[string]string{ZoneField: zone.ID}
	if !zone.Private {
		enter[ValidationZoneField] = "" // it is for private zones only
	}
	return zone, enter, nil
}

// misplaced returns what is wrong with an entered zone. A zone that is not in the account's list is not checked.
func misplaced(name dnsname.Name, id string, all, holding []Zone) catalog.FieldErrors {
	i := slices.IndexFunc(all, func(z Zone) bool { return z.ID == id })
	if i < 0 || slices.Contains(holding, all[i]) {
		return nil
	}
	wrong := fmt.Sprintf("%s is not in the domain of this hosted zone, %s", name, all[i].Domain)
	if name.Within(all[i].Domain) {
		wrong = "this hosted zone is private, which the internet does not see: choose visibility internal or a " +
			"public zone"
	}
	if len(holding) > 0 {
		wrong += ". Hosted zones that fit: " + list(holding)
	}
	return catalog.FieldErrors{{Field: ZoneField, Value: id, Message: wrong}}
}

// closest returns the zone with the longest domain, preferring private ones for internal hostnames; or why it cannot
// decide.
func closest(name dnsname.Name, holding []Zone, internal bool) (zone Zone, wrong string) {
	fit := slices.DeleteFunc(slices.Clone(holding), func(z Zone) bool { return z.Private != internal })
	if internal && len(fit) == 0 {
		fit = holding
	}
	longest := 0
	for _, z := range fit {
		longest = max(longest, len(z.Domain))
	}
	fit = slices.DeleteFunc(fit, func(z Zone) bool { return len(z.Domain) < longest })
	switch len(fit) {
	case 0:
		return Zone{}, fmt.Sprintf("no hosted zone that your team can use holds %s: correct the hostname or ask a "+
			"platform admin", name)
	case 1:
		return fit[0], ""
	}
	return Zone{}, fmt.Sprintf("%s is in several hosted zones: enter the ID of one. %s", name, list(fit))
}

func list(zones []Zone) string {
	words := make([]string, 0, len(zones))
	for _, z := range zones {
		words = append(words, z.words())
	}
	return strings.Join(words, ", ")
}

// with returns the draft with values set in fields of spec, "" for none.
func (d Draft) with(entered map[string]string) Draft {
	if len(entered) == 0 {
		return d
	}
	if !d.inYAML {
		values := maps.Clone(d.values)
		for name, value := range entered {
			values.Set(name, value)
		}
		if d.base != "" {
			values.Set("base", d.base)
		}
		return d.fromForm(values)
	}
	obj := d.Object.DeepCopy()
	for name, value := range entered {
		path := strings.Split(name, ".")
		if value == "" {
			unstructured.RemoveNestedField(obj.Object, path...)
		} else if err := unstructured.SetNestedField(obj.Object, value, path...); err != nil {
			return d // spec is no object, which another error says
		}
	}
	text, err := catalog.ToYAML(obj)
	if err != nil {
		return d
	}
	d.Object, d.yaml = obj, string(text)
	return d
}
