package entry_test

import (
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
)

// definition is a CRD of others, in whose group, resource and schema tests replace parts.
const definition = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              labels: {type: object, additionalProperties: {type: object, properties: {value: {type: string}}}}
              parts: {type: array, items: {type: object, properties: {name: {type: string}, kind: {type: string, enum: [Widget]}, sort: {type: string}}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              url: {type: string}
              parents: {type: array, items: {type: object, properties: {conditions: {type: array, items: {type: object}}}}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
  - {name: v2, served: true}
  - {name: v0, served: false}
`

const plain = `
definition: {group: example.com, resource: widgets, version: v1}
title: Widget
confirmed: [Unknown]
`

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	into := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestWhichKindsAreOffered(t *testing.T) {
	for name, c := range map[string]struct {
		from, to     string // in the definition
		entry        string // more of it
		group        string // of both
		reason, want string
	}{
		"a kind of others": {},
		"a group that nobody has confirmed": {
			entry: "confirmed: []", reason: v1alpha1.ReasonNotConfirmed,
			want: "for the writer of an object: Unknown.",
		},
		"cluster-scoped": {
			from: "scope: Namespaced", to: "scope: Cluster", reason: v1alpha1.ReasonInvalidSpec, want: "cluster-scoped",
		},
		"of Kubernetes itself": {
			group: "rbac.authorization.k8s.io", reason: v1alpha1.ReasonInvalidSpec,
			want: "a group of Kubernetes itself",
		},
		"of Gateway API, and not a route that policies see": {
			group: "gateway.networking.k8s.io", reason: v1alpha1.ReasonInvalidSpec,
			want: "a group of Kubernetes itself",
		},
		"not of Kubernetes, although its name is alike": {group: "cluster.x-k8s.io"},
		"of Portico, where its policies do not see it": {
			group: "aws.portico.dev", reason: v1alpha1.ReasonInvalidSpec, want: "do not see the group aws.portico.dev",
		},
		"an old version": {
			entry:  "definition: {group: example.com, resource: widgets, version: v0}",
			reason: v1alpha1.ReasonNoDefinition, want: "does not serve the version v0: name one of v1 or v2",
		},
		"a version without schema": {
			entry:  "definition: {group: example.com, resource: widgets, version: v2}",
			reason: v1alpha1.ReasonNoDefinition, want: "v2 of widgets.example.com has no schema",
		},
		"written by Portico": {
			entry: "writers: Portico", reason: v1alpha1.ReasonInvalidSpec, want: "writes no objects of kinds of others",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(definition, c.from, c.to, 1)
			spec := parse[v1alpha1.CatalogEntrySpec](t, plain)
			if err := yaml.Unmarshal([]byte(c.entry), spec); err != nil {
				t.Fatal(err)
			}
			if c.group != "" {
				text = strings.ReplaceAll(text, "example.com", c.group)
				spec.Definition.Group = c.group
			}
			err := entry.Check(spec, parse[apiext.CustomResourceDefinition](t, text)).Refused
			if c.want == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if err == nil || entry.Reason(err) != c.reason || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s: %s", err, c.reason, c.want)
			}
		})
	}
	err := entry.Check(parse[v1alpha1.CatalogEntrySpec](t, plain), nil).Refused
	if entry.Reason(err) != v1alpha1.ReasonNoDefinition {
		t.Errorf("without a definition: %v", err)
	}
}

func TestADefinitionThatIsNotServedIsNamed(t *testing.T) {
	crd := parse[apiext.CustomResourceDefinition](t, definition)
	crd.Status.Conditions = []apiext.CustomResourceDefinitionCondition{{
		Type: apiext.NamesAccepted, Status: apiext.ConditionFalse, Message: `"Widget" is already in use`,
	}}
	err := entry.Check(parse[v1alpha1.CatalogEntrySpec](t, plain), crd).Refused
	if err == nil || !strings.Contains(err.Error(), `"Widget" is already in use`) {
		t.Errorf("got %v", err)
	}
}

func TestThePowersOfControllers(t *testing.T) {
	for name, c := range map[string]struct {
		group, fields string // fields of the schema's spec
		want          string
	}{
		"a group that is not known": {"example.com", "", "Unknown"},
		"ACK":                       {"s3.services.k8s.aws", "name: {type: string}", ""},
		"roles in AWS":              {"iam.services.k8s.aws", "", "RBAC"},
		"a reference to a Secret":   {"rds.services.k8s.aws", "masterUserPassword: {type: object, properties: {secretRef: {type: object}}}", "Secrets"},
		"Pods within a list": {
			"example.com", "jobs: {type: array, items: {type: object, properties: {containers: {type: array}}}}",
			"Pods Unknown",
		},
		"rules of a role, within a map": {
			"example.com",
			"roles: {type: object, additionalProperties: {type: object, properties: {apiGroups: {}, verbs: {}}}}",
			"RBAC Unknown",
		},
		"a suffix of the name is not the group": {"notkro.run", "", "Unknown"},
		"Crossplane's own group":                {"pkg.crossplane.io", "", "Objects"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(definition, "example.com", c.group)
			crd := parse[apiext.CustomResourceDefinition](t, text)
			crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiext.JSONSchemaProps{
				Properties: *parse[map[string]apiext.JSONSchemaProps](t, c.fields),
			}
			spec := parse[v1alpha1.CatalogEntrySpec](t, plain)
			spec.Definition.Group = c.group
			var got []string
			for _, p := range entry.Check(spec, crd).Powers {
				got = append(got, string(p))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhatADefinitionDoesNotHaveIsNamed(t *testing.T) {
	spec := parse[v1alpha1.CatalogEntrySpec](t, plain+`
form:
  first: [size, colour]
  order: [name, shape]
  sections: [{title: More, fields: [weight]}]
  begins: [{field: free, value: "1"}]
  people: ["parts[].owner"]
references:
- {field: "parts[].name", kindField: kind}
- {field: "free.any[].name", to: widgets.example.com}
- {field: "labels.any.value", to: widgets.example.com}
- {field: "size[].name", to: widgets.example.com}
- {field: "parts[].name", kindField: sort}
page:
  endpoint: .status.url
  columns: [Size, Age]
  sentence:
  - phrases: [{text: "as {size} and {smell}", when: [{field: taste}]}]
states:
  conditions: .status.parents[*].conditions
  ready: [{field: .status.phase, values: [Done]}]
deletion: {editable: ["*"], lossyField: loose}
`)
	got := entry.Check(spec, parse[apiext.CustomResourceDefinition](t, definition))
	want := []string{
		".status.phase", "spec.colour", "spec.loose", "spec.parts[].owner", "spec.parts[].sort with a list of values",
		"spec.size[].name", "spec.smell",
		"spec.taste", "spec.weight", "the printer column Age",
	}
	if got.Refused != nil || !slices.Equal(got.Missing, want) {
		t.Errorf("got %v, %q; want %q", got.Refused, got.Missing, want)
	}
}

func TestOurOwnEntriesNameWhatThereIs(t *testing.T) {
	crds, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range kinds.All() {
		i := slices.IndexFunc(crds, func(c apiext.CustomResourceDefinition) bool { return c.Name == e.Name })
		if i < 0 {
			t.Errorf("%s has no CRD", e.Name)
			continue
		}
		got := entry.Check(&e.Spec, &crds[i])
		if got.Refused != nil || len(got.Missing) > 0 {
			t.Errorf("%s: %v, %q", e.Name, got.Refused, got.Missing)
		}
	}
}
