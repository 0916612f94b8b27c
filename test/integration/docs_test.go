//go:build integration

package integration

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/test/docs"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// TestTheShellLinesOfThePagesRun runs the commands of the pages for users, one page after the other on the same
// platform, as a reader does. docs/cli.md has its own test, and the pages for administrators have theirs in
// test/stack.
func TestTheShellLinesOfThePagesRun(t *testing.T) {
	tiers.Long(t)
	p := startPortal(t, "", sessionKeys(t))
	setsSecrets(t, startInspectedFor(t, peopleOf(world.Issuer)))
	shell := userShell(t, p.url)
	t.Cleanup(func() {
		out, err := shell.Run(context.WithoutCancel(t.Context()),
			"portico secret delete shop -n payments --yes; for one in notes statements invoices exports receipts; do "+
				"kubectl annotate s3buckets $one -n payments --overwrite portico.dev/confirm-deletion=$one || true; "+
				"done 2>/dev/null; "+
				"kubectl delete s3buckets,gatewayhostnamerequests -n payments --ignore-not-found --timeout=1m notes "+
				"statements invoices exports receipts store")
		if err != nil {
			t.Errorf("requests stay: %v: %s", err, out)
		}
	})
	for _, page := range []*docs.Page{
		docs.Open(t, "../..", "README.md", "",
			docs.Otherwise{Part: "make ", Why: "it is what runs this"},
			docs.Otherwise{Part: "notes.yaml", Why: "it takes a real Node; make test-browser-node requests it there"},
			docs.Otherwise{Part: "webapp/notes", Why: "it takes a real Node"},
			docs.Otherwise{Part: "portico login", Why: "userShell did it, for it takes a browser"},
			docs.Otherwise{Part: "http://127.0.0.1:8080", Type: p.url, Why: "the portal of the test"},
			docs.Otherwise{Part: "http://127.0.0.1:5556/dex", Type: world.Issuer, Why: "Dex of the test"},
			docs.Otherwise{Part: "$PWD/.run/local/kubeconfig", Type: world.Kubeconfig, Why: "the cluster of the test"},
			docs.Otherwise{
				Part: "kubectl --context search-dev get s3buckets -n payments", Why: "it fails, as the page says",
				Type: "(kubectl --context search-dev get s3buckets -n payments 2>&1 || true) | grep Forbidden",
			},
			docs.Otherwise{Part: "aws s3api", Why: "it takes the AWS CLI"}),
		docs.Open(t, "../..", "docs/rest-api.md", "",
			docs.Otherwise{Part: "http://localhost:8080", Type: p.url, Why: "the portal of the test"},
			docs.Otherwise{
				Part: "curl -sSN", Type: "curl -sSN --max-time 3",
				Why: "a stream does not end; 28 says that the time is over",
			}),
		docs.Open(t, "../..", "docs/user-guide.md", "",
			docs.Otherwise{
				Part: "portico.dev/confirm-deletion=reports",
				Why: "there is no such bucket; TestADeletionIsConfirmedWhereItCostsSomething types what the " +
					"refusal says",
			},
			docs.Otherwise{Part: "portico secret set shop token -n", Type: "printf x | portico secret set shop " +
				"token=- -n", Why: person},
			docs.Otherwise{Part: "@server.key", Type: "@README.md", Why: "a file of the reader's"},
			docs.Otherwise{Part: "delete shop tls.key", Type: "delete shop tls.key --yes", Why: person}),
		docs.Open(t, "../..", "docs/local-cluster.md", "",
			docs.Otherwise{
				Part: "zoneId=ID", Type: "zoneId=" + world.Zones[stack.Zone{Domain: stack.Domain}],
				Why: "make run prints it",
			}),
	} {
		page.Type(shell, page.Blocks("")...)
	}
}

// userShell returns a shell of a developer of team payments, who has logged in.
func userShell(t *testing.T, portal string) *docs.Shell {
	t.Helper()
	tools, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	user := stack.Users[0].Name
	terminal := newTerminal(t)
	terminal.login(portal, user)
	return &docs.Shell{
		Dir: "../..", State: t.TempDir(),
		Env: slices.Concat(terminal.command().Env, []string{
			"PATH=" + filepath.Dir(terminal.binary) + ":" + tools + ":" + os.Getenv("PATH"),
			"KUBECONFIG=" + world.Kubeconfig, "PORTAL=" + portal, "TOKEN=" + userToken(t, user),
		}),
		Prelude: "curl() { command curl --fail-with-body \"$@\" || [ $? = 28 ]; }",
	}
}

// setsSecrets lets the developer of team payments set values of Secrets there, until the test ends.
func setsSecrets(t *testing.T, o *inspected) {
	t.Helper()
	bind := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("sets-secrets")},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-secret-writer"},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: stack.Users[0].KubernetesName()},
		},
	}
	create(t, o.Client, bind)
	t.Cleanup(func() {
		if err := o.Delete(context.WithoutCancel(t.Context()), bind); err != nil {
			t.Error(err)
		}
	})
}
