package backup

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func parsed(t *testing.T, text string) *object {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &object{}
	if err := o.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestKindsAreRestoredAfterWhatTheyReferTo(t *testing.T) {
	all, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, k := range all {
		names = append(names, k.name)
		if k.Version == "" || k.Resource == "" {
			t.Errorf("%+v", k)
		}
	}
	if got := names[:len(first)]; !slices.Equal(got, first) {
		t.Errorf("first come %v, want %v", got, first)
	}
	for _, want := range []string{"S3Bucket", "GatewayHostnameRequest", "WebApp"} {
		if !slices.Contains(names[len(first):], want) {
			t.Errorf("%s is not saved: %v", want, names)
		}
	}
}

func TestWhatPeopleDeclaredIsKept(t *testing.T) {
	got := cleaned(parsed(t, `
apiVersion: portico.dev/v1alpha1
kind: RDSInstance
metadata:
  name: orders
  namespace: payments
  uid: u1
  resourceVersion: "7"
  finalizers: [portico.dev/release]
  labels: {team: a}
  annotations:
    portico.dev/rotate-password: "1"
    portico.dev/acknowledge-recreate: "1"
    portico.dev/reconcile-requested-at: now
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    portico.dev/paused: "true"
spec: {allocatedStorage: 20}
status: {ready: true}
`))
	want := parsed(t, `
apiVersion: portico.dev/v1alpha1
kind: RDSInstance
metadata: {name: orders, namespace: payments, labels: {team: a}, annotations: {portico.dev/paused: "true"}}
spec: {allocatedStorage: 20}
`)
	one, _ := yaml.Marshal(got.Object)
	other, _ := yaml.Marshal(want.Object)
	if !bytes.Equal(one, other) {
		t.Errorf("kept\n%s, want\n%s", one, other)
	}
}

func TestFormerUIDs(t *testing.T) {
	for name, row := range map[string]struct{ kind, before, want string }{
		"a namespace":                         {"Namespace", "", "now"},
		"a namespace of a lost cluster":       {"Namespace", "first", "now,first"},
		"a namespace of two":                  {"Namespace", "second, first", "now,second,first"},
		"a namespace that was named itself":   {"Namespace", "now", "now"},
		"a request":                           {"GatewayHostnameRequest", "", "now"},
		"a request of a lost cluster":         {"GatewayHostnameRequest", "first", "first"},
		"what finds its own by the namespace": {"S3Bucket", "", ""},
	} {
		o := parsed(t, "{apiVersion: v1, kind: "+row.kind+", metadata: {name: a, uid: now}}")
		if row.before != "" {
			o.SetAnnotations(map[string]string{v1alpha1.AnnotationFormerUID: row.before})
		}
		if got := formerOf(o); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestSecretsAreNamed(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"a provider's keys": {"{apiVersion: portico.dev/v1alpha1, kind: AWSProvider, metadata: {name: a}, spec: " +
			"{credentials: {static: {accessKeyIDRef: {name: k, key: id}, secretAccessKeyRef: {name: k, key: s}, " +
			"sessionTokenRef: {name: t, key: s}}}}}", "system/k system/t"},
		"a password":       {"{apiVersion: portico.dev/v1alpha1, kind: RDSInstance, metadata: {name: a, namespace: team}, spec: {masterUserPasswordSecretRef: {name: p, key: x}}}", "team/p"},
		"an application's": {"{apiVersion: portico.dev/v1alpha1, kind: WebApp, metadata: {name: a, namespace: team}, spec: {env: [{secretRef: {name: e}}]}}", "team/e"},
		"none":             {"{apiVersion: portico.dev/v1alpha1, kind: SQSQueue, metadata: {name: a, namespace: team}, spec: {providerRef: {name: p}}}", ""},
	} {
		if got := strings.Join(secretsOf(parsed(t, row.text), "system"), " "); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestABackupIsReadAsItWasWritten(t *testing.T) {
	bucket := parsed(t, "{apiVersion: portico.dev/v1alpha1, kind: RDSInstance, metadata: {name: a, namespace: team}, "+
		"spec: {allocatedStorage: 20}}")
	space := parsed(t, "{apiVersion: v1, kind: Namespace, metadata: {name: team}}")
	var text bytes.Buffer
	if err := (&Backup{ClusterID: "c", Objects: []*object{bucket, space}, Secrets: []string{"team/p"}}).Write(
		&text); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&text)
	if err != nil {
		t.Fatal(err)
	}
	if got.ClusterID != "c" || !slices.Equal(got.Secrets, []string{"team/p"}) {
		t.Errorf("ClusterID = %q, want c; Secrets = %q, want team/p", got.ClusterID, got.Secrets)
	}
	if len(got.Objects) != 2 {
		t.Fatalf("%d objects, want 2: %+v", len(got.Objects), got.Objects)
	}
	if got.Objects[0].GetKind() != "Namespace" || !same(bucket, got.Objects[1]) {
		t.Errorf("Objects = %+v, want a Namespace and the bucket", got.Objects)
	}
}

func TestWhatIsNoBackupIsRefused(t *testing.T) {
	header := "apiVersion: backup.portico.dev/v1\nkind: Backup\nclusterID: c\n---\n"
	for name, row := range map[string]struct{ text, want string }{
		"nothing":           {"", "no backup of Portico"},
		"another file":      {"apiVersion: v1\nkind: Secret\n", "no backup of Portico"},
		"a later format":    {"apiVersion: backup.portico.dev/v9\nkind: Backup\nclusterID: c\n", "use the portico that wrote it"},
		"broken YAML":       {header + "a: [", "document 2 is no object"},
		"without a name":    {header + "apiVersion: v1\nkind: Namespace\n", "document 2 is no object: it has no name"},
		"a kind of others":  {header + "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: team}\n", "Secret team/s, which no backup of Portico has"},
		"without the start": {"apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n", "no backup of Portico"},
	} {
		if _, err := Read(strings.NewReader(row.text)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
