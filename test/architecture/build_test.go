package architecture

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheBuilderImportsTheStandardLibraryAlone checks the program that a new clone compiles first, before anything can
// show progress.
func TestTheBuilderImportsTheStandardLibraryAlone(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
		"./test/stack/cmd/portico-build")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := module + "test/stack/build\n" + module + "test/stack/cmd/portico-build\n"
	if string(out) != want {
		t.Errorf("it imports\n%s", out)
	}
}

// versions returns the module versions that a go.mod requires, by module.
func versions(t *testing.T, folder string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = filepath.Join("..", "..", folder)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type of struct{ Path, Version string }
	var file struct {
		Require []of
		Replace []struct{ Old, New of }
	}
	if err := json.Unmarshal(out, &file); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, m := range file.Require {
		found[m.Path] = m.Version
	}
	for _, m := range file.Replace {
		found[m.Old.Path] = m.New.Version
	}
	return found
}

// unshared are the modules with two versions: Dex uses another go-oidc, which is small.
var unshared = map[string]bool{"github.com/coreos/go-oidc/v3": true}

// TestVersionsAreShared checks that the product and the control plane use the same versions of modules, which are then
// compiled once for both (ADR 35).
func TestVersionsAreShared(t *testing.T) {
	product, controlPlane := versions(t, "."), versions(t, "test/controlplane")
	shared := 0
	for path, version := range product {
		switch other, both := controlPlane[path]; {
		case !both || unshared[path]:
		case other != version:
			t.Errorf("%s: the product has %s, test/controlplane %s: raise the older one", path, version, other)
		default:
			shared++
		}
	}
	if shared < 60 {
		t.Errorf("only %d modules are shared", shared)
	}
	if !strings.HasPrefix(controlPlane["k8s.io/kubernetes"], "v1."+strings.Split(product["k8s.io/api"], ".")[1]+".") {
		t.Errorf("the control plane is %s, the libraries are %s", controlPlane["k8s.io/kubernetes"],
			product["k8s.io/api"])
	}
}
