package guardrails

import (
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Expression is a part of an admission policy: a variable that lists what breaks a rule, and what is said if it is not empty.
type Expression struct{ Name, Bad, Message string }

// Policy is an admission policy.
type Policy struct {
	Name string
	// ParamKind is the kind of the objects that it judges by; empty: the namespace says all.
	ParamKind string
	Resources []string // that it judges
	Applies   string   // the condition that it has something to say
	Variables [][2]string
	Rules     []Expression

	// limit returns the expressions of a rule's limit, and of whether it is set.
	limit func(Rule) (value, set string)
}

// Policies returns what the API server is to check. It evaluates a policy for each of its parameters, at a price: for all
// AWSProviders that is little, for all Teams it would be too much. The words of the namespace's Team are on the namespace.
func Policies() []Policy { return []Policy{providers(), teams()} }

const (
	// differs is true for what is new, and for an edit of the spec. What is only observed is not limited.
	differs = `(request.operation == 'CREATE' || object.spec != oldObject.spec) && !(has(object.spec.managementPolicy) && object.spec.managementPolicy == 'Observe')`
	// named is true for the AWSProvider that the object names. Match conditions know no namespace.
	named = `object.spec.providerRef.name == params.metadata.name`
	// open is true if allowedNamespaces selects the namespace, and its team, if it has one, lists the AWSProvider: others are
	// told nothing about it.
	open = `has(params.spec.allowedNamespaces) && ` +
		`(!has(params.spec.allowedNamespaces.matchLabels) || params.spec.allowedNamespaces.matchLabels.all(k, k in variables.labels && variables.labels[k] == params.spec.allowedNamespaces.matchLabels[k])) && ` +
		`(!has(params.spec.allowedNamespaces.matchExpressions) || params.spec.allowedNamespaces.matchExpressions.all(e, ` +
		`e.operator == 'Exists' ? e.key in variables.labels : e.operator == 'DoesNotExist' ? !(e.key in variables.labels) : ` +
		`e.operator == 'In' ? e.key in variables.labels && variables.labels[e.key] in e.values : !(e.key in variables.labels && variables.labels[e.key] in e.values))) && ` +
		`(!('` + v1alpha1.LabelTeam + `' in variables.labels) || variables.lines.exists(x, (x + ' ').startsWith('provider ' + params.metadata.name + ' ')))`
	// edit is true for an edit of what was judged before, by the same rules: a field that stays as it is may stay.
	edit = `request.operation == 'UPDATE' && !(has(oldObject.spec.managementPolicy) && oldObject.spec.managementPolicy == 'Observe') && ` +
		`(has(oldObject.spec.adoptionPolicy) ? oldObject.spec.adoptionPolicy : '') == (has(object.spec.adoptionPolicy) ? object.spec.adoptionPolicy : '')`
	note  = `'` + v1alpha1.AnnotationGuardrails + `'`
	lines = `has(namespaceObject.metadata.annotations) && ` + note + ` in namespaceObject.metadata.annotations ? ` +
		`namespaceObject.metadata.annotations[` + note + `].split('\n') : []`
	told = `'` + v1alpha1.LabelTeam + `' in variables.labels && has(namespaceObject.metadata.annotations) && ` + note + ` in namespaceObject.metadata.annotations`
)

// variables returns those that the expressions of the table know.
func variables(by, judges string) [][2]string {
	return [][2]string{
		{"labels", "has(namespaceObject.metadata.labels) ? namespaceObject.metadata.labels : dyn({})"},
		{"lines", lines},
		{"judges", judges},
		{"s", "object.spec"},
		{"by", by},
		{"edit", edit},
		{"old", "variables.edit ? oldObject.spec : dyn({})"},
	}
}

func providers() Policy {
	p := Policy{
		Name: "portico-guardrails", ParamKind: v1alpha1.KindAWSProvider, Applies: named + " && " + differs,
		Variables: append(variables("'AWSProvider ' + params.metadata.name", open), [2]string{"g", "has(params.spec.guardrails) ? params.spec.guardrails : dyn({})"}),
		limit: func(r Rule) (value, set string) {
			value = "variables.g." + r.Name
			if strings.HasPrefix(r.Name, require) {
				return value, "has(" + value + ") && " + value
			}
			return value, "has(" + value + ")"
		},
	}
	p.add(false)
	p.Rules = append(p.Rules,
		Expression{
			Name: "region",
			Bad: `variables.judges && has(variables.s.region) && !variables.edit && variables.s.region != params.spec.region && ` +
				`!(has(params.spec.allowedRegions) && variables.s.region in params.spec.allowedRegions) ? [variables.s.region] : []`,
			Message: `'spec.region: provider ' + params.metadata.name + ' does not allow region ' + variables.s.region + '; it allows ' + ` +
				shortenCEL(`(has(params.spec.allowedRegions) ? params.spec.allowedRegions : [params.spec.region])`),
		},
		tags("(has(params.spec.forbiddenTagKeys) ? params.spec.forbiddenTagKeys : [])", "(has(params.spec.enforcedTags) ? params.spec.enforcedTags.map(k, k) : [])"),
	)
	return p
}

func teams() Policy {
	p := Policy{
		Name: "portico-team-guardrails", Applies: differs,
		Variables: variables("'Team ' + variables.labels['"+v1alpha1.LabelTeam+"']", told), limit: ofTeam,
	}
	seen := map[string]bool{}
	for _, r := range table {
		if !seen[r.Name] {
			p.Variables = append(p.Variables, linesOf(r.Name))
		}
		seen[r.Name] = true
	}
	p.Variables = append(p.Variables, linesOf("forbiddenTagKeys"), linesOf("enforcedTags"), linesOf("provider"))
	p.add(true)
	p.Resources = append(p.Resources, plural(v1alpha1.KindGatewayHostnameRequest))
	slices.Sort(p.Resources)
	p.Rules = append(p.Rules,
		Expression{
			Name: "providerRef",
			Bad: `!variables.judges || request.operation != 'CREATE' || !has(variables.s.providerRef) || ` +
				`variables.l_provider.exists(p, p.split(' ')[0] == variables.s.providerRef.name) ? [] : [variables.s.providerRef.name]`,
			Message: `'spec.providerRef.name: there is no AWSProvider ' + variables.s.providerRef.name + ' that namespace ' + request.namespace + ` +
				`' may use; choose another one, or ask a platform admin to create it, or to allow this namespace'`,
		},
		Expression{
			Name: "region",
			Bad: `!variables.judges || request.operation != 'CREATE' || !has(variables.s.region) || !has(variables.s.providerRef) || ` +
				`variables.l_provider.exists(p, p == variables.s.providerRef.name || p.startsWith(variables.s.providerRef.name + ' ') && variables.s.region in p.split(' ')) ? [] : ` +
				`[variables.s.region]`,
			Message: `'spec.region: ' + variables.by + ' does not allow region ' + variables.s.region + ' of provider ' + variables.s.providerRef.name + '; it allows ' + ` +
				`variables.l_provider.filter(p, p.startsWith(variables.s.providerRef.name + ' ')).map(p, p.split(' ').filter(w, w != variables.s.providerRef.name).join(', ')).join(', ')`,
		},
		tags("variables.l_forbiddenTagKeys", "variables.l_enforcedTags"),
	)
	return p
}

// require begins the names of rules that are true or false.
const require = "require"

// linesOf returns a variable with what the lines of a rule say.
func linesOf(name string) [2]string {
	return [2]string{"l_" + name, fmt.Sprintf("variables.lines.filter(x, x.startsWith('%s ')).map(x, x.substring(%d))", name, len(name)+1)}
}

// ofTeam reads the limit of a rule off the lines of the namespace.
func ofTeam(r Rule) (value, set string) {
	value = "variables.l_" + r.Name
	set = value + ".size() > 0"
	switch {
	case r.Name == "allowedEngines":
		value = "(" + value + ".map(x, x.split(' ').size() > 1 ? {'engine': dyn(x.split(' ')[0]), 'versions': dyn(x.split(' ').filter(v, v != x.split(' ')[0]))} : {'engine': dyn(x.split(' ')[0])}))"
	case strings.HasPrefix(r.Name, "max"):
		value = "int(" + value + "[0])"
	}
	return value, set
}

// add adds the rules of the table.
func (p *Policy) add(team bool) {
	for _, r := range table {
		if r.Team && !team {
			continue
		}
		if resource := plural(r.Kind); !slices.Contains(p.Resources, resource) {
			p.Resources = append(p.Resources, resource)
		}
		p.Rules = append(p.Rules, p.expression(r))
	}
	slices.Sort(p.Resources)
}

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// expression returns the rule in the words of the API server.
func (p *Policy) expression(r Rule) Expression {
	limit, set := p.limit(r)
	by := func(cel string) string { return strings.ReplaceAll(cel, "variables.l", limit) }
	var kept []string
	for _, path := range r.Watch() {
		field, _, _ := strings.Cut(path, ".")
		kept = append(kept, fmt.Sprintf("(has(variables.old.%[1]s) ? has(variables.s.%[1]s) && variables.old.%[1]s == variables.s.%[1]s : !has(variables.s.%[1]s))", field))
	}
	slices.Sort(kept)
	name := plural(r.Kind) + "_" + r.Name + "_" + strings.ReplaceAll(r.Field, ".", "_")
	return Expression{
		Name: name,
		Bad: fmt.Sprintf("request.resource.resource == '%s' && variables.judges && %s && !(variables.edit && %s) ? (%s) : []",
			plural(r.Kind), set, strings.Join(slices.Compact(kept), " && "), by(r.test.cel)),
		Message: fmt.Sprintf("'spec.%s: ' + %s + ' is not allowed; spec.guardrails.%s of ' + variables.by + ' allows ' + %s + '. %s'",
			r.Field, shortenCEL("variables."+name), r.Name, by(r.test.allowedCEL), admin),
	}
}

// tags refuses keys of tags that the lists keep for the platform.
func tags(forbidden, enforced string) Expression {
	return Expression{
		Name: "tags",
		Bad: fmt.Sprintf(`!variables.judges || !has(variables.s.tags) ? [] : variables.s.tags.filter(k, !(has(variables.old.tags) && k in variables.old.tags) && (`+
			`%s.exists(f, f.endsWith('*') ? k.lowerAscii().startsWith(f.substring(0, size(f) - 1).lowerAscii()) : k.lowerAscii() == f.lowerAscii()) || `+
			`%s.exists(e, e != k && e.lowerAscii() == k.lowerAscii())))`, forbidden, enforced),
		Message: `'spec.tags: ' + variables.by + ' keeps these keys for the platform: ' + ` + shortenCEL("variables.tags") +
			` + '. Remove them, or ask a platform admin to take them off forbiddenTagKeys and enforcedTags'`,
	}
}
