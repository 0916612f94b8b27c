//go:build browser

package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnEntryOfTheCatalogIsShown looks at the page of an entry that the operator has written.
func TestAnEntryOfTheCatalogIsShown(t *testing.T) {
	admin := open(t)
	admin.signIn("platform-admin", "payments")
	admin.goTo("/teams/_platform/catalogentries/s3buckets.portico.dev")
	admin.await(`#tabs`, "Status details")
	admin.every("detail-catalogentries")
}

// asAdmin runs a program of bin as an admin of the cluster, with this input, and returns its output.
func asAdmin(t *testing.T, input, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(root, "bin", program), args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "KUBECONFIG="+world.AdminKubeconfig), strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", program, args, err, out)
	}
	return string(out)
}

// offerCertificates offers the kind of cert-manager as docs/catalog.md says, and runs its controllers.
func offerCertificates(t *testing.T) {
	t.Helper()
	const module = "github.com/cert-manager/cert-manager"
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Dir, list.Env = filepath.Join(root, "test/others"), append(os.Environ(), "GOFLAGS=")
	dir, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join(strings.TrimSpace(string(dir)), "deploy/crds")
	asAdmin(t, "", "kubectl", "apply", "--server-side", "-f", crds)
	t.Cleanup(func() { asAdmin(t, "", "kubectl", "delete", "--ignore-not-found", "--wait=false", "-f", crds) })
	controllers := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(root, "bin/cert-manager"),
		"-kubeconfig="+world.AdminKubeconfig)
	if err := controllers.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = controllers.Process.Kill() // it has nothing to end in order
		_ = controllers.Wait()
	})
	const name = "certificates.cert-manager.io"
	first := asAdmin(t, "", "portico", "kind", "add", name)
	entry := strings.Replace(first, "spec:\n", "spec:\n  confirmed: [Secrets]\n", 1)
	asAdmin(t, entry, "kubectl", "apply", "-f", "-")
	t.Cleanup(func() { asAdmin(t, entry, "kubectl", "delete", "-f", "-") })
	roles := asAdmin(t, "", "portico", "kind", "roles", name)
	asAdmin(t, roles, "kubectl", "apply", "-f", "-")
	t.Cleanup(func() { asAdmin(t, roles, "kubectl", "delete", "-f", "-") })
	issuer := `{"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "own", "namespace": "payments"},
		"spec": {"selfSigned": {}}}`
	asAdmin(t, issuer, "kubectl", "apply", "-f", "-")
}

// TestAKindOfOthersInTheBrowser requests a certificate of the real cert-manager with its form, and deletes it.
func TestAKindOfOthersInTheBrowser(t *testing.T) {
	offerCertificates(t)
	const path = "/teams/payments/certificates.cert-manager.io/shop"
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo("/teams/payments/catalog")
	x.await("main", "Certificate")
	x.goTo("/teams/payments/new/certificates.cert-manager.io")
	x.every("form-certificates")
	x.fill(`[name="metadata.name"]`, "shop")
	x.fill(`[name="spec.secretName"]`, "shop-tls")
	x.fill(`[name="spec.issuerRef.name"]`, "own")
	x.fill(`[name="spec.dnsNames"]`, "shop.example.com")
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath(path)
	x.await(`#status`, "Ready")
	x.await("main", "Kept by cert-manager")
	x.every("detail-certificates")
	x.discards("certificates.cert-manager.io", "shop")
}
