//go:build integration

package stack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"testing/fstest"

	"github.com/portico-platform/portico/config/manifests"
)

// TestTheStackInstallsWhatKubectlRenders compares what the stack applies of config/default, and a release's
// install.yaml has, with what kubectl apply -k applies.
func TestTheStackInstallsWhatKubectlRenders(t *testing.T) {
	kubectl := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kubectl"), "kustomize",
		filepath.Join(root, manifests.Default))
	kubectl.Stderr = os.Stderr
	text, err := kubectl.Output()
	if err != nil {
		t.Fatal(err)
	}
	byKubectl, err := manifests.ReadFile(fstest.MapFS{"rendered.yaml": {Data: text}}, "rendered.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := manifests.Read(os.DirFS(root), manifests.Default)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]object{}
	for _, o := range ours {
		left[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o.Object
	}
	if len(left) < 100 {
		t.Errorf("only %d objects", len(left))
	}
	for _, o := range byKubectl {
		name := o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
		if !reflect.DeepEqual(left[name], o.Object) {
			t.Errorf("%s differs: %v, and by kubectl %v", name, left[name], o.Object)
		}
		delete(left, name)
	}
	for name := range left {
		t.Errorf("kubectl does not render %s", name)
	}
}
