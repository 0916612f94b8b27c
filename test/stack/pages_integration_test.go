//go:build integration

package stack_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/docs"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// TestAnAdminFollowsThePages installs Portico, changes it, removes it and installs it again, loses the cluster and
// restores it in another one, removes everything and installs without Helm: each step as the pages describe it.
func TestAnAdminFollowsThePages(t *testing.T) {
	if !tiers.EveryCase() {
		t.Skip("make test-all follows the pages; TestEverythingStartsTogether installs the chart, too")
	}
	a := newPlace(t, stack.Ports{})
	install, disaster := a.pageOf("docs/install.md"), a.pageOf("docs/disaster.md")
	a.installs(install)
	a.upgrades()
	a.must("kubectl create namespace argocd; kubectl create configmap argocd-cm -n argocd")
	for _, name := range append(runbooks(t), "docs/gitops.md", "docs/admin-guide.md") {
		page := a.pageOf(name)
		a.types(page, page.Blocks("")...)
	}
	a.reinstalls(install)
	b := a.lost(disaster)
	b.comesBack(install, disaster)
	b.removes(install)
	b.types(install, install.Blocks("Without Helm")...)
	b.runs("installed without Helm")
}

// runbooks returns the runbooks that have commands.
func runbooks(t *testing.T) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "docs/runbooks/*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d runbooks, %v", len(paths), err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "```sh\n") {
			all = append(all, "docs/runbooks/"+filepath.Base(path))
		}
	}
	return all
}

// pageOf opens one of the pages for administrators.
func (p *place) pageOf(name string) *docs.Page {
	p.t.Helper()
	programs, otherwise := "", p.elsewhere()[name]
	switch name {
	case "docs/install.md":
		programs = "portico"
	case "docs/disaster.md":
		programs = "portico|kubectl"
	}
	return docs.Open(p.t, root, name, programs, otherwise...)
}

// installs follows the page, and then uses the installation as the page says.
func (p *place) installs(install *docs.Page) {
	p.t.Helper()
	install.Files(p.shell)
	p.types(install, install.Blocks("What you need")...)
	p.types(install, install.Blocks("1. The roles")...)
	p.says(p.types(install, install.Blocks("2. Portico")...), "The cluster has what Portico needs.")
	p.keys()
	p.types(install, install.Blocks("3. An account for teams")...)
	p.types(install, install.Blocks("4. A team")...)
	p.must("portico request bucket reports -n payments --set providerRef=aws --wait --timeout 1m")
}

// keys creates the Secret with the keys of the stack's provider.
func (p *place) keys() {
	p.t.Helper()
	page := p.pageOf("docs/kinds/awsprovider.md")
	p.types(page, page.Blocks("")...)
}

// upgrades follows the page on upgrades, and rolls back: nobody is signed out.
func (p *place) upgrades() {
	p.t.Helper()
	page := p.pageOf("docs/upgrade.md")
	keys := p.must(sessionKeys)
	p.types(page, page.Blocks("Before")...)
	// portico check --fix creates what a new version adds before Helm runs.
	p.must("kubectl delete validatingadmissionpolicy,validatingadmissionpolicybinding portico-former-uid && kubectl " +
		"annotate crd ec2instances.portico.dev portico.dev/confirm-crd-deletion=ec2instances.portico.dev && " +
		"kubectl delete crd ec2instances.portico.dev")
	for _, part := range []string{"Upgrade", "Go back", "How it is tried"} {
		p.types(page, page.Blocks(part)...)
	}
	p.runs("upgraded and taken back")
	if p.must(sessionKeys) != keys || keys == "" {
		p.t.Error("an upgrade made new keys of sessions: everybody was signed out")
	}
}

const sessionKeys = "kubectl get secret portico-session-keys -n portico-system -o jsonpath={.data.keys}"

