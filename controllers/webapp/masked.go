package webapp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
)

// shortestSecret is the length from which a value is masked: shorter ones are in every other word.
const shortestSecret = 4

// masked is the cause's text with the application's last line, in which no value stands of a Secret that the application
// is given: output goes where Secrets must not. Where a Secret cannot be read the line is left out.
func (r *run) masked(ctx context.Context, c cause) string {
	line, ok := r.mask(ctx, c.line)
	if !ok {
		return c.text
	}
	if len(line) > longestLine {
		cut := longestLine
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut] + "…"
	}
	return c.text + "; its last line is: " + line
}

func (r *run) mask(ctx context.Context, line string) (string, bool) {
	var values []string
	for _, name := range r.secrets() {
		secret := &corev1.Secret{}
		err := r.Writer.Live.Get(ctx, r.objects.Key(name), secret)
		if err != nil { // even if it is gone: the application may have read it
			return "", false
		}
		for _, value := range secret.Data {
			values = append(values, forms(string(value))...)
		}
	}
	return hide(line, values), true
}

// hide puts *** in the place of every value, also where they overlap.
func hide(line string, values []string) string {
	hidden := make([]bool, len(line))
	mark := func(at, length int) {
		for i := range length {
			hidden[at+i] = true
		}
	}
	for _, v := range values {
		mark(0, begun(line, v))
		for at := 0; ; at++ {
			i := strings.Index(line[at:], v)
			if i < 0 {
				break
			}
			at += i
			mark(at, len(v))
		}
	}
	var out strings.Builder
	for i := range hidden {
		switch {
		case !hidden[i]:
			out.WriteByte(line[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString("***")
		}
	}
	return out.String()
}

// begun is how much of the end of value the line begins with: of a long output the kubelet keeps the end, cut anywhere.
func begun(line, value string) int {
	for from := 1; from <= len(value)-shortestSecret; from++ {
		if strings.HasPrefix(line, value[from:]) {
			return len(value) - from
		}
	}
	return 0
}

// forms are the ways in which a value may stand in a line.
func forms(value string) []string {
	var all []string
	for part := range strings.SplitSeq(value, "\n") {
		part = strings.TrimSpace(part)
		if len(part) >= shortestSecret {
			all = append(all, printable(part), url.QueryEscape(part), url.PathEscape(part))
			all = append(all, inQuotes(part)...)
			all = append(all, inBase64(part)...)
		}
	}
	if len(value) >= shortestSecret {
		all = append(all, inQuotes(value)...)
		all = append(all, inBase64(value)...)
	}
	return slices.DeleteFunc(all, func(form string) bool { return len(form) < shortestSecret })
}

// inQuotes are the ways in which logs escape: JSON with and without its care for HTML.
func inQuotes(value string) []string {
	text, _ := json.Marshal(value) // of a string there is no error
	quoted := strconv.Quote(value)
	return []string{string(text[1 : len(text)-1]), quoted[1 : len(quoted)-1]}
}

// inBase64 is without padding, which may or may not follow.
func inBase64(value string) []string {
	return []string{base64.RawStdEncoding.EncodeToString([]byte(value)), base64.RawURLEncoding.EncodeToString([]byte(value))}
}

// secrets are the names of those that the Pods are given.
func (r *run) secrets() []string {
	var all []string
	for _, e := range r.app.Spec.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			all = append(all, e.ValueFrom.SecretKeyRef.Name)
		}
	}
	for _, e := range r.app.Spec.EnvFrom {
		if e.SecretRef != nil {
			all = append(all, e.SecretRef.Name)
		}
	}
	for _, b := range r.app.Status.Bindings {
		all = append(all, b.Secret)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
