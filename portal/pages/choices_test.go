package pages

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/form"
)

const (
	askApp  = "/teams/payments/new/webapps"
	shopApp = `
apiVersion: portico.dev/v1alpha1
kind: WebApp
metadata: {name: shop, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:57:00Z"}
spec: {image: "registry.example.com/shop:1", bindings: [{kind: SQSQueue, name: dead}, {kind: S3Bucket, name: dead}, {kind: SQSQueue, name: lost}]}
status: {observedGeneration: 1, conditions: [{type: Ready, status: "True", reason: InSync, message: ok}]}
`
)

func app(do string, more ...string) url.Values {
	v := url.Values{"do": {do}, "metadata.name": {"shop"}, "spec.image": {"registry.example.com/shop:1"}}
	for i := 0; i < len(more); i += 2 {
		v.Add(more[i], more[i+1])
	}
	return v
}

var element = regexp.MustCompile(`(?s)<(select|input)[^>]* name="([^"]+)"[^>]*>`)

// inputs returns the names that the form would post.
func inputs(html string) string {
	var all []string
	for _, m := range element.FindAllStringSubmatch(html, -1) {
		all = append(all, m[2])
	}
	return strings.Join(all, " ")
}

func TestNamesOfObjectsAreChosenAmongThoseThatExist(t *testing.T) {
	const binding, dlq = "spec.bindings[0].name", "spec.deadLetterQueue.targetRef.name"
	askQueue := strings.Replace(askApp, "webapps", "sqsqueues", 1)
	for _, c := range []struct {
		name    string
		objects []string
		denied  []string
		path    string
		form    url.Values
		words   []string
		lacks   []string
	}{
		{
			"of several kinds, kind and name are one choice",
			[]string{ordersQueue, deadQueue, readyBucket},
			nil, askApp, app("add spec.bindings"),
			[]string{
				`<optgroup label="Bucket">`, `<option value="S3Bucket/invoices">invoices</option>`,
				`<optgroup label="Message queue">`,
				`<option value="SQSQueue/dead">dead</option>`,
				`<option value="SQSQueue/orders">orders (in progress)</option>`,
			},
			[]string{"spec.bindings[0].kind"},
		},
		{
			"what was chosen stays",
			[]string{deadQueue},
			nil, askApp, app("", "spec.bindings[0]", "{}", binding, "SQSQueue/dead"),
			[]string{`<option value="SQSQueue/dead" selected>dead</option>`, "  - kind: SQSQueue\n    name: dead\n"},
			[]string{"not there"},
		},
		{
			"what is gone stays, with a note",
			[]string{deadQueue},
			nil, askApp, app("", binding, "SQSQueue/lost"),
			[]string{`<option value="SQSQueue/lost" selected>lost (not there)</option>`},
			nil,
		},
		{
			"a kind that may be named but has no object",
			[]string{deadQueue},
			nil, askApp, app("", binding, "S3Bucket/dead"),
			[]string{
				`<optgroup label="Bucket">`, `<option value="S3Bucket/dead" selected>dead (not there)</option>`,
				`<option value="SQSQueue/dead">`,
			},
			nil,
		},
		{
			"without any object kind and name are entered", nil, nil, askApp,
			app("", "spec.bindings[0].kind", "SQSQueue", binding, "orders"),
			[]string{
				`<option value="SQSQueue" selected>`, `name="spec.bindings[0].name" required class="" value="orders"`,
				"payments has none yet.",
				`<a href="/teams/payments/new/sqsqueues" target="_blank" rel="noopener">a message queue</a>`,
			},
			[]string{"optgroup"},
		},
		{
			"without the right to list they are entered too",
			[]string{deadQueue},
			[]string{"list payments"},
			askApp, app("add spec.bindings"),
			[]string{"You are not allowed to list these in payments: type the name.", `name="spec.bindings[0].kind"`},
			[]string{"SQSQueue/dead", "none yet"},
		},
		{
			"of one kind, names are the choice",
			[]string{ordersQueue, deadQueue},
			nil, askQueue,
			url.Values{"metadata.name": {"q"}, dlq: {"dead"}},
			[]string{
				`<option value="dead" selected>dead</option>`,
				`<option value="orders">orders (in progress)</option>`, `<option value="">Not set</option>`,
			},
			[]string{"optgroup"},
		},
		{
			"without any queue its name is entered", nil, nil, askQueue,
			url.Values{"metadata.name": {"q"}, dlq: {"dead"}},
			[]string{`name="spec.deadLetterQueue.targetRef.name" class="" value="dead"`, "payments has none yet."},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, c.objects...)
			f.denied = c.denied
			html := post(t, f, c.path, c.form).Body.String()
			for _, words := range c.words {
				if !strings.Contains(html, words) {
					t.Errorf("the page lacks %q:\n%s", words, html)
				}
			}
			for _, words := range c.lacks {
				if strings.Contains(html, words) {
					t.Errorf("the page has %q", words)
				}
			}
		})
	}
}

