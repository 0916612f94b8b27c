package guardrails

import (
	"fmt"
	"slices"
	"strings"
)

// says is what a limit admits, as people say it, and the same as an expression of the variable l.
type says struct {
	text func(limit any) string
	cel  string
}

var (
	listed = says{func(limit any) string { return Shorten(texts(limit)) }, shortenCEL("variables.l")}
	upTo   = says{
		func(limit any) string { return fmt.Sprintf("at most %d", number(limit)) }, "'at most ' + string(variables.l)",
	}
)

func words(text string) says { return says{func(any) string { return text }, "'" + text + "'"} }

// match finds a value among the entries of a limit, and so does its expression of the variable l.
type match struct {
	finds func(limit any, value string) bool
	cel   func(value string) string
}

var (
	exactly = match{
		func(limit any, value string) bool { return slices.Contains(texts(limit), value) },
		func(value string) string { return "(" + value + " in variables.l)" },
	}
	inAnyCase = match{
		func(limit any, value string) bool {
			return slices.ContainsFunc(texts(limit), func(p string) bool { return strings.EqualFold(p, value) })
		},
		func(value string) string {
			return "variables.l.exists(p, p.lowerAscii() == " + value + ".lowerAscii())"
		},
	}
	byPattern = match{
		anyMatches, func(value string) string { return "variables.l.exists(p, " + matchesCEL(value) + ")" },
	}
)

// oneOf takes a text that the limit lists, or none.
func oneOf(path string, m match) test {
	value := "variables.s." + path
	return test{
		refused: func(s spec, limit any) []string {
			if v, ok := at(s, path); ok && !m.finds(limit, fmt.Sprint(v)) {
				return []string{fmt.Sprint(v)}
			}
			return nil
		},
		cel:     fmt.Sprintf("%s && !%s ? [%s] : []", hasCEL(path), m.cel(value), value),
		choices: texts, allowed: listed,
	}
}

// allOf takes a list of which the limit lists all.
func allOf(path string) test {
	return test{
		refused: func(s spec, limit any) []string {
			v, _ := at(s, path)
			return slices.DeleteFunc(slices.Clone(texts(v)), func(x string) bool {
				return slices.Contains(texts(limit), x)
			})
		},
		cel:     fmt.Sprintf("variables.s.%s.filter(x, !(x in variables.l))", path),
		choices: texts, allowed: listed,
	}
}

// present takes what t does, if the field is there.
func present(path string, t test) test {
	refused := t.refused
	t.refused = func(s spec, limit any) []string {
		if _, ok := at(s, path); !ok {
			return []string{leftOut}
		}
		return refused(s, limit)
	}
	t.cel = fmt.Sprintf("!(%s) ? ['%s'] : %s", hasCEL(path), leftOut, t.cel)
	return t
}

// atMost takes numbers up to the limit.
func atMost(path string) test {
	return test{
		refused: func(s spec, limit any) []string {
			if v, ok := at(s, path); ok && number(v) > number(limit) {
				return []string{fmt.Sprint(number(v))}
			}
			return nil
		},
		cel: fmt.Sprintf("%s && variables.s.%[2]s > variables.l ? [string(variables.s.%[2]s)] : []", hasCEL(path),
			path),
		allowed: upTo,
	}
}

// volumes takes volumes up to the limit, each with its size.
func volumes() test {
	return test{
		refused: func(s spec, limit any) []string {
			var bad []string
			for _, m := range members(s, "blockDeviceMappings") {
				switch size, ok := m["volumeSize"]; {
				case !ok:
					bad = append(bad, "leaving out the volumeSize of "+fmt.Sprint(m["deviceName"]))
				case number(size) > number(limit):
					bad = append(bad, fmt.Sprintf("volumeSize %d of %v", number(size), m["deviceName"]))
				}
			}
			return bad
		},
		cel: `!has(variables.s.blockDeviceMappings) ? [] : variables.s.blockDeviceMappings.filter(m, !has(m.volumeSize) || m.volumeSize > variables.l).map(m, ` +
			`has(m.volumeSize) ? 'volumeSize ' + string(m.volumeSize) + ' of ' + m.deviceName : 'leaving out the volumeSize of ' + m.deviceName)`,
		allowed: upTo,
	}
}

// encryptedVolumes takes volumes that are not unencrypted: Portico encrypts those that say nothing.
func encryptedVolumes() test {
	return test{
		refused: func(s spec, _ any) []string {
			var bad []string
			for _, m := range members(s, "blockDeviceMappings") {
				if m["encrypted"] == false {
					bad = append(bad, fmt.Sprintf("encrypted false of %v", m["deviceName"]))
				}
			}
			return bad
		},
		cel: `!has(variables.s.blockDeviceMappings) ? [] : variables.s.blockDeviceMappings.filter(m, has(m.encrypted) && !m.encrypted).map(m, ` +
			`'encrypted false of ' + m.deviceName)`,
		allowed: words("encrypted volumes only"),
	}
}

