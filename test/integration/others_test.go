//go:build integration

package integration

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// foreign are real controllers of others in the cluster, with a portal that offers their kinds.
type foreign struct {
	t     *testing.T
	c     client.Client
	p     *replica
	token string
	cli   *terminal // of a developer
	admin *terminal
}

func startForeign(t *testing.T) *foreign {
	t.Helper()
	startOperator(t, operatorOptions{})
	o := &foreign{t: t, c: admin(t), token: userToken(t, "payments-dev")}
	o.p = startPortal(t, world.Issuer, sessionKeys(t))
	o.cli = newTerminal(t, "PORTICO_SERVER="+o.p.url, "PORTICO_TOKEN="+o.token, "PORTICO_NAMESPACE=payments")
	o.admin = newTerminal(t, "KUBECONFIG="+world.AdminKubeconfig)
	return o
}

// run starts a controller, until the test ends.
func (o *foreign) run(program string, args ...string) {
	o.t.Helper()
	log, err := os.Create(filepath.Join(world.Dir, program+".log"))
	if err != nil {
		o.t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(o.t.Context()), "../../bin/"+program, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), "KUBECONFIG="+world.AdminKubeconfig)
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = cmd.Wait()
		_ = log.Close()
	})
}

// definitions applies the CRDs in a folder of a module of test/others.
func (o *foreign) definitions(module, folder string) {
	o.t.Helper()
	list := exec.CommandContext(o.t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	list.Dir, list.Env = "../others", append(os.Environ(), "GOFLAGS=")
	dir, err := list.Output()
	if err != nil {
		o.t.Fatal(err)
	}
	path := filepath.Join(strings.TrimSpace(string(dir)), folder)
	o.kubectl("apply", "--server-side", "-f", path)
	o.t.Cleanup(func() { _ = o.later("delete", "--timeout=60s", "-f", path) })
}

func (o *foreign) kubectl(args ...string) string {
	o.t.Helper()
	out, err := kubectl(o.t, args...)
	if err != nil {
		o.t.Fatalf("kubectl %v: %v: %s", args, err, out)
	}
	return out
}

// later runs kubectl when the test has ended.
func (o *foreign) later(args ...string) error {
	return exec.CommandContext(context.WithoutCancel(o.t.Context()), "../../bin/kubectl",
		append(args, "--kubeconfig="+world.AdminKubeconfig)...).Run()
}

// release removes the finalizers of all objects of a cluster-scoped resource when the test ends: kro takes a minute.
func (o *foreign) release(resource string) {
	o.t.Cleanup(func() {
		list := exec.CommandContext(context.WithoutCancel(o.t.Context()), "../../bin/kubectl",
			"--kubeconfig="+world.AdminKubeconfig, "get", resource, "-o", "name")
		names, _ := list.Output() // none, if the definition is gone
		for name := range strings.FieldsSeq(string(names)) {
			_ = o.later("patch", name, "--type=merge", `-p={"metadata": {"finalizers": null}}`)
		}
	})
}

// apply writes text to a file, and applies it.
func (o *foreign) apply(text string, args ...string) {
	o.t.Helper()
	path := filepath.Join(o.t.TempDir(), "objects.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	o.kubectl(append([]string{"apply", "-f", path}, args...)...)
	o.t.Cleanup(func() { _ = o.later(append([]string{"delete", "--wait=false", "-f", path}, args...)...) })
}

// offer does what docs/catalog.md says: the entry that portico writes, with the powers confirmed, and the roles that it
// prints.
func (o *foreign) offer(name string, powers ...v1alpha1.CatalogPower) {
	o.t.Helper()
	entry, _ := o.admin.run(0, "kind", "add", name)
	confirmed := "spec:\n  confirmed:\n"
	for _, power := range powers {
		confirmed += "  - " + string(power) + "\n"
	}
	o.apply(strings.Replace(entry, "spec:\n", confirmed, 1))
	roles, _ := o.admin.run(0, "kind", "roles", name)
	o.apply(roles)
	await(o.t, name+" to be offered", func() (bool, string) {
		out, err := o.admin.command("kind", "check", name).CombinedOutput()
		if err != nil {
			return false, string(out)
		}
		got := o.p.call(o.t, o.token, "GET", "/catalog?namespace=payments", nil)
		return strings.Contains(fmt.Sprint(got.body), name), string(out)
	})
}

// listed waits until the list of the kind says this of the object, over REST and on the command line.
func (o *foreign) listed(plural, name, status, why string) {
	o.t.Helper()
	await(o.t, name+" to be "+status, func() (bool, string) {
		got := o.p.call(o.t, o.token, "GET", "/resources?namespace=payments&kind="+plural+"&status="+status, nil)
		return strings.Contains(fmt.Sprint(got.body), name), fmt.Sprint(got.body)
	})
	await(o.t, fmt.Sprintf("portico get %s to say %q of %s", plural, why, name), func() (bool, string) {
		out, _ := o.cli.run(0, "get", plural)
		for line := range strings.Lines(out) {
			if strings.Contains(line, " "+name+" ") && strings.Contains(line, why) {
				return true, line
			}
		}
		return false, out
	})
}

// create creates an object over REST. The document with which call compares answers does not have the kind.
func (o *foreign) create(plural, body string) {
	o.t.Helper()
	req, err := http.NewRequestWithContext(o.t.Context(), http.MethodPost,
		o.p.url+"/api/v1/namespaces/payments/"+plural, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := plainly().Do(req)
	if err != nil {
		o.t.Fatal(err)
	}
	read(o.t, resp).want(o.t, http.StatusCreated)
}

// TestKindsOfCertManagerAreOffered asks the real cert-manager for a certificate over REST, and for an issuer that
// cannot work, whose cause the portal says.
func TestKindsOfCertManagerAreOffered(t *testing.T) {
	o := startForeign(t)
	o.definitions("github.com/cert-manager/cert-manager", "deploy/crds")
	o.run("cert-manager", "-kubeconfig="+world.AdminKubeconfig)
	o.offer("certificates.cert-manager.io", v1alpha1.PowerSecrets)
	o.offer("issuers.cert-manager.io", v1alpha1.PowerSecrets, v1alpha1.PowerPods)
	o.create("issuers.cert-manager.io", `{"metadata": {"name": "own"}, "spec": {"selfSigned": {}}}`)
	o.create("issuers.cert-manager.io", `{"metadata": {"name": "empty"}, "spec": {"ca": {"secretName": "not-there"}}}`)
	o.create("certificates.cert-manager.io", `{"metadata": {"name": "shop"}, "spec": {
		"secretName": "shop-tls", "issuerRef": {"name": "own"}, "dnsNames": ["shop.example.com"]
	}}`)
	t.Cleanup(func() { _ = o.later("delete", "secret", "-n", "payments", "shop-tls") })
	o.listed("certificates.cert-manager.io", "shop", "ready", "")
	o.listed("issuers.cert-manager.io", "empty", "in-progress", `secrets "not-there" not found`)
	if out := o.kubectl("get", "certificate", "shop", "-n", "payments"); !strings.Contains(out, "True") {
		t.Errorf("kubectl shows %s", out)
	}
	o.cli.run(0, "delete", "certificate", "shop", "--yes", "--wait")
}

// TestKindsOfKroAreOffered offers a kind that the real kro makes of a ResourceGraphDefinition, as a team would with
// what its platform engineers composed.
func TestKindsOfKroAreOffered(t *testing.T) {
	o := startForeign(t)
	o.definitions("github.com/kubernetes-sigs/kro", "helm/crds")
	o.release("graphrevisions.internal.kro.run")
	o.t.Cleanup(func() { _ = o.later("delete", "crd", "mailboxes.kro.run", "--timeout=60s") })
	o.release("resourcegraphdefinitions.kro.run")
	o.run("kro", "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0")
	o.apply(`
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: mailbox}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Mailbox
    spec:
      address: string | required=true description="Where mail arrives."
      keepDays: integer | default=30 minimum=1 maximum=365
    status:
      settings: ${settings.metadata.name}
  resources:
  - id: settings
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: ${schema.metadata.name}-mailbox
        labels: {host: "${schema.spec.address.split('@')[1]}"}
      data: {address: "${schema.spec.address}", keepDays: "${string(schema.spec.keepDays)}"}
`)
	await(t, "kro to make the definition", func() (bool, string) {
		out, err := kubectl(t, "get", "crd", "mailboxes.kro.run")
		return err == nil, out
	})
	o.offer("mailboxes.kro.run", v1alpha1.PowerObjects)
	for name, address := range map[string]string{"sales": "sales@example.com", "wrong": "wrong@not a host"} {
		o.cli.run(0, "request", "mailbox", name, "--set", "address="+address)
	}
	o.listed("mailboxes.kro.run", "sales", "ready", "")
	o.listed("mailboxes.kro.run", "wrong", "needs-you", `ConfigMap "wrong-mailbox" is invalid: metadata.labels`)
	for _, name := range []string{"sales", "wrong"} { // while kro runs, which takes its finalizers away
		o.cli.run(0, "delete", "mailbox", name, "--yes", "--wait")
	}
	gone := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	key := client.ObjectKey{Namespace: "payments", Name: "sales-mailbox"}
	if err := o.c.Get(t.Context(), key, gone); !apierrors.IsNotFound(err) {
		t.Errorf("kro's ConfigMap: %v", err)
	}
}
