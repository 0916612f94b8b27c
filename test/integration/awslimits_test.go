//go:build integration

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/config/policy"
	"github.com/portico-platform/portico/test/awslimits"
)

// limited returns an object of the row's kind, with and without what AWS refuses.
func limited(t *testing.T, row awslimits.Row, name string) (bad, good *unstructured.Unstructured) {
	t.Helper()
	spec := map[string]any{"providerRef": map[string]any{"name": "aws-local"}}
	switch row.Kind {
	case v1alpha1.KindRDSInstance:
		maps.Copy(spec, map[string]any{
			"engine": "postgres", "dbInstanceClass": "db.t4g.micro",
			"allocatedStorage": int64(20), "masterUsername": "owner",
		})
	case v1alpha1.KindEC2Instance:
		maps.Copy(spec, map[string]any{
			"instanceName": "m", "instanceType": "t3.micro",
			"imageID": "ami-0123456789abcdef0",
		})
	}
	object := func(spec map[string]any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
		o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(row.Kind))
		o.SetNamespace("default")
		o.SetName(name)
		return o
	}
	good = object(runtime.DeepCopyJSON(spec))
	maps.Copy(spec, runtime.DeepCopyJSON(row.Spec))
	return object(spec), good
}

// TestWhatAWSRefusesIsRefusedAtAdmission checks each row of docs/aws-limits.md at the API server.
func TestWhatAWSRefusesIsRefusedAtAdmission(t *testing.T) {
	c := admin(t)
	for _, row := range awslimits.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			bad, good := limited(t, row, "limits")
			if err := c.Create(t.Context(), good, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
				t.Fatalf("without it: %v", err)
			}
			err := c.Create(t.Context(), bad, client.DryRunAll, client.FieldValidation("Strict"))
			if row.Field != "" {
				assertRefused(t, err, row.Field, row.Says)
			} else if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), row.Says) {
				t.Errorf("got %v, want %q", err, row.Says)
			}
		})
	}
}

// TestWhatAWSTakesIsTaken checks values just within the limits.
func TestWhatAWSTakesIsTaken(t *testing.T) {
	c := admin(t)
	var rows []awslimits.Row
	if err := yaml.UnmarshalStrict([]byte(`
- {kind: RDSInstance, spec: {storageType: gp3, allocatedStorage: 399}}
- {kind: RDSInstance, spec: {storageType: gp3, allocatedStorage: 400, iops: 12000, storageThroughput: 3000}}
- {kind: RDSInstance, spec: {engine: oracle-se2, storageType: gp3, allocatedStorage: 200, iops: 12000}}
- {kind: RDSInstance, spec: {engine: sqlserver-ex, storageType: gp3, allocatedStorage: 20, iops: 4000, storageThroughput: 1000}}
- {kind: RDSInstance, spec: {storageType: io1, allocatedStorage: 100, iops: 5000}}
- {kind: RDSInstance, spec: {preferredBackupWindow: '23:30-00:00', preferredMaintenanceWindow: 'mon:00:00-mon:00:30'}}
- {kind: RDSInstance, spec: {preferredBackupWindow: '00:30-01:00', preferredMaintenanceWindow: 'sun:23:45-mon:00:30'}}
- {kind: RDSInstance, spec: {preferredBackupWindow: '', preferredMaintenanceWindow: ''}}
- {kind: RDSInstance, spec: {masterUsername: tables, dbName: orders, tags: {'größe': 'a b_.:/=+-@'}}}
- {kind: S3Bucket, spec: {lifecycleRules: [{transitions: [{days: 30, storageClass: STANDARD_IA}, {days: 60, storageClass: GLACIER}]}]}}
- {kind: S3Bucket, spec: {lifecycleRules: [{transitions: [{days: 0, storageClass: GLACIER_IR}, {days: 1, storageClass: GLACIER}]}]}}
- {kind: S3Bucket, spec: {corsRules: [{allowedMethods: [GET], allowedOrigins: ['*', 'https://*.example.com'], allowedHeaders: ['*']}]}}
- {kind: S3Bucket, spec: {policy: ' {"Statement": [{"A": "{[:,\" \u00e4", "B": [1, -2.5e3, true, null, {}]}, {"C": []}]} '}}
- {kind: SQSQueue, spec: {policy: '{}', deadLetterQueue: {targetArn: 'arn:aws:sqs:eu-west-1:123456789012:dead', maxReceiveCount: 3}}}
- {kind: EC2Instance, spec: {tags: {'a*b': 'c;d'}, blockDeviceMappings: [{deviceName: /dev/sdf, volumeSize: 4, iops: 3000, throughput: 750}]}}
- {kind: EC2Instance, spec: {blockDeviceMappings: [{deviceName: /dev/sdf, volumeType: io2, volumeSize: 4, iops: 4000}, {deviceName: /dev/sdg}]}}
`), &rows); err != nil {
		t.Fatal(err)
	}
	statement := `{"Sid":"s","Effect":"Allow","Principal":{"AWS":["arn:aws:iam::123456789012:root"]},"Action":["sns:Publish"],"Resource":["a","b"]}`
	// the cost of a policy is limited
	for kind, longest := range map[string]int{v1alpha1.KindSNSTopic: 30720, v1alpha1.KindS3Bucket: 20480} {
		n := (longest - 30) / (len(statement) + 1)
		policy := `{"Statement":[` + strings.Repeat(statement+",", n-1) + statement + "]}"
		dense := `{"S":[` + strings.Repeat("1,", longest/2-10) + "1]}"
		rows = append(rows, awslimits.Row{Kind: kind, Spec: map[string]any{"policy": policy}},
			awslimits.Row{Kind: kind, Spec: map[string]any{"policy": dense}})
	}
	var subscriptions []any
	for n := range 20 {
		subscriptions = append(subscriptions, map[string]any{
			"queueRef": map[string]any{"name": fmt.Sprintf("q-%d", n)}, "filterPolicy": `{"a":[` +
				strings.Repeat("1,", 2000) + "1]}",
		})
	}
	rows = append(rows, awslimits.Row{Kind: v1alpha1.KindSNSTopic, Spec: map[string]any{
		"subscriptions": subscriptions,
	}})
	for _, row := range rows {
		o, _ := limited(t, row, "limits")
		if err := c.Create(t.Context(), o, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s %.200v: %v", row.Kind, row.Spec, err)
		}
	}
}

