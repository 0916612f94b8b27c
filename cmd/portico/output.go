package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
	"github.com/portico-platform/portico/portal/status"
)

type (
	object  = unstructured.Unstructured
	objects = client.Objects[object]
	result  = client.Result[object]
)

// formats are the values of -o for objects, and plainFormats those for other output.
var (
	formats      = []string{"table", "wide", "json", "yaml", "name"}
	plainFormats = []string{"table", "json", "yaml"}
)

// outputFlag adds -o; its value is validated before any request.
func (a *app) outputFlag(cmd *cobra.Command, format *string, formats []string) {
	cmd.Flags().StringVarP(format, "output", "o", formats[0], "`format`: "+orList(formats))
	a.complete(cmd, "output", formats)
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkFormat(*format, formats); err != nil {
			return err
		}
		return run(cmd, args)
	}
}

func checkFormat(format string, formats []string) error {
	if !slices.Contains(formats, format) {
		return usagef("-o %q: want %s", format, orList(formats))
	}
	return nil
}

// encode writes v as json or yaml.
func (a *app) encode(format string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err == nil && format == "yaml" {
		b, err = yaml.JSONToYAML(b)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", format, err)
	}
	_, err = a.out.Write(append(bytes.TrimSuffix(b, []byte("\n")), '\n'))
	return err
}

// print writes objects in a format; a single object requested by name is not wrapped in a list.
func (a *app) print(format string, list []object, single bool) error {
	v := any(map[string]any{"apiVersion": "v1", "kind": "List", "items": contents(list)}) // as in kubectl, for apply
	if single {
		v = list[0].Object
	}
	switch format {
	case "json", "yaml":
		return a.encode(format, v)
	case "name":
		var b []byte
		for _, o := range list {
			word := strings.ToLower(o.GetKind())
			if k, known := a.kindIn(o.GetAPIVersion(), o.GetKind()); known && !k.Own() {
				word = k.Word()
			}
			b = fmt.Appendf(b, "%s/%s\n", word, o.GetName())
		}
		_, err := a.out.Write(b)
		return err
	}
	return a.rows(list, format == "wide")
}

func contents(list []object) []map[string]any {
	out := make([]map[string]any, 0, len(list))
	for _, o := range list {
		out = append(out, o.Object)
	}
	return out
}

// listHead is the head of lists; a growing list reserves width for later lines.
var (
	listHead   = []string{"NAMESPACE", "KIND", "NAME", "STATUS", "AGE", "ENDPOINT", "WHY"}
	listWidths = []int{12, 12, 20, 11, 5, 20}
)

// rows prints a table for people. A wide table of one kind has the kind's own columns too.
func (a *app) rows(list []object, wide bool) error {
	if len(list) == 0 {
		a.say("There is nothing here. portico kinds lists what can be requested.")
		return nil
	}
	var columns []catalog.Column
	if wide {
		columns = a.ownColumns(list)
	}
	head := slices.Clone(listHead[:len(listHead)-1])
	for _, c := range columns {
		head = append(head, strings.ToUpper(c.Name))
	}
	if wide {
		head = append(head, "REQUESTED BY")
	}
	t := a.table(append(head, listHead[len(listHead)-1])...)
	for _, o := range list {
		t.add(a.row(&o, columns, wide)...)
	}
	return t.write()
}

func (a *app) row(o *object, columns []catalog.Column, wide bool) []string {
	k, _ := a.kindIn(o.GetAPIVersion(), o.GetKind())
	state, why := status.PhaseIn(k, o)
	cells := []string{o.GetNamespace(), o.GetKind(), o.GetName(), string(state), a.age(o), k.EndpointOf(o)}
	for _, c := range columns {
		cells = append(cells, c.Value(o))
	}
	if wide {
		cells = append(cells, deploy.Name(o.GetAnnotations()[v1alpha1.AnnotationRequestedBy]))
	}
	return append(cells, why)
}

// ownColumns returns the printer columns of the listed kind, without those that every table has, or nil for a list of
// several kinds.
func (a *app) ownColumns(list []object) []catalog.Column {
	k, ok := a.kindIn(list[0].GetAPIVersion(), list[0].GetKind())
	other := func(o object) bool { return o.GroupVersionKind().GroupKind() != k.GVK().GroupKind() }
	if !ok || slices.ContainsFunc(list, other) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(k.Columns), func(c catalog.Column) bool {
		return c.Type == "date" || "{"+c.Path+"}" == k.Endpoint || c.Path == k.Endpoint ||
			strings.Contains(c.Path, ".status.conditions")
	})
}

func (a *app) age(o *object) string { return a.since(o.GetCreationTimestamp().Time) }

func (a *app) since(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return duration.HumanDuration(a.clock.Since(t))
}
