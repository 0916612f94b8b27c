package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/portico-platform/portico/portal/apidocs"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

const restOpening = `# REST API reference
Every request, below ` + "`/api/v1`" + ` of your portal. This page is generated from the source by ` + "`make generate`" + `. Your portal describes the same at
` + "`/api/docs`" + `, with examples, and for tools at ` + "`/api/v1/openapi.json`" + `. What holds for all requests, such as tokens, versions and errors, is on the
page of the [REST API](rest-api.md).
`

// restAPI writes docs/rest-reference.md.
func restAPI() ([]byte, error) {
	kinds, err := catalogtest.Load()
	if err != nil {
		return nil, fmt.Errorf("reading the kinds: %w", err)
	}
	parts, err := apidocs.Parts(kinds)
	if err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	out := bytes.NewBufferString(restOpening)
	for i := range parts {
		fmt.Fprintf(out, "\n## %s\n%s\n", parts[i].Name, parts[i].Help)
		for j := range parts[i].Operations {
			request(out, &parts[i].Operations[j])
		}
	}
	return out.Bytes(), nil
}

// request writes what there is to know of one request.
func request(out *bytes.Buffer, op *views.APIOperation) {
	fmt.Fprintf(out, "\n### %s\n`%s %s`", op.Summary, op.Method, op.Path)
	if op.Help != "" {
		fmt.Fprintf(out, "\n\n%s", cell(op.Help))
	}
	out.WriteString("\n\n")
	for _, p := range op.Parameters {
		if p.In == "path" {
			continue
		}
		required := ""
		if p.Required {
			required = ", required"
		}
		fmt.Fprintf(out, "- `%s` (%s, %s%s): %s\n", p.Name, p.In, p.Type, required, cell(p.Help))
	}
	if op.BodyType != "" {
		fmt.Fprintf(out, "- Body (`%s`): %s\n", op.BodyType, cell(op.BodyHelp))
	}
	var statuses []string
	for _, a := range op.Answers {
		statuses = append(statuses, a.Status)
	}
	fmt.Fprintf(out, "- Answers: %s\n", strings.Join(statuses, ", "))
}

// cell returns a text in one line, without what Markdown would take for markup.
func cell(text string) string {
	return strings.NewReplacer("<", `\<`, "*", `\*`, "[", `\[`).Replace(strings.Join(strings.Fields(text), " "))
}
