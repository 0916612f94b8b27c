package status

import (
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// TestThePhaseOfAKindOfOthers has statuses as controllers of the field write them.
func TestThePhaseOfAKindOfOthers(t *testing.T) {
	ack := &v1alpha1.CatalogStates{
		Ready:  []v1alpha1.CatalogState{{Condition: "ACK.ResourceSynced"}},
		Failed: []v1alpha1.CatalogState{{Condition: "ACK.Terminal"}},
	}
	route := &v1alpha1.CatalogStates{
		Conditions: ".status.parents[*].conditions", Ready: []v1alpha1.CatalogState{{Condition: "Accepted"}},
		Failed: []v1alpha1.CatalogState{{Condition: "Accepted", Values: []string{"False"}, Reasons: []string{"NotAllowed"}}},
	}
	field := &v1alpha1.CatalogStates{
		Ready:   []v1alpha1.CatalogState{{Field: ".status.phase", Values: []string{"Running", "Done"}}},
		Failed:  []v1alpha1.CatalogState{{Field: ".status.phase", Values: []string{"Error"}}},
		Message: ".status.reason",
	}
	for name, c := range map[string]struct {
		states *v1alpha1.CatalogStates
		status string
		phase  phase.Phase
		why    string
	}{
		"nothing said yet": {nil, "", phase.InProgress, "Requested. Its controller has not said anything yet."},
		"ready by kstatus": {nil, `{conditions: [{type: Ready, status: "True"}]}`, phase.Ready, ""},
		"of an older generation": {
			nil, `{observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}`, phase.InProgress,
			"Your change is not applied yet.",
		},
		"a status without conditions": {nil, "{arn: x}", phase.Ready, ""},
		"conditions without Ready":    {nil, `{conditions: [{type: Bound, status: "True"}]}`, phase.InProgress, "Requested. Its controller has not said anything yet."},
		"ACK, synced":                 {ack, `{conditions: [{type: ACK.ResourceSynced, status: "True"}]}`, phase.Ready, ""},
		"ACK, terminal": {
			ack, `{conditions: [{type: ACK.ResourceSynced, status: "False"}, {type: ACK.Terminal, status: "True", message: the name is taken}]}`,
			phase.NeedsYou, "The name is taken.",
		},
		"ACK, at work": {
			ack, `{conditions: [{type: ACK.ResourceSynced, status: "False", message: waiting for the queue}]}`, phase.InProgress,
			"Waiting for the queue.",
		},
		"a route that one of two Gateways accepts": {
			route, `{parents: [{conditions: [{type: Accepted, status: "True"}]}, {conditions: [{type: Accepted, status: "False", message: no listener}]}]}`,
			phase.InProgress, "No listener.",
		},
		"a route that one of two Gateways refuses": {
			route, `{parents: [{conditions: [{type: Accepted, status: "False", reason: NotAllowed, message: not here}]}, {conditions: [{type: Accepted, status: "True"}]}]}`,
			phase.NeedsYou, "Not here.",
		},
		"a route that its Gateway refuses": {
			route, `{parents: [{conditions: [{type: Accepted, status: "False", reason: NotAllowed, message: not from here}]}]}`,
			phase.NeedsYou, "Not from here.",
		},
		"a field that says ready":   {field, "{phase: Done}", phase.Ready, ""},
		"a field that says failed":  {field, "{phase: Error, reason: out of disks}", phase.NeedsYou, "Out of disks."},
		"a field that says why not": {field, "{phase: Pending, reason: pulling}", phase.InProgress, "Pulling."},
	} {
		t.Run(name, func(t *testing.T) {
			k := kindOfOthers(t, c.states)
			text := "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, generation: 2}\n"
			if c.status != "" {
				text += "status: " + c.status
			}
			got, why := PhaseIn(k, object(t, text))
			if got != c.phase || why != c.why {
				t.Errorf("got %q, %q; want %q, %q", got, why, c.phase, c.why)
			}
		})
	}
}

// kindOfOthers returns a kind with a status.
func kindOfOthers(t *testing.T, states *v1alpha1.CatalogStates) catalog.Kind {
	t.Helper()
	crd := &apiext.CustomResourceDefinition{Spec: apiext.CustomResourceDefinitionSpec{
		Group: "example.com", Names: apiext.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
		Versions: []apiext.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Schema: &apiext.CustomResourceValidation{OpenAPIV3Schema: &apiext.JSONSchemaProps{
				Type: "object", Properties: map[string]apiext.JSONSchemaProps{"status": {Type: "object"}},
			}},
		}},
	}}
	crd.Name = "widgets.example.com"
	entry := v1alpha1.CatalogEntry{Spec: v1alpha1.CatalogEntrySpec{
		Definition: v1alpha1.CatalogDefinition{Group: "example.com", Resource: "widgets", Version: "v1"}, Title: "Widget",
		States: states, Controller: &v1alpha1.CatalogController{Name: "the maker of widgets"},
	}}
	entry.Name = crd.Name
	all, err := catalog.New([]apiext.CustomResourceDefinition{*crd}, []v1alpha1.CatalogEntry{entry})
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}
