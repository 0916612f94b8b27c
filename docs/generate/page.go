package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/portico-platform/portico/api/metric"
)

const opening = `# Metrics
This page is generated from the source by ` + "`make generate`" + `; a test holds it to what operator and portal register.

The operator shows its metrics at ` + "`--metrics-bind-address`" + `, the portal at ` + "`--metrics-listen`" + `, both at ` + "`/metrics`" + `. *Series* is how many
one process shows at most. No label names an object or a namespace: how many of them there are does not matter to Prometheus,
and ` + "`kubectl`" + ` or the portal's admin pages tell which are meant. Counts of objects come from the replica that leads; others show none.

[Alerts](../config/monitoring/alerts.yaml) with a [page each](runbooks/README.md), and [dashboards](../config/monitoring/dashboards), use
these metrics.

## Portico's own
`

const librariesOpening = `
## Of libraries
controller-runtime, client-go and Prometheus' client bring many more; these are those that the alerts and dashboards use.

`

// page writes docs/metrics.md.
func page() []byte {
	out := bytes.NewBufferString(opening)
	table(out, metric.Declared())
	out.WriteString(librariesOpening)
	table(out, metric.Libraries())
	return out.Bytes()
}

func table(out *bytes.Buffer, all []metric.Info) {
	out.WriteString("| Metric | Of | Type | Unit | Labels | Series | Meaning |\n|---|---|---|---|---|---|---|\n")
	for i := range all {
		m := &all[i]
		fmt.Fprintf(out, "| `%s` | %s | %s | %s | %s | %d | %s |\n", m.Name, m.Source, m.Type, m.Unit(),
			labels(m.Labels), m.Series(), m.Help)
	}
}

// labels lists labels and what they may say.
func labels(all []metric.Label) string {
	var texts []string
	for _, l := range all {
		text := "`" + l.Name + "`: "
		if len(l.Values) > 0 {
			text += strings.Join(l.Values, ", ")
		} else {
			text += fmt.Sprintf("%s (at most %d)", l.Of, l.Most)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "<br>")
}
