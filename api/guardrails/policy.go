package guardrails

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Expression is a part of an admission policy: a variable that lists violations of a rule, and the message if there are
// any.
type Expression struct{ Name, Bad, Message string }

// Policy is an admission policy for one kind.
type Policy struct {
	Name string
	// ParamKind is the kind of the objects that it judges by; empty: the namespace says all.
	ParamKind string
	Resource  string // that it judges
	Applies   string // the condition that it has something to say
	Variables [][2]string
	Rules     []Expression
}

// Policies returns the admission policies, one for each kind. The API server evaluates all expressions of a policy for
// each parameter, and first copies the parameter by way of JSON: 0.1 ms for each AWSProvider. So the limits of a Team
// and its AWSProviders are on the Team's namespaces, and AWSProviders are parameters only for namespaces without a
// Team.
func Policies() []Policy {
	var all []Policy
	for _, kind := range judged(false) {
		all = append(all, byProvider(kind))
	}
	for _, kind := range append(judged(true), v1alpha1.KindGatewayHostnameRequest) {
		all = append(all, byTeam(kind))
	}
	return all
}

// judged returns the kinds that the rules are about, sorted; of the rules that AWSProviders have as well, if not of
// those of Teams.
func judged(team bool) []string {
	var kinds []string
	for _, r := range table {
		if team || !r.Team {
			kinds = append(kinds, r.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// judge is one by whose words a policy goes.
type judge struct {
	by    string                         // an expression: whose they are
	team  bool                           // that it has the rules of Teams
	named string                         // begins the names of its variables
	limit func(Rule) (value, set string) // the expressions of a rule's limit, and of whether it is set
}

const (
	// differs is true for a create, and for an edit of the spec. An observed resource is not limited.
	differs = `(request.operation == 'CREATE' || object.spec != oldObject.spec) && !(has(object.spec.managementPolicy) && object.spec.managementPolicy == 'Observe')`
	// named is true for the AWSProvider that the object names. Match conditions know no namespace.
	named = `object.spec.providerRef.name == params.metadata.name`
	// open is true if allowedNamespaces selects the namespace: others learn nothing about the AWSProvider.
	open = `has(params.spec.allowedNamespaces) && ` +
		`(!has(params.spec.allowedNamespaces.matchLabels) || params.spec.allowedNamespaces.matchLabels.all(k, k in variables.labels && variables.labels[k] == params.spec.allowedNamespaces.matchLabels[k])) && ` +
		`(!has(params.spec.allowedNamespaces.matchExpressions) || params.spec.allowedNamespaces.matchExpressions.all(e, ` +
		`e.operator == 'Exists' ? e.key in variables.labels : e.operator == 'DoesNotExist' ? !(e.key in variables.labels) : ` +
		`e.operator == 'In' ? e.key in variables.labels && variables.labels[e.key] in e.values : !(e.key in variables.labels && variables.labels[e.key] in e.values)))`
	// stays is true for an edit that leaves account and region as they are: their rules judged the object before.
	stays = `request.operation == 'UPDATE' && has(object.spec.providerRef) == has(oldObject.spec.providerRef) && ` +
		`(!has(object.spec.providerRef) || object.spec.providerRef == oldObject.spec.providerRef) && ` +
		`(has(oldObject.spec.region) ? oldObject.spec.region : '') == (has(object.spec.region) ? object.spec.region : '')`
	// edit is true for an edit of an object that was checked by the same rules before: unchanged fields pass.
	edit = `variables.stays && !(has(oldObject.spec.managementPolicy) && oldObject.spec.managementPolicy == 'Observe') && ` +
		`(has(oldObject.spec.adoptionPolicy) ? oldObject.spec.adoptionPolicy : '') == (has(object.spec.adoptionPolicy) ? object.spec.adoptionPolicy : '')`
	note  = `'` + v1alpha1.AnnotationGuardrails + `'`
	lines = `has(namespaceObject.metadata.annotations) && ` + note + ` in namespaceObject.metadata.annotations ? ` +
		`namespaceObject.metadata.annotations[` + note + `].split('\n') : []`
	told = `'` + v1alpha1.LabelTeam + `' in variables.labels && has(namespaceObject.metadata.annotations) && ` + note +
		` in namespaceObject.metadata.annotations`
)

// variables returns those that the expressions of the table know.
func variables(judges string) [][2]string {
	return [][2]string{
		{"labels", "has(namespaceObject.metadata.labels) ? namespaceObject.metadata.labels : dyn({})"},
		{"judges", judges},
		{"s", "object.spec"},
		{"stays", stays},
		{"edit", edit},
		{"old", "variables.edit ? oldObject.spec : dyn({})"},
	}
}

// byProvider returns the policy that holds objects of a kind, in namespaces without a Team, to the rules of the
// AWSProvider that they name.
func byProvider(kind string) Policy {
	p := Policy{
		Name: "portico-guardrails-" + plural(kind), Resource: plural(kind), ParamKind: v1alpha1.KindAWSProvider,
		Applies: named + " && " + differs,
		Variables: append(variables(open),
			[2]string{"g", "has(params.spec.guardrails) ? params.spec.guardrails : dyn({})"}),
	}
	j := judge{by: "'AWSProvider ' + params.metadata.name", limit: func(r Rule) (value, set string) {
		value = "variables.g." + r.Name
		if strings.HasPrefix(r.Name, require) {
			return value, "has(" + value + ") && " + value
		}
		return value, "has(" + value + ")"
	}}
	p.add(kind, j)
	p.Rules = append(p.Rules,
		j.region("(has(params.spec.allowedRegions) ? [params.spec.region] + params.spec.allowedRegions : "+
			"[params.spec.region])"),
		j.tags("(has(params.spec.forbiddenTagKeys) ? params.spec.forbiddenTagKeys : [])",
			"(has(params.spec.enforcedTags) ? params.spec.enforcedTags.map(k, k) : [])"))
	return p
}

// byTeam returns the policy that holds objects of a kind to the rules of their namespace's Team, and to those of its
// AWSProviders.
func byTeam(kind string) Policy {
	p := Policy{
		Name: "portico-team-guardrails-" + plural(kind), Resource: plural(kind), Applies: differs,
		Variables: append(variables(told), [2]string{"lines", lines}, linesOf("lines", "l_provider", "provider")),
	}
	team := judge{
		by: "'Team ' + variables.labels['" + v1alpha1.LabelTeam + "']", team: true, named: "l_",
		limit: ofLines("l_"),
	}
	p.addLines(kind, "lines", team)
	if slices.Contains(judged(false), kind) {
		provider := judge{by: "'AWSProvider ' + variables.s.providerRef.name", named: "p_", limit: ofLines("p_")}
		p.Variables = append(p.Variables,
			[2]string{"own", "has(variables.s.providerRef) ? variables.lines.filter(x, x.startsWith('" + noteOf +
				"' + variables.s.providerRef.name + ' '))" +
				".map(x, x.substring(size(variables.s.providerRef.name) + 2)) : []"},
			linesOf("own", "p_region", "region"))
		p.addLines(kind, "own", provider)
		p.Rules = append(p.Rules, provider.region("variables.p_region"))
	}
	p.Rules = append(p.Rules, unlisted, regionOfTeam(team.by))
	return p
}

// addLines adds the rules that the lines of a variable say, with those about tags.
func (p *Policy) addLines(kind, from string, j judge) {
	seen := []string{"forbiddenTagKeys", "enforcedTags"}
	for _, r := range table {
		if r.Kind == kind && (j.team || !r.Team) && !slices.Contains(seen, r.Name) {
			seen = append(seen, r.Name)
		}
	}
	for _, name := range seen {
		p.Variables = append(p.Variables, linesOf(from, j.named+name, name))
	}
	p.add(kind, j)
	p.Rules = append(p.Rules, j.tags("variables."+j.named+"forbiddenTagKeys", "variables."+j.named+"enforcedTags"))
}

// unlisted refuses an AWSProvider that the Team does not list.
var unlisted = Expression{
	Name: "providerRef",
	Bad: `!variables.judges || variables.stays || !has(variables.s.providerRef) || ` +
		`variables.l_provider.exists(p, p.split(' ')[0] == variables.s.providerRef.name) ? [] : [variables.s.providerRef.name]`,
	Message: `'spec.providerRef.name: there is no AWSProvider ' + variables.s.providerRef.name + ' that namespace ' + request.namespace + ` +
		`' may use; choose another one, or ask a platform admin to create it, or to allow this namespace there and in its Team'`,
}

// regionOfTeam refuses a region that the Team does not list of the AWSProvider.
func regionOfTeam(by string) Expression {
	return Expression{
		Name: "region",
		Bad: `!variables.judges || variables.stays || !has(variables.s.region) || !has(variables.s.providerRef) || ` +
			`variables.l_provider.exists(p, p == variables.s.providerRef.name || p.startsWith(variables.s.providerRef.name + ' ') && variables.s.region in p.split(' ')) ? [] : ` +
			`[variables.s.region]`,
		Message: `'spec.region: ' + ` + by +
			` + ' does not allow region ' + variables.s.region + ' of provider ' + variables.s.providerRef.name + '; it allows ' + ` +
			`variables.l_provider.filter(p, p.startsWith(variables.s.providerRef.name + ' ')).map(p, p.split(' ').filter(w, w != variables.s.providerRef.name).join(', ')).join(', ')`,
	}
}

// require begins the names of rules that are true or false.
const require = "require"

// linesOf returns a variable with what the lines of a rule say.
func linesOf(from, variable, name string) [2]string {
	return [2]string{variable, fmt.Sprintf("variables.%s.filter(x, x.startsWith('%s ')).map(x, x.substring(%d))", from,
		name, len(name)+1)}
}

// ofLines returns how the limit of a rule is read off its lines.
func ofLines(named string) func(Rule) (value, set string) {
	return func(r Rule) (value, set string) {
		value = "variables." + named + r.Name
		set = value + ".size() > 0"
		switch {
		case r.Name == "allowedEngines":
			value = "(" + value + ".map(x, x.split(' ').size() > 1 ? {'engine': dyn(x.split(' ')[0]), 'versions': " +
				"dyn(x.split(' ').filter(v, v != x.split(' ')[0]))} : {'engine': dyn(x.split(' ')[0])}))"
		case strings.HasPrefix(r.Name, "max"):
			value = "int(" + value + "[0])"
		}
		return value, set
	}
}

// add adds the kind's rules of the table.
func (p *Policy) add(kind string, j judge) {
	for _, r := range table {
		if r.Kind == kind && (j.team || !r.Team) {
			p.Rules = append(p.Rules, j.expression(r))
		}
	}
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// expression returns the rule in the words of the API server.
func (j judge) expression(r Rule) Expression {
	limit, set := j.limit(r)
	by := func(cel string) string { return strings.ReplaceAll(cel, "variables.l", limit) }
	var kept []string
	for _, path := range r.Watch() {
		field, _, _ := strings.Cut(path, ".")
		kept = append(kept, fmt.Sprintf("(has(variables.old.%[1]s) ? has(variables.s.%[1]s) && variables.old.%[1]s "+
			"== variables.s.%[1]s : !has(variables.s.%[1]s))", field))
	}
	slices.Sort(kept)
	name := j.broken(r.Name + "_" + strings.ReplaceAll(r.Field, ".", "_"))
	return Expression{
		Name: name,
		Bad: fmt.Sprintf("variables.judges && %s && !(variables.edit && %s) ? (%s) : []", set,
			strings.Join(slices.Compact(kept), " && "), by(r.test.cel)),
		Message: fmt.Sprintf("'spec.%s: ' + %s + ' is not allowed: ' + %s + ' allows ' + %s + ', by "+
			"spec.guardrails.%s. %s'",
			r.Field, shortenCEL("variables."+name), j.by, by(r.test.allowed.cel), r.Name, admin),
	}
}

// broken returns the name of the variable that lists what breaks a rule.
func (j judge) broken(rule string) string { return "not_" + j.named + rule }

// region refuses a new object in a region that the AWSProvider does not have; offered is empty if that is not known.
func (j judge) region(offered string) Expression {
	name := j.broken("region")
	return Expression{
		Name: name,
		Bad: "variables.judges && has(variables.s.region) && !variables.edit && " + offered +
			".size() > 0 && !(variables.s.region in " + offered + ") ? [variables.s.region] : []",
		Message: `'spec.region: provider ' + variables.s.providerRef.name + ' does not allow region ' + variables.s.region + '; it allows ' + ` + shortenCEL(offered),
	}
}
