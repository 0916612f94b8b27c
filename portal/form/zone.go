package form

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// WantsZone reports whether a hosted zone can be found for the draft, or judged: it is for a hostname.
func (d Draft) WantsZone() bool {
	return d.namesItself() && d.Edit == nil && catalog.TextAt(d.Object, "spec", "hostname") != "" && catalog.TextAt(d.Object, "spec", "providerRef", "name") != ""
}

// WithZone returns the draft with the hosted zone that its hostname lies in, if none is entered. An error says why there is none, or what
// is wrong with the one that is entered. all are the zones of the account.
func (d Draft) WithZone(all []Zone) (Draft, catalog.FieldErrors) {
	name, err := dnsname.Parse(catalog.TextAt(d.Object, "spec", "hostname"))
	if err != nil {
		return d, nil // which is said of the hostname
	}
	internal := catalog.TextAt(d.Object, "spec", "visibility") == string(v1alpha1.Internal)
	holding := slices.DeleteFunc(slices.Clone(all), func(z Zone) bool { return !name.Within(z.Domain) || z.Private && !internal })
	if id := catalog.TextAt(d.Object, "spec", "zoneId"); id != "" {
		return d, misplaced(name, id, all, holding)
	}
	zone, wrong := closest(name, holding, internal)
	if wrong != "" {
		return d, catalog.FieldErrors{{Field: ZoneField, Message: wrong}}
	}
	enter := map[string]string{ZoneField: zone.ID}
	if public, none := closest(name, holding, false); zone.Private && none == "" && catalog.TextAt(d.Object, "spec", "validationZoneId") == "" {
		enter[ValidationZoneField] = public.ID
	}
	return d.with(enter), nil
}

// misplaced says what is wrong with a zone that was entered. Of one that is not among the account's nothing is known.
func misplaced(name dnsname.Name, id string, all, holding []Zone) catalog.FieldErrors {
	i := slices.IndexFunc(all, func(z Zone) bool { return z.ID == id })
	if i < 0 || slices.Contains(holding, all[i]) {
		return nil
	}
	wrong := fmt.Sprintf("%s is not in the domain of this hosted zone, %s", name, all[i].Domain)
	if name.Within(all[i].Domain) {
		wrong = "this hosted zone is private, which the internet does not see: choose visibility internal or a public zone"
	}
	if len(holding) > 0 {
		wrong += ". Hosted zones that fit: " + list(holding)
	}
	return catalog.FieldErrors{{Field: ZoneField, Value: id, Message: wrong}}
}

// closest returns the zone of the longest domain, for internal hostnames a private one if there is any; or why it cannot tell.
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
		return Zone{}, fmt.Sprintf("no hosted zone that your team can use holds %s: correct the hostname or ask a platform admin", name)
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

// with returns the draft with values entered in its inputs; of YAML, in the object.
func (d Draft) with(entered map[string]string) Draft {
	if d.inYAML {
		return d
	}
	values := maps.Clone(d.values)
	for name, value := range entered {
		values.Set(name, value)
	}
	if d.base != "" {
		values.Set("base", d.base)
	}
	return d.fromForm(values)
}
