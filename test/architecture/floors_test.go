// Package architecture tests the tree itself, such as which package can import which, and that every kind is complete.
package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/portico-platform/portico/"

// floors are the packages or modules that a package must not import, directly or indirectly, with the reason.
var floors = []struct{ of, not, why string }{
	{"api/...", "sigs.k8s.io/controller-runtime", "api holds types only"},
	{"api/...", "github.com/aws/", "api holds types only"},
	{"api/...", module + "controllers", "api is the lowest floor"},
	{"controllers/engine", "github.com/aws/", "the engine knows no cloud"},
	{"controllers/external", "github.com/aws/", "the engine knows no cloud"},
	{"controllers/steps", "github.com/aws/", "the engine knows no cloud"},
	{"controllers/apply", "github.com/aws/", "the engine knows no cloud"},
	{"portal/...", "github.com/aws/", "the portal never talks to AWS"},
	{"portal/...", module + "controllers", "the portal and the controllers meet in Kubernetes only"},
	{"portal/form", module + "portal/cluster", "forms go by facts that they are given"},
	{"portal/cluster/feed", module + "portal/cluster/rights", "the cache checks no rights"},
	{"portal/cluster/rights", module + "portal/cluster/impersonate", "rights are decided with the portal's own account"},
	{"portal/cluster/objects", module + "portal/cluster/impersonate", "reads are the portal's own"},
	{"portal/form", module + "portal/auth", "who may do what is decided before a form is read"},
	{"portal/form", module + "portal/pages", "pages show forms"},
	{"portal/form", "k8s.io/client-go/rest", "forms go by facts that they are given"},
	{"portal/form", "github.com/go-chi/", "forms answer no requests"},
	{"portal/pages/admin", module + "portal/pages/resource", "pages know nothing of each other"},
	{"portal/pages/admin", module + "portal/pages/request", "pages know nothing of each other"},
	{"portal/pages/request", module + "portal/pages/resource", "pages know nothing of each other"},
	{"portal/pages/request", module + "portal/pages/admin", "pages know nothing of each other"},
	{"portal/pages/resource", module + "portal/pages/request", "pages know nothing of each other"},
	{"portal/pages/resource", module + "portal/pages/admin", "pages know nothing of each other"},
	{"portal/deletion", module + "portal/cluster", "what a deletion does is told from the object"},
	{"portal/commands", module + "portal/cluster", "lines to copy are written from the object"},
	{"portal/podlogs", "k8s.io/", "a log is lines of text, whoever reads it"},
	{"cmd/portal", "github.com/aws/", "the portal never talks to AWS"},
	{"portal/client", "k8s.io/client-go/rest", "the client talks to the portal only"},
	{"cmd/portico", "github.com/aws/", "the command line talks to the portal, and for admins to Kubernetes"},
	{"cmd/portico", module + "controllers", "the command line talks to the portal, and for admins to Kubernetes"},
	{"cmd/portico", "sigs.k8s.io/controller-runtime", "people download the command line: it stays small"},
	{"cmd/portico", "k8s.io/client-go/kubernetes", "people download the command line: it stays small"},
	{"cmd/portal", module + "config/catalog", "the kinds are those of the cluster's entries"},
	{"cmd/portico", module + "config/catalog", "the kinds are those that the portal publishes"},
	{"cmd/operator", module + "config/catalog/kinds", "the operator writes the generated entries, and reads those of the cluster"},
	{"cmd/operator", module + "portal", "the portal and the controllers meet in Kubernetes only"},
	{"config/...", "github.com/aws/", "config says what a cluster must have, for all who need it"},
	{"config/...", module + "controllers", "config says what a cluster must have, for all who need it"},
	{"config/...", module + "portal", "config says what a cluster must have, for all who need it"},
	{"config/check", "sigs.k8s.io/controller-runtime", "the command line compares clusters too, and stays small"},
	{"config/check", "github.com/prometheus/", "the command line compares clusters too, and stays small"},
	{"docs/site", module + "portal", "the portal and make docs put the pages into frames"},
	{"docs/site", "k8s.io/", "pages are made of Markdown"},
	{"web/...", "k8s.io/", "web shows what it is given"},
	{"web/...", module + "portal", "web shows what it is given"},
	{"cmd/operator", "google.golang.org/grpc", "its reflection more than doubles the binary"},
	{"cmd/portal", "google.golang.org/grpc", "its reflection more than doubles the binary"},
	{"cmd/...", module + "test", "what ships carries no test code"},
}

func TestFloors(t *testing.T) {
	imports := importsOf(t)
	for _, f := range floors {
		t.Run(f.of+" without "+f.not, func(t *testing.T) {
			deps := map[string]bool{}
			for name := range imports {
				prefix, below := strings.CutSuffix(module+f.of, "/...")
				if name == prefix || below && strings.HasPrefix(name, prefix+"/") {
					collect(imports, name, deps)
				}
			}
			if len(deps) < 2 {
				t.Fatalf("%s imports %d packages", f.of, len(deps))
			}
			for dep := range deps {
				if strings.HasPrefix(dep, f.not) {
					t.Errorf("imports %s: %s", dep, f.why)
				}
			}
		})
	}
}

// importsOf returns the imports of every package that this module needs, its own included.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}} {{join .Imports \" \"}}",
		module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[words[0]] = words[1:]
	}
	return all
}

// collect adds a package and all that it imports, directly or indirectly, to deps.
func collect(imports map[string][]string, name string, deps map[string]bool) {
	if deps[name] {
		return
	}
	deps[name] = true
	for _, next := range imports[name] {
		collect(imports, next, deps)
	}
}