// membersMatch takes lists whose items have texts at the members that some entry matches, or none there.
func membersMatch(path string, names ...string) test {
	var cel []string
	for _, name := range names {
		cel = append(cel,
			fmt.Sprintf("variables.s.%[1]s.filter(m, has(m.%[2]s) && !variables.l.exists(p, %[3]s)).map(m, m.%[2]s)",
				path, name, matchesCEL("m."+name)))
	}
	return test{
		refused: func(s spec, limit any) []string {
			var bad []string
			for _, name := range names {
				for _, m := range members(s, path) {
					if v, ok := m[name]; ok && !anyMatches(limit, fmt.Sprint(v)) {
						bad = append(bad, fmt.Sprint(v))
					}
				}
			}
			return bad
		},
		cel:     fmt.Sprintf("!has(variables.s.%s) ? [] : %s", path, strings.Join(cel, " + ")),
		allowed: listed,
	}
}

// always allows one value, which is the default of a new resource. An adopted resource must set it explicitly.
func always[T bool | string](path string, want T) test {
	wantCEL := fmt.Sprint(want)
	if text, ok := any(want).(string); ok {
		wantCEL = "'" + text + "'"
	}
	return test{
		refused: func(s spec, _ any) []string {
			v, ok := at(s, path)
			switch {
			case ok && v != any(want):
				return []string{fmt.Sprint(v)}
			case !ok && adopting(s):
				return []string{leftOut + " with adoptionPolicy Adopt"}
			}
			return nil
		},
		cel: fmt.Sprintf("%[1]s ? (variables.s.%[2]s == %[3]s ? [] : [string(variables.s.%[2]s)]) : %[4]s ? ['%[5]s "+
			"with adoptionPolicy Adopt'] : []",
			hasCEL(path), path, wantCEL, adoptingCEL, leftOut),
		only:    fmt.Sprint(want),
		allowed: words(fmt.Sprintf("%v only", want)),
	}
}

// condition holds of a spec, and so does its expression.
type condition struct {
	holds func(spec) bool
	cel   string
}

func has(path string) condition {
	return condition{func(s spec) bool { _, ok := at(s, path); return ok }, hasCEL(path)}
}

func is(path string, values ...string) condition {
	return condition{
		func(s spec) bool { v, ok := at(s, path); return ok && slices.Contains(values, fmt.Sprint(v)) },
		fmt.Sprintf("%s && variables.s.%s in ['%s']", hasCEL(path), path, strings.Join(values, "', '")),
	}
}

func not(c condition) condition {
	return condition{func(s spec) bool { return !c.holds(s) }, "!(" + c.cel + ")"}
}

// unless takes all for which the condition holds, else what t does.
func unless(c condition, t test) test {
	refused := t.refused
	t.refused = func(s spec, limit any) []string {
		if c.holds(s) {
			return nil
		}
		return refused(s, limit)
	}
	t.cel = fmt.Sprintf("(%s) ? [] : %s", c.cel, t.cel)
	return t
}

// members returns the items of a list of objects.
func members(s spec, path string) []map[string]any {
	list, _ := at(s, path)
	return objects(list)
}

func objects(list any) []map[string]any {
	var all []map[string]any
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// repository takes images of a registry that is listed. As container runtimes do, it takes an image without the name of
// a registry for one of Docker Hub.
func repository() test {
	return test{
		refused: func(s spec, limit any) []string {
			image := fmt.Sprint(s["image"])
			full := FullImage(image)
			for _, p := range texts(limit) {
				below, all := strings.CutSuffix(p, "*")
				if all && strings.HasPrefix(full, below) ||
					!all && (strings.HasPrefix(full, p+":") || strings.HasPrefix(full, p+"@")) {
					return nil
				}
			}
			return []string{image}
		},
		cel: `[variables.s.image].filter(i, ![!i.contains('/') ? 'docker.io/library/' + i : ` +
			`i.split('/')[0].contains('.') || i.split('/')[0].contains(':') || i.split('/')[0] == 'localhost' ? i : 'docker.io/' + i].exists(f, ` +
			`variables.l.exists(p, p.endsWith('*') ? f.startsWith(p.substring(0, size(p) - 1)) : f.startsWith(p + ':') || f.startsWith(p + '@'))))`,
		choices: texts, allowed: listed,
	}
}

// FullImage returns the image with the name of its registry.
func FullImage(image string) string {
	first, _, path := strings.Cut(image, "/")
	switch {
	case !path:
		return "docker.io/library/" + image
	case strings.ContainsAny(first, ".:") || first == "localhost":
		return image
	}
	return "docker.io/" + image
}