func TestTooManyObjectsAreNotListed(t *testing.T) {
	f := newFake(t)
	for i := range form.MaxChoices + 1 {
		f.objects = append(f.objects, object(t, strings.ReplaceAll(deadQueue, "dead", fmt.Sprintf("dead-%d", i))))
	}
	html := post(t, f, askApp, app("add spec.bindings")).Body.String()
	if !strings.Contains(html, "too many to choose from here: type the name.") || strings.Contains(html, "dead-1") {
		t.Errorf("the page lists them:\n%s", html)
	}
}

func TestVariablesAreLines(t *testing.T) {
	f := newFake(t)
	html := post(t, f, askApp, app("", "spec.env[0].name", "A", "spec.env[0].value", "1", "spec.env[1].name", "B",
		"spec.env[1].valueFrom.secretKeyRef.name", "s", "spec.env[2].name", "C", "spec.env[2].value",
		"x\r\ny")).Body.String()
	for _, words := range []string{
		`<details class="fold" id="f-spec-env-0-valueFrom">`, `<details class="fold" id="f-spec-env-1-valueFrom" open>`,
		`aria-describedby="f-spec-env-value-hint"`, `id="f-spec-env-value-hint"`, "put passwords into a Secret",
		"\nx\r\ny</textarea>",
	} {
		if !strings.Contains(html, words) {
			t.Errorf("the page lacks %q:\n%s", words, html)
		}
	}
	if got := strings.Count(html, "put passwords into a Secret"); got != 1 {
		t.Errorf("the hint stands there %d times", got)
	}
	if got := inputs(html); strings.Contains(got, "spec.env[0].valueFrom ") {
		t.Errorf("an empty group is sent: %s", got)
	}
}

func TestQuantitiesAreOneLine(t *testing.T) {
	html := visit(t, newFake(t), developer, askApp).Body.String()
	for _, name := range []string{"requests.cpu", "requests.memory", "limits.cpu", "limits.memory"} {
		if !strings.Contains(inputs(html), "spec.resources."+name) {
			t.Errorf("%s is no input of one line", name)
		}
	}
}

// TestValuesThatLinesCannotShowHaveRows: each has its own input, and none is split or trimmed.
func TestValuesThatLinesCannotShowHaveRows(t *testing.T) {
	for text, rows := range map[string]int{
		`["-c", "a\nb"]`: 2, `[" a"]`: 1, `[""]`: 1, `["-c", "a b"]`: 0,
	} {
		w := post(t, newFake(t), askApp,
			url.Values{"do": {"form"}, "yaml": {"metadata: {name: x}\nspec: {image: r/x:1, args: " + text + "}"}})
		if got := strings.Count(w.Body.String(), `name="spec.args[`); got != rows {
			t.Errorf("%s: in %d rows, want %d", text, got, rows)
		}
	}
	page := post(t, newFake(t), askApp,
		url.Values{
			"do":   {"form"},
			"yaml": {"metadata: {name: x}\nspec: {image: r/x:1, args: [\"-c\", \"a\\nb\"]}"},
		}).Body.String()
	page = post(t, newFake(t), askApp, pressing(t, page, "add spec.args")).Body.String()
	page = post(t, newFake(t), askApp, pressing(t, page, "remove spec.args[0]", "spec.args[2]", " last")).Body.String()
	lacks(t, post(t, newFake(t), askApp, pressing(t, page, "yaml")).Body.String(),
		"args:\n  - |-\n    a\n    b\n  - &#39; last&#39;\n")
}
