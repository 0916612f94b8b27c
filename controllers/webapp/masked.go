package webapp

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
		if client.IgnoreNotFound(err) != nil {
			return "", false
		}
		for _, value := range secret.Data {
			values = append(values, forms(string(value))...)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, v := range values { // the longest first: one may be part of another
		line = strings.ReplaceAll(line, v, "***")
	}
	return line, true
}

// forms are the ways in which a value may stand in a line.
func forms(value string) []string {
	var all []string
	for part := range strings.SplitSeq(value, "\n") {
		part = strings.TrimSpace(part)
		if len(part) >= shortestSecret {
			all = append(all, part, url.QueryEscape(part), url.PathEscape(part), base64.StdEncoding.EncodeToString([]byte(part)))
		}
	}
	if len(value) >= shortestSecret {
		all = append(all, base64.StdEncoding.EncodeToString([]byte(value)))
	}
	return all
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
