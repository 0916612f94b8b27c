package check

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
)

// Helm takes over what portico check --fix has created if it is marked as the release's.
func TestWhatIsCreatedJoinsTheRelease(t *testing.T) {
	const (
		account = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"portico-operator","namespace":"platform","annotations":{"meta.helm.sh/release-name":"portico","meta.helm.sh/release-namespace":"platform"}}}`
		plain   = `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"portico-operator","namespace":"platform"}}`
		crd     = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"awsproviders.portico.dev","annotations":{"meta.helm.sh/release-name":"crds","meta.helm.sh/release-namespace":"kube-system"}}}`
		role    = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"new","labels":{"a":"b"}}}`
		newCRD  = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"new.portico.dev"}}`
		own     = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"platform"}}`
		other   = `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"portico-gateways"}}`
	)
	for name, c := range map[string]struct {
		there   []string
		created string
		release string // "": of none
	}{
		"a role":                     {[]string{account, crd}, role, "portico"},
		"a CRD":                      {[]string{account, crd}, newCRD, "crds"},
		"a CRD where kubectl did it": {[]string{account}, newCRD, ""},
		"a role where kubectl did":   {[]string{plain, crd}, role, ""},
		"in an empty cluster":        {nil, role, ""},
		"the system's own namespace": {[]string{account}, own, ""},
		"another namespace":          {[]string{account}, other, "portico"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := fake.NewSimpleDynamicClient(runtime.NewScheme())
			cluster := &Cluster{objects: objects, names: Names{Namespace: "platform"}}
			for _, text := range append(c.there, c.created) {
				o, err := decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				if text != c.created {
					if err := objects.Tracker().Create(resourceOf(o[0]), o[0], o[0].GetNamespace()); err != nil {
						t.Fatal(err)
					}
					continue
				}
				before := o[0].GetLabels()
				if err := cluster.join(t.Context(), o[0]); err != nil {
					t.Fatal(err)
				}
				labels, notes := o[0].GetLabels(), o[0].GetAnnotations()
				if got := notes[releaseName]; got != c.release {
					t.Errorf("it is of the release %q, want %q", got, c.release)
				}
				if (labels[managedBy] == "Helm") != (c.release != "") || (notes[releaseIn] != "") != (c.release != "") {
					t.Errorf("labels %v, annotations %v", labels, notes)
				}
				delete(labels, managedBy)
				if !maps.Equal(labels, before) {
					t.Errorf("labels %v, were %v", labels, before)
				}
			}
		})
	}
}
