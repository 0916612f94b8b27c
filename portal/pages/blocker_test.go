package pages

import (
	"fmt"
	"strings"
	"testing"
)

// TestWhatBlocksIsTheWorstAndOfThoseTheDeepest: an application waits for queues, some of which have dead-letter queues.
func TestWhatBlocksIsTheWorstAndOfThoseTheDeepest(t *testing.T) {
	const page = "/teams/payments/webapps/storefront"
	app := func(ready string, queues ...string) string {
		var bound []string
		for _, q := range queues {
			bound = append(bound, "{kind: SQSQueue, name: "+q+"}")
		}
		text := strings.Replace(exposedApp, "expose: {hostname: shop}", "bindings: ["+strings.Join(bound, ", ")+"]", 1)
		return strings.Replace(text, `status: "True", reason: InSync`, ready, 1)
	}
	const waits, fine = `status: "False", reason: BindingsMissing`, `status: "True", reason: InSync`
	queue := func(name, reason, dead string) string {
		spec, status := "", "False"
		if dead != "" {
			spec = ", deadLetterQueue: {targetRef: {name: " + dead + "}, maxReceiveCount: 3}"
		}
		if reason == "InSync" {
			status = "True"
		}
		return fmt.Sprintf(`
apiVersion: portico.dev/v1alpha1
kind: SQSQueue
metadata: {name: %s, namespace: payments, generation: 1, creationTimestamp: "2026-11-20T12:00:00Z"}
spec: {providerRef: {name: aws-prod}%s}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "%s", reason: %s, message: %s says so}]}
`, name, spec, status, reason, name)
	}
	for name, c := range map[string]struct {
		objects []string
		words   string // "": none
	}{
		"a queue that is not there":                        {[]string{app(waits, "a")}, "message queue a, which is not there"},
		"the dead-letter queue that is not there":          {[]string{app(waits, "a"), queue("a", "Creating", "d")}, "message queue d, which is not there"},
		"the dead-letter queue that fails":                 {[]string{app(waits, "a"), queue("a", "Creating", "d"), queue("d", "Failed", "")}, "d : needs you. D says so."},
		"the one that fails, after one that is on its way": {[]string{app(waits, "a", "b"), queue("a", "Creating", ""), queue("b", "Failed", "")}, "b : needs you. B says so."},
		"the one that fails, though another is deeper": {
			[]string{
				app(waits, "a", "b"), queue("a", "Creating", "d"), queue("d", "Creating", ""),
				queue("b", "Failed", ""),
			}, "b : needs you. B says so.",
		},
		"the deepest of those that fail": {[]string{app(waits, "b", "a"), queue("a", "Failed", "d"), queue("d", "Failed", ""), queue("b", "Failed", "")}, "d : needs you. D says so."},
		"the deepest of those on their way": {
			[]string{
				app(waits, "b", "a"), queue("a", "Creating", "d"), queue("d", "Creating", ""),
				queue("b", "Creating", ""),
			}, "d : in progress. D says so.",
		},
		"the first of those alike":                       {[]string{app(waits, "b", "a"), queue("a", "Creating", ""), queue("b", "Creating", "")}, "b : in progress. B says so."},
		"the queue itself, where what it needs is ready": {[]string{app(waits, "a"), queue("a", "Creating", "d"), queue("d", "InSync", "")}, "a : in progress. A says so."},
		"nothing below what is ready":                    {[]string{app(waits, "a"), queue("a", "InSync", "d"), queue("d", "Failed", "")}, ""},
		"nothing, where the application is ready":        {[]string{app(fine, "a"), queue("a", "Failed", "")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			html := visit(t, newFake(t, append(c.objects, provider)...), developer, page).Body.String()
			text := strings.Join(strings.Fields(tags.ReplaceAllString(after(html, `id="status"`), " ")), " ")
			if told := strings.Contains(text, "It depends on"); told != (c.words != "") ||
				!strings.Contains(text, c.words) {
				t.Errorf("want %q:\n%.600s", c.words, text)
			}
		})
	}
	hidden := newFake(t, app(waits, "a"), queue("a", "Failed", ""))
	hidden.denied = []string{"get sqsqueues payments"}
	if html := visit(t, hidden, developer, page).Body.String(); strings.Contains(html, "A says so") ||
		!strings.Contains(html, "which you are not allowed to see") {
		t.Errorf("what may not be seen is told, or left out:\n%s", html)
	}
}
