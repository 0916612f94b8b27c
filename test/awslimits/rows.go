// Package awslimits lists values that AWS certainly refuses and that Portico therefore refuses at admission.
// docs/aws-limits.md shows the list to users. Tests send each row to the API server and to the AWS simulator.
package awslimits

import (
	_ "embed"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// Row is a value that AWS refuses; rows.yaml describes the fields.
type Row struct {
	Name    string         `json:"name"`
	Kind    string         `json:"kind"`
	Spec    map[string]any `json:"spec"`
	Long    string         `json:"long"` // spec field that exceeds this length, in bytes
	Field   string         `json:"field"`
	Says    string         `json:"says"`
	Refused string         `json:"refused"`
	Page    string         `json:"page"`
}

//go:embed rows.yaml
var text []byte

// Rows returns all rows, grouped by kind.
func Rows() (all []Row) {
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		panic("rows.yaml: " + err.Error()) // the file is embedded
	}
	for i := range all {
		if all[i].Long != "" {
			all[i].Spec = map[string]any{all[i].Long: strings.Repeat("ä", 10_000)}
		}
	}
	return all
}

// Page returns the content of docs/aws-limits.md.
func Page() string {
	var b strings.Builder
	b.WriteString(`# What AWS refuses
AWS refuses these for certain, so Portico says it when you ask: the API server refuses the request, by kubectl, REST and the
portal alike, and names the field. Everything else AWS decides, and the resource's status tells. Values that are there already
and that an edit leaves alone pass. Each row is a test, at the API server and at the AWS simulator (` + "`test/awslimits`" + `).

| Kind | Refused | Source | Test |
| --- | --- | --- | --- |
`)
	for _, r := range Rows() {
		fmt.Fprintf(&b, "| %s | %s | [page](%s) | `%s` |\n", r.Kind, r.Refused, r.Page, r.Name)
	}
	return b.String()
}
