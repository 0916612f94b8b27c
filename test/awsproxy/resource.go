package awsproxy

import (
	"net/url"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

func resourceOfForm(service string, form url.Values) string {
	return firstResource(service, func(name string) []string {
		if v := form.Get(name); v != "" {
			return []string{v}
		}
		if list := wire.FormList(form, name+"."); list != nil {
			return list
		}
		return wire.FormList(form, name+".member.")
	})
}

func resourceOfJSON(service string, input map[string]any) string {
	return firstResource(service, func(name string) []string {
		switch v := input[name].(type) {
		case string:
			return []string{v}
		case []any:
			var out []string
			for _, item := range v {
				if s, ok := item.(string); ok {
					out = append(out, s)
				}
			}
			return out
		default:
			return nil
		}
	})
}

func firstResource(service string, get func(name string) []string) string {
	of := services[service]
	for _, name := range of.about {
		values := get(name)
		for i, v := range values {
			if of.short != nil {
				values[i] = of.short(v)
			}
		}
		if len(values) > 0 {
			return strings.Join(values, ",")
		}
	}
	return ""
}
