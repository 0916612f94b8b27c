package catalog

import (
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
)

func kindNamed(tb testing.TB, name string) Kind {
	tb.Helper()
	k, ok := load(tb).ByName(name)
	if !ok {
		tb.Fatalf("no %s", name)
	}
	return k
}

func TestReferencesNameTheirTargets(t *testing.T) {
	for _, c := range []struct {
		reason, kind, spec string
		want               []Target
	}{
		{"one object of a kind", "SQSQueue", "{deadLetterQueue: {targetRef: {name: dead}}}", []Target{{"SQSQueue", "dead"}}},
		{"nothing", "SQSQueue", "{}", nil},
		{
			"rows that name their kind", "WebApp", "{bindings: [{kind: SQSQueue, name: orders}, {kind: S3Bucket, " +
				"name: orders}]}",
			[]Target{{"SQSQueue", "orders"}, {"S3Bucket", "orders"}},
		},
		{"rows without a name, or of no kind that may be named", "WebApp", "{bindings: [{kind: SQSQueue}, {name: x}, {kind: Secret, name: x}, 1]}", nil},
		{"no list", "WebApp", "{bindings: {kind: SQSQueue, name: x}}", nil},
		{"a field of a group", "WebApp", "{expose: {hostname: shop}}", []Target{{"GatewayHostnameRequest", "shop"}}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			k := kindNamed(t, c.kind)
			var got []Target
			for _, r := range k.Refers {
				got = append(got, r.Targets(mustYAML(t, k, "spec: "+c.spec))...)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestReferencesAreFoundByTheirParts(t *testing.T) {
	k := kindNamed(t, "WebApp")
	for path, want := range map[string]bool{
		"spec.bindings[3].name": true, "spec.bindings[3].kind": true, "spec.bindings[].name": true,
		"spec.expose.hostname": true, "spec.expose": false, "spec.bindings[3].prefix": false, "spec.bindings[3]": false,
		"spec.env[3].name": false, "": false,
	} {
		r, ok := k.Reference(path)
		if ok != want {
			t.Errorf("%q: %v, want %v", path, ok, want)
		}
		if !ok || !strings.Contains(path, "3") {
			continue
		}
		name, kind := r.NameAt(path), r.KindAt(path)
		if name != "spec.bindings[3].name" || kind != "spec.bindings[3].kind" {
			t.Errorf("%q: fields %s, %s, want spec.bindings[3].name and .kind", path, name, kind)
		}
	}
	if r := kindNamed(t, "SQSQueue").Refers[0]; r.KindAt("spec.deadLetterQueue.targetRef.name") != "" {
		t.Error("a reference to one kind has a field for it")
	}
}

func TestReferencesHaveWords(t *testing.T) {
	for kind, want := range map[string]string{
		"SQSQueue": "Dead letter queue/Dead letter queue of", "WebApp": "Uses/Used by, Hostname/Hostname of",
	} {
		var got []string
		for _, r := range kindNamed(t, kind).Refers {
			got = append(got, r.Role+"/"+r.Back)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestReferencesThatLeadNowhereAreLeftOut(t *testing.T) {
	crds, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	for reason, wrong := range map[string]v1alpha1.CatalogReference{
		"no kind that exists":   {Field: "deadLetterQueue.targetRef.name", To: "secrets.portico.dev"},
		"no field":              {Field: "deadLetterQueue.target", To: "sqsqueues.portico.dev"},
		"no field for the kind": {Field: "deadLetterQueue.targetRef.name", KindField: "kind"},
	} {
		t.Run(reason, func(t *testing.T) {
			entries := kinds.All()
			i := slices.IndexFunc(entries, func(e v1alpha1.CatalogEntry) bool {
				return e.Name == "sqsqueues.portico.dev"
			})
			entries[i].Spec.References = []v1alpha1.CatalogReference{wrong}
			all, err := New(crds, entries)
			if k, _ := all.ByName("SQSQueue"); err != nil || len(k.Refers) > 0 {
				t.Errorf("%v, %v", k.Refers, err)
			}
		})
	}
}

func TestOneInputChoosesKindAndName(t *testing.T) {
	k := kindNamed(t, "WebApp")
	for _, c := range []struct{ reason, form, want string }{
		{"both at once", "spec.bindings[0].name=SQSQueue/orders", "spec.bindings[0].kind=SQSQueue&spec.bindings[0].name=orders"},
		{"a kind of its own", "spec.bindings[0].kind=S3Bucket&spec.bindings[0].name=a/b", "spec.bindings[0].kind=S3Bucket&spec.bindings[0].name=a/b"},
		{"nothing chosen", "spec.bindings[1].name=", "spec.bindings[1].kind=&spec.bindings[1].name="},
		{"another field", "spec.env[0].value=a/b&spec.image=r/x:1", "spec.env[0].value=a/b&spec.image=r/x:1"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, err := url.ParseQuery(c.form)
			if err != nil {
				t.Fatal(err)
			}
			want, err := url.ParseQuery(c.want)
			if err != nil {
				t.Fatal(err)
			}
			if k.Split(got); got.Encode() != want.Encode() {
				t.Errorf("%s, want %s", got.Encode(), want.Encode())
			}
		})
	}
}

func TestQuantitiesAreText(t *testing.T) {
	k := kindNamed(t, "WebApp")
	f := field(t, k.Fields(), "resources", "requests", "cpu")
	if f.Type != String || f.Format != "quantity" {
		t.Errorf("%s %s", f.Type, f.Format)
	}
	got, errs := k.Decode(url.Values{"spec.resources.requests.cpu": {"2"}, "spec.resources.limits.memory": {""}}, nil)
	want := mustYAML(t, k, `spec: {resources: {requests: {cpu: "2"}}}`)
	if len(errs) > 0 || !reflect.DeepEqual(got.Object["spec"], want.Object["spec"]) {
		t.Errorf("%v, %v", got.Object["spec"], errs)
	}
}

func TestEmptyGroupsOfARowSendNothing(t *testing.T) {
	k := kindNamed(t, "WebApp")
	got, errs := k.Decode(url.Values{
		"spec.env": {""}, "spec.env[0]": {"{}"}, "spec.env[0].name": {"LEVEL"}, "spec.env[0].value": {"a\r\n b "},
		"spec.env[0].valueFrom.secretKeyRef.name": {""}, "spec.env[0].valueFrom.secretKeyRef.key": {""},
		"spec.env[0].valueFrom.configMapKeyRef.name": {""}, "spec.env[0].valueFrom.configMapKeyRef.key": {""},
		"spec.envFrom[0]": {"{}"}, "spec.envFrom[0].secretRef.name": {""}, "spec.envFrom[0].configMapRef.name": {"settings"},
	}, nil)
	want := mustYAML(t, k, `spec: {env: [{name: LEVEL, value: "a\n b "}], envFrom: [{configMapRef: {name: settings}}]}`)
	if len(errs) > 0 || !reflect.DeepEqual(got.Object["spec"], want.Object["spec"]) {
		t.Errorf("%v, %v", got.Object["spec"], errs)
	}
}

func TestRulesAboutTheNameStandAtTheName(t *testing.T) {
	k := kindNamed(t, "WebApp")
	about, other := k.source.unpacked().rules[0].Message, "some validation rules were not checked"
	got := k.Locate(FieldErrors{{Message: about}, {Message: other}, {Field: "spec", Message: about}})
	want := FieldErrors{{Field: "metadata.name", Message: about}, {Message: other}, {Field: "spec", Message: about}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