// TestWhatIsThereBeyondALimitCanBeEdited stores objects that AWS refuses before the rules are installed, as an
// earlier version could: every other edit of them passes, and changes of finalizers and status always do. It uses
// copies of the kinds in a separate group.
func TestWhatIsThereBeyondALimitCanBeEdited(t *testing.T) {
	kindsAndPolicies := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(kindsAndPolicies))
	utilruntime.Must(admissionv1.AddToScheme(kindsAndPolicies))
	c, err := client.New(world.Admin, client.Options{Scheme: kindsAndPolicies})
	if err != nil {
		t.Fatal(err)
	}
	kinds := copiedKinds(t, c)
	stored := map[string]*unstructured.Unstructured{}
	for i, row := range awslimits.Rows() {
		bad, _ := limited(t, row, fmt.Sprintf("limit-%d", i))
		bad.SetAPIVersion(copiedGroup + "/v1alpha1")
		await(t, "the copy of the kind to be served", func() (bool, string) {
			err := c.Create(t.Context(), bad)
			return err == nil || apierrors.IsAlreadyExists(err), fmt.Sprint(err)
		})
		stored[row.Name] = bad
	}
	for _, kind := range kinds {
		fresh := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(kind), fresh); err != nil {
			t.Fatal(err)
		}
		fresh.Spec.Versions = kind.Spec.Versions
		if err := c.Update(t.Context(), fresh); err != nil {
			t.Fatal(err)
		}
	}
	copiedPolicy(t, c)
	for _, row := range awslimits.Rows() {
		t.Run(row.Name, func(t *testing.T) {
			o := stored[row.Name]
			bad, _ := limited(t, row, "limits-again")
			bad.SetAPIVersion(copiedGroup + "/v1alpha1")
			await(t, "the rules to hold", func() (bool, string) {
				err := c.Create(t.Context(), bad, client.DryRunAll)
				return apierrors.IsInvalid(err), fmt.Sprint(err)
			})
			edit := func(what string, change func(*unstructured.Unstructured), write func(client.Object) error) {
				t.Helper()
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
					t.Fatal(err)
				}
				change(o)
				if err := write(o); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			update := func(o client.Object) error { return c.Update(t.Context(), o) }
			edit("another field", func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, "Adopt", "spec", "adoptionPolicy")
			}, update)
			edit("a sibling", func(o *unstructured.Unstructured) { addEntries(t, o, row, siblings) }, update)
			worse := o.DeepCopy()
			if addEntries(t, worse, row, alsoBad) {
				if err := update(worse); !apierrors.IsInvalid(err) {
					t.Errorf("another bad entry beside it: %v", err)
				}
			}
			edit("a finalizer", func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"portico.dev/test"}) },
				update)
			edit("the status", func(o *unstructured.Unstructured) {
				_ = unstructured.SetNestedField(o.Object, int64(1), "status", "observedGeneration")
			}, func(o client.Object) error { return c.Status().Update(t.Context(), o) })
			edit("no finalizer", func(o *unstructured.Unstructured) { o.SetFinalizers(nil) }, update)
		})
	}
}

