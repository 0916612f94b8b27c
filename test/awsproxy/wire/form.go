package wire

import (
	"fmt"
	"net/url"
	"strconv"
)

// Number returns a parameter that is a number; 0 if it is not.
func Number(form url.Values, name string) int {
	n, _ := strconv.Atoi(form.Get(name))
	return n
}

// FormList reads prefix1, prefix2, and so on.
func FormList(form url.Values, prefix string) []string {
	var out []string
	for i := 1; form.Has(prefix + strconv.Itoa(i)); i++ {
		out = append(out, form.Get(prefix+strconv.Itoa(i)))
	}
	return out
}

// Pairs reads a map of the query protocol.
func Pairs(form url.Values, key, value string) map[string]string {
	all := map[string]string{}
	for i := 1; form.Has(fmt.Sprintf(key, i)); i++ {
		all[form.Get(fmt.Sprintf(key, i))] = form.Get(fmt.Sprintf(value, i))
	}
	return all
}

// FormTags reads tags of the query protocol.
func FormTags(form url.Values, prefix string) map[string]string {
	return Pairs(form, prefix+"%d.Key", prefix+"%d.Value")
}
