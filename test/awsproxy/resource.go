package awsproxy

import (
	"net/url"
	"strconv"
	"strings"
)

func resourceOfForm(service string, form url.Values) string {
	return firstResource(service, func(name string) []string {
		if v := form.Get(name); v != "" {
			return []string{v}
		}
		if list := formList(form, name+"."); list != nil {
			return list
		}
		return formList(form, name+".member.")
	})
}

// formList reads prefix1, prefix2, and so on.
func formList(form url.Values, prefix string) []string {
	var out []string
	for i := 1; form.Has(prefix + strconv.Itoa(i)); i++ {
		out = append(out, form.Get(prefix+strconv.Itoa(i)))
	}
	return out
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