// siblings are an entry beside a bad one, by its field.
var siblings = map[string]any{
	"tags":                map[string]any{"sibling": "good"},
	"lifecycleRules":      []any{map[string]any{"expirationDays": int64(9)}},
	"corsRules":           []any{map[string]any{"allowedMethods": []any{"GET"}, "allowedOrigins": []any{"*"}}},
	"subscriptions":       []any{map[string]any{"queueRef": map[string]any{"name": "sibling"}}},
	"blockDeviceMappings": []any{map[string]any{"deviceName": "/dev/sdz", "volumeSize": int64(4)}},
}

// alsoBad are other bad entries, which are new.
var alsoBad = map[string]any{
	"tags": map[string]any{"sibling": "b;d"},
	"lifecycleRules": []any{map[string]any{"transitions": []any{
		map[string]any{"days": int64(40), "storageClass": "STANDARD_IA"},
		map[string]any{"days": int64(41), "storageClass": "GLACIER"},
	}}},
	"corsRules": []any{map[string]any{
		"allowedMethods": []any{"GET"}, "allowedOrigins": []any{"https://*.*.example.org"},
		"allowedHeaders": []any{"y-*-*"}, "exposeHeaders": []any{"y-*"},
	}},
}

// addEntries adds entries in front of each list, and to the tags, of the row. It reports whether it added any.
func addEntries(t *testing.T, o *unstructured.Unstructured, row awslimits.Row, entries map[string]any) (added bool) {
	t.Helper()
	spec := o.Object["spec"].(map[string]any)
	for name := range row.Spec {
		switch there := spec[name].(type) {
		case map[string]any:
			if more, known := entries[name].(map[string]any); known {
				maps.Copy(there, more)
				added = true
			}
		case []any:
			more, known := entries[name].([]any)
			if known {
				spec[name] = append(slices.Clone(more), there...)
				added = true
			} else if siblings[name] == nil {
				t.Fatalf("no sibling for %s is known", name)
			}
		}
	}
	return added
}

const copiedGroup = "limits.portico.test"

// copiedKinds applies copies of the kinds in the rows, without rules, and returns them with the rules.
func copiedKinds(t *testing.T, c client.Client) (whole []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	done := map[string]bool{}
	for _, row := range awslimits.Rows() {
		plural := strings.ToLower(row.Kind) + "s"
		if done[plural] {
			continue
		}
		done[plural] = true
		text, err := crd.Files.ReadFile("bases/portico.dev_" + plural + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		kind := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, kind); err != nil {
			t.Fatal(err)
		}
		kind.Name, kind.Spec.Group = plural+"."+copiedGroup, copiedGroup
		kind.Annotations, kind.Spec.Names.Categories, kind.Spec.Names.ShortNames = nil, nil, nil
		whole = append(whole, kind)
		bare := kind.DeepCopy()
		withoutRules(bare.Spec.Versions[0].Schema.OpenAPIV3Schema)
		if err := c.Create(t.Context(), bare); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), bare) })
	}
	return whole
}

func withoutRules(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations = nil
	if s.Items != nil && s.Items.Schema != nil {
		withoutRules(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		withoutRules(s.AdditionalProperties.Schema)
	}
	for name, p := range s.Properties {
		withoutRules(&p)
		s.Properties[name] = p
	}
}

// copiedPolicy applies the policy about documents for the copies.
func copiedPolicy(t *testing.T, c client.Client) {
	t.Helper()
	text, err := policy.Files.ReadFile("documents.yaml")
	if err != nil {
		t.Fatal(err)
	}
	of, binding, found := strings.Cut(strings.ReplaceAll(string(text), "portico-documents", "limits-documents"),
		"\n---\n")
	if !found {
		t.Fatal("documents.yaml has one document")
	}
	p, b := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := yaml.Unmarshal([]byte(of), p); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(binding), b); err != nil {
		t.Fatal(err)
	}
	p.Spec.MatchConstraints.ResourceRules[0].APIGroups = []string{copiedGroup}
	for _, o := range []client.Object{p, b} {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), o) })
	}
}
