package form

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// regionsField are the regions of an AWS account that a Team can use.
const regionsField = "spec.providers[].regions"

// beginTeam sets the usual values of a new Team: one member, and the AWS account if there is one only.
func beginTeam(values url.Values, offers Offers) {
	values.Set("spec.members[0]", "{}")
	values.Set("spec.members[0].role", string(v1alpha1.TeamDeveloper))
	if len(offers.Regions) == 1 {
		for account := range offers.Regions {
			values.Set("spec.providers[0].name", account)
			values.Set("spec.defaults.provider", account)
		}
	}
}

// regionsOf returns the regions for the input of that name: those of the account selected beside it, or all, each with
// the accounts that allow it.
func (b builder) regionsOf(input string) []views.Option {
	account := b.values.Get(catalog.Beside(input, "name"))
	accounts := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(b.Regions)) {
		if account != "" && name != account && b.Regions[account] != nil {
			continue
		}
		for _, region := range b.Regions[name] {
			accounts[region] = append(accounts[region], name)
		}
	}
	chosen := b.values[input]
	all := options(slices.Sorted(maps.Keys(accounts)), chosen, "")
	for i, o := range all {
		if account == "" && len(b.Regions) > 1 {
			all[i].Label = o.Label + " (" + strings.Join(accounts[o.Value], ", ") + ")"
		}
	}
	return all
}

// teamEffects describes what a new Team gets.
func (d Draft) teamEffects(stored *unstructured.Unstructured) ([]views.Effect, error) {
	t := &v1alpha1.Team{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, t); err != nil {
		return nil, fmt.Errorf("reading the team: %w", err)
	}
	var all []views.Effect
	say := func(icon, format string, args ...any) {
		all = append(all, views.Effect{Icon: icon, Tone: "idle", Text: fmt.Sprintf(format, args...)})
	}
	say("resources", "Portico creates the namespaces that do not exist: %s.", strings.Join(t.NamespaceNames(), ", "))
	d.sayMembers(t, say)
	sayAccounts(t, say)
	d.sayLimits(t, say)
	if h := t.Spec.Hostnames; h != nil {
		limits := strings.Join(availability.Limits(*h), " ")
		say("hostname", "%s", strings.TrimSpace("It can request hostnames below "+strings.Join(h.Suffixes, ", ")+". "+
			limits))
	} else {
		say("hostname", "It can request no hostnames.")
	}
	sayIsolation(t.Spec.Isolation, say)
	if t.Spec.Suspended {
		say("pause", "It begins suspended: its members can only look.")
	}
	return all, nil
}

// roleDeeds describe what a role can do.
var roleDeeds = map[v1alpha1.TeamRole]string{
	v1alpha1.TeamViewer:    "can look",
	v1alpha1.TeamDeveloper: "can request, change and delete resources",
	v1alpha1.TeamOwner:     "can request, change and delete resources, and decides who the members are",
}

func (d Draft) sayMembers(t *v1alpha1.Team, say func(icon, format string, args ...any)) {
	owned := false
	for _, m := range t.Spec.Members {
		who, name := "The group", m.Group
		if m.User != "" {
			who, name = "The user", m.User
		}
		short := d.People.Short(name)
		if called := d.People.Groups[name]; called != "" {
			short = called + " (" + short + ")"
		}
		say("team", "%s %s %s.", who, short, roleDeeds[m.Role])
		owned = owned || m.Role == v1alpha1.TeamOwner
	}
	switch {
	case len(t.Spec.Members) == 0:
		say("team", "Nobody is a member yet: only platform admins see the team.")
	case !owned:
		say("team", "It has no owner: only platform admins decide who the members are.")
	}
}

func sayAccounts(t *v1alpha1.Team, say func(icon, format string, args ...any)) {
	if len(t.Spec.Providers) == 0 {
		say("account", "It can use no AWS account.")
	}
	for _, p := range t.Spec.Providers {
		where := "all regions that it allows"
		if len(p.Regions) > 0 {
			where = strings.Join(p.Regions, ", ")
		}
		text := "It can use the AWS account " + p.Name + " in " + where
		if t.Spec.Defaults != nil && t.Spec.Defaults.Provider == p.Name {
			text += ": resources that name no account get this one"
		}
		say("account", "%s.", text)
	}
}

func (d Draft) sayLimits(t *v1alpha1.Team, say func(icon, format string, args ...any)) {
	q := t.Spec.Quotas
	if q == nil {
		say("info", "How much it can have is not limited.")
		return
	}
	var most []string
	for _, r := range q.Resources {
		most = append(most, strconv.Itoa(int(r.Max))+" "+r.Kind)
	}
	for _, c := range []struct {
		of string
		n  *resource.Quantity
	}{{"CPUs", q.CPU}, {"of memory", q.Memory}, {"of storage", q.Storage}} {
		if c.n != nil {
			most = append(most, c.n.String()+" "+c.of)
		}
	}
	if q.Pods != nil {
		most = append(most, strconv.Itoa(int(*q.Pods))+" Pods")
	}
	say("info", "Each of its namespaces can have at most %s.", strings.Join(most, ", "))
}

func sayIsolation(i v1alpha1.TeamIsolation, say func(icon, format string, args ...any)) {
	reach := "Its Pods reach each other, DNS and the internet"
	if len(i.AllowTo) > 0 {
		reach = "Its Pods reach each other, DNS and " + strings.Join(i.AllowTo, ", ")
	}
	from := "nothing outside of the team reaches them"
	if len(i.AllowFrom) > 0 {
		from = strings.Join(i.AllowFrom, ", ") + " reach them"
	}
	if i.Network == v1alpha1.NetworkOpen {
		reach, from = "Its Pods reach everything", "everything reaches them"
	}
	say("lock", "%s; %s. They keep to the Pod security level %s.", reach, from, i.PodSecurity)
}