// reinstalls removes the release, checks that what holds data stays, and installs as the charts' READMEs and notes say.
func (p *place) reinstalls(install *docs.Page) {
	p.t.Helper()
	keys := p.must(sessionKeys)
	p.types(install, install.Blocks("Uninstall")[0])
	p.must("kubectl wait pods -n portico-system --all --for=delete --timeout=1m")
	p.must("kubectl get crd/s3buckets.portico.dev awsprovider/aws namespace/portico-gateways; kubectl get " +
		"s3bucket/reports -n payments")
	if left := p.must("kubectl get deployments,services,validatingadmissionpolicies -n portico-system " +
		"-o name"); strings.Contains(left, "portico") {
		p.t.Errorf("left behind:\n%s", left)
	}
	chart := p.pageOf("charts/portico/README.md")
	p.types(chart, chart.Blocks("")...)
	p.runs("installed again")
	if p.must(sessionKeys) != keys {
		p.t.Error("another installation made new keys of sessions")
	}
	notes := regexp.MustCompile(`(?m)^     (\S.*)$`).ReplaceAllString(
		p.must("helm get notes portico -n portico-system"), "```sh\n$1\n```")
	next := docs.OpenText(p.t, "NOTES.txt", notes, "", p.elsewhere()["NOTES.txt"]...)
	p.types(next, next.Blocks("")...)

	p.must("kubectl delete hostnamegrants -n payments --all") // of the admin guide
	config := p.pageOf("charts/portico-config/README.md")
	config.Files(p.shell)
	p.types(config, config.Blocks("")...)
	p.must("kubectl wait awsproviders --all --for=condition=Ready --timeout=1m")
}

// lost saves what the page says, and ends the cluster. It returns a new one, with the saved file.
func (p *place) lost(disaster *docs.Page) *place {
	p.t.Helper()
	p.types(disaster, disaster.Blocks("Save")...)
	backup, err := os.ReadFile(filepath.Join(p.shell.Dir, "portico-2026-11-23.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	at := stack.Ports{Portal: portOf(p.t, p.PortalURL), Dex: portOf(p.t, p.Issuer)}
	p.must("kubectl scale deployment portico-operator -n portico-system --replicas=0; kubectl wait pods -n " +
		"portico-system -l app.kubernetes.io/component=operator --for=delete --timeout=1m")
	if err := p.Close(); err != nil {
		p.t.Fatal(err)
	}
	other := newPlace(p.t, at)
	other.file("portico-2026-11-23.yaml", string(backup))
	return other
}

func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// comesBack follows the page in a new cluster: everything is Ready, and nothing is created or deleted in AWS.
func (p *place) comesBack(install, disaster *docs.Page) {
	p.t.Helper()
	install.Files(p.shell)
	p.types(install, install.Blocks("2. Portico")[0])
	mark := s.Proxy.Mark()
	steps := disaster.Blocks("Come back")
	p.types(disaster, steps[:len(steps)-4]...)
	p.keys()
	p.types(disaster, steps[len(steps)-4:len(steps)-2]...)
	p.must("kubectl wait awsproviders --all --for=condition=Ready --timeout=1m; kubectl wait s3buckets -A --all " +
		"--for=condition=Ready --timeout=1m")
	p.says(p.types(disaster, steps[len(steps)-2:]...), "s3bucket.portico.dev/reports")
	changes := s.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes)
	for _, c := range changes {
		if strings.HasPrefix(c.Operation, "Create") || strings.HasPrefix(c.Operation, "Delete") {
			p.t.Errorf("created or deleted: %v", c)
		}
	}
	if len(changes) == 0 {
		p.t.Error("the marks were not written: was the bucket taken back?")
	}
}

// removes uninstalls everything, in AWS too.
func (p *place) removes(install *docs.Page) {
	p.t.Helper()
	mark := s.Proxy.Mark()
	p.types(install, install.Blocks("Uninstall")[1:]...)
	if calls := s.Proxy.CallsSince(mark, awsproxy.To("s3", "DeleteBucket")); len(calls) != 1 {
		p.t.Errorf("%d buckets were deleted, want 1: %v", len(calls), calls)
	}
	if left := p.must("kubectl get " +
		"crds,namespaces,clusterroles,clusterrolebindings,validatingadmissionpolicies,mutatingadmissionpolicies,priorityclasses -o name"); strings.Contains(left, "portico") {
		p.t.Errorf("left behind:\n%s", left)
	}
}

// runs waits for operator and portal, and sends requests to both.
func (p *place) runs(when string) {
	p.t.Helper()
	p.must("kubectl rollout status deployment -n portico-system --timeout=2m")
	p.answers(when)
	p.says(p.must("portico check"), "The cluster has what Portico needs.")
}
