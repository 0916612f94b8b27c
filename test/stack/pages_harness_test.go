//go:build integration

package stack_test

import (
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/test/docs"
	"github.com/portico-platform/portico/test/stack"
)

// place is an empty cluster for the installation of operator and portal, with an administrator's shell.
type place struct {
	*stack.Stack
	t     *testing.T
	shell *docs.Shell
	url   string // of the portal: an Ingress gets no address
}

// newPlace starts a cluster that uses the AWS of s, and ends before s.
func newPlace(t *testing.T, at stack.Ports) *place {
	t.Helper()
	c, err := stack.Start(t.Context(), stack.Options{
		Root: root, Parts: stack.Everything, Bare: true, AWSEndpoint: s.AWSEndpoint, Ports: at, Progress: os.Stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			c.KeepLogs()
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &place{Stack: c, t: t, url: strings.Replace(c.PortalURL, "127.0.0.1", "localhost", 1)}
	p.sits()
	return p
}

// sits creates the working folder of the administrator: the parts of the repository that the pages refer to.
func (p *place) sits() {
	p.t.Helper()
	repository, err := filepath.Abs(root)
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := p.Token(p.t.Context(), "payments-dev")
	if err != nil {
		p.t.Fatal(err)
	}
	home, here := p.t.TempDir(), p.t.TempDir()
	for _, name := range []string{"charts", "config"} {
		err = errors.Join(err, os.Symlink(filepath.Join(repository, name), filepath.Join(here, name)))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.shell = &docs.Shell{Dir: here, State: home, Env: []string{
		"HOME=" + home, "PATH=" + filepath.Join(repository, "bin") + ":" + os.Getenv("PATH"), "KUBECONFIG=" +
			p.AdminKubeconfig,
		"PORTICO_SERVER=" + p.url, "PORTICO_TOKEN=" + token, // a developer's
	}}
	p.file("client-secret", stack.PortalSecret)
	p.stage()
}

func (p *place) file(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.shell.Dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		p.t.Fatal(err)
	}
}

type object = map[string]any

// stage writes what the stack needs in addition to the pages, as values and as an overlay: the Node that runs
// Portico's Pods, the simulator of AWS, and Dex's names of users and audiences.
func (p *place) stage() {
	p.t.Helper()
	operator, portal := p.Settings()
	// set by the pages, or by default
	for _, said := range []string{"public-url", "oidc-issuer-url", "oidc-client-id", "development"} {
		delete(portal, said)
	}
	delete(operator, "oidc-issuer-url")
	delete(operator, "oidc-client-id")
	where := object{"nodeSelector": object{"kubernetes.io/hostname": "portico"}, "tolerations": []any{
		object{"key": "portico", "operator": "Exists"},
	}}
	values := object{"operator": object{"settings": operator}, "portal": object{"settings": portal}}
	for _, of := range values {
		maps.Copy(of.(object), where)
	}
	patches := []any{object{
		"target": object{"kind": "Deployment"},
		"patch": p.yaml(object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "any"},
			"spec": object{"template": object{"spec": where}},
		}),
	}}
	for name, flags := range map[string]map[string]string{"portico-operator": operator, "portico-portal": portal} {
		data := map[string]string{}
		for flag, value := range flags {
			data["PORTICO_"+strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))] = value
		}
		patches = append(patches, object{"patch": p.yaml(object{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": stack.Namespace},
			"data": data,
		})})
	}
	p.file("stage.yaml", p.yaml(values))
	p.file("stage/kustomization.yaml", p.yaml(object{"resources": []string{"../config/default"}, "patches": patches}))
}

func (p *place) yaml(from any) string {
	p.t.Helper()
	text, err := yaml.Marshal(from)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// types runs the commands of a page, and ends the test when one fails: what follows depends on them.
func (p *place) types(page *docs.Page, blocks ...*docs.Block) string {
	p.t.Helper()
	out := ""
	for _, b := range blocks {
		out += page.Type(p.shell, b)
		if p.t.Failed() {
			p.t.FailNow()
		}
	}
	return out
}

// must runs a command that is on no page, and fails the test if the command fails.
func (p *place) must(script string) string {
	p.t.Helper()
	out, err := p.shell.Run(p.t.Context(), script)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(out)
}

// says fails unless a text contains a part.
func (p *place) says(text, part string) {
	p.t.Helper()
	if !strings.Contains(text, part) {
		p.t.Fatalf("want %q in:\n%s", part, text)
	}
}

// answers sends a request to the portal as a developer.
func (p *place) answers(when string) {
	p.t.Helper()
	token, err := p.Token(p.t.Context(), "payments-dev")
	if err != nil {
		p.t.Fatal(err)
	}
	if got := listBuckets(p.t, p.PortalURL, token); got != http.StatusOK {
		p.t.Fatalf("%s, the portal answers %d", when, got)
	}
}
