//go:build node && linux

package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

// The portal is reached at a port of every Node.
const (
	portalPort = 30443
	portalURL  = "https://" + stack.PortalHost + ":30443"
)

// version is the tag of Portico's images.
const version = "v0.0.0"

func newClient(cfg *rest.Config) (client.Client, error) {
	return client.New(cfg, client.Options{Scheme: controllers.Scheme()})
}

// install installs Portico with Helm, as docs/install.md says, with an identity provider that has a certificate of a
// private authority.
func install(ctx context.Context, s *stack.Stack) error {
	if err := errors.Join(s.PushPortico(ctx, version), pushApps(ctx, s)); err != nil {
		return err
	}
	c, err := newClient(s.Admin)
	if err != nil {
		return err
	}
	objects, err := secrets(s)
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := c.Create(ctx, o); err != nil {
			return err
		}
	}
	values, err := yaml.Marshal(chartValues(s))
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, "values.yaml")
	if err := os.WriteFile(file, values, 0o600); err != nil {
		return err
	}
	_, err = helm(ctx, s, "install", "portico", filepath.Join(root, "charts", "portico"), "--values", file, "--wait",
		"--timeout", "5m")
	took("Portico installed")
	return err
}

// helm runs Helm in Portico's namespace.
func helm(ctx context.Context, s *stack.Stack, args ...string) (string, error) {
	return command(ctx, []string{"KUBECONFIG=" + s.AdminKubeconfig, "HOME=" + sandbox.Folder},
		filepath.Join(root, "bin", "helm"), append(args, "--namespace", stack.Namespace)...)
}

// command runs a program and returns what it printed.
func command(ctx context.Context, env []string, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf(
			"%s %s: %w: %s%s",
			filepath.Base(path),
			strings.Join(args, " "),
			err,
			&out,
			&said,
		)
	}
	return out.String(), nil
}

func secrets(s *stack.Stack) ([]client.Object, error) {
	pki := filepath.Join(s.Dir, "pki")
	cert, errCert := os.ReadFile(filepath.Join(pki, "serving.crt"))
	key, errKey := os.ReadFile(filepath.Join(pki, "serving.key"))
	authority, errCA := os.ReadFile(s.CAFile)
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: stack.Namespace, Labels: map[string]string{
			"pod-security.kubernetes.io/enforce": "restricted",
		}}},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "portico-oidc"},
			StringData: map[string]string{
				"client-secret": stack.PortalSecret,
			},
		},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "portal-tls"}, Type: corev1.SecretTypeTLS,
			Data: map[string][]byte{"tls.crt": cert, "tls.key": key},
		},
		&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "company-ca"},
			Data: map[string]string{
				"ca.crt": string(authority), "global-bundle.pem": string(authority),
			},
		},
	}, errors.Join(errCert, errKey, errCA)
}

type object = map[string]any

// chartValues returns the values of the chart for this cluster.
func chartValues(s *stack.Stack) object {
	return object{
		"image":         object{"registry": stack.RegistryHost, "tag": version},
		"priorityClass": object{"name": "portico"},
		"operator": object{
			"aws": object{
				"allowedEndpoints": []string{s.AWSEndpoint},
				"podIdentity":      true,
			},
			"databases": object{"caConfigMap": "company-ca"},
		},
		"portal": object{
			"publicURL": portalURL, "kubernetesURL": s.Admin.Host,
			"oidc": object{
				"issuerURL": s.Issuer, "clientID": stack.PortalClient, "usernameClaim": "preferred_username",
				"clientSecret": object{"existingSecret": "portico-oidc"}, "prefix": stack.Prefix,
			},
			"apiAudiences": []string{stack.Audience},
			"cli":          object{"clientID": stack.CLIClient, "scopes": stack.APIScopes + " offline_access"},
			"tls":          object{"existingSecret": "portal-tls"},
			"service":      object{"type": "NodePort", "nodePort": portalPort},
		},
		"networkPolicy": object{"egressPorts": []int{number(s.Admin.Host), number(s.Issuer), number(s.AWSEndpoint)}},
		"ca":            object{"existingConfigMap": "company-ca"},
	}
}

// number returns the port in a URL.
func number(url string) int {
	port, err := strconv.Atoi(portOf(url))
	if err != nil {
		panic(err)
	}
	return port
}

// app is the path of the image of the test's web application; the tag is its version.
const app = stack.RegistryHost + "/app"

// pushApps sends three versions of the application, one that wants to be root, and one with a user by name.
func pushApps(ctx context.Context, s *stack.Stack) error {
	for path, config := range map[string]v1.Config{
		"app:1":     {User: "65532", Env: []string{"VERSION=1"}},
		"app:2":     {User: "65532", Env: []string{"VERSION=2"}},
		"app:3":     {User: "65532", Env: []string{"VERSION=3"}},
		"app:root":  {Env: []string{"VERSION=root"}},
		"app:named": {User: "nobody", Env: []string{"VERSION=named"}},
	} {
		img, err := stack.ProgramImage(filepath.Join(root, "bin", "node-app"), config, nil)
		if err != nil {
			return err
		}
		if err := s.Push(ctx, path, img); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long a test waits for anything.
const patience = 4 * time.Minute

// await waits until the function returns true; it returns what is missing, too.
func await(t *testing.T, what string, done func() (bool, string)) {
	t.Helper()
	deadline, missing := time.Now().Add(patience), ""
	for time.Now().Before(deadline) {
		var ok bool
		if ok, missing = done(); ok {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: not within %s: %s", what, patience, missing)
}

// webApp returns a WebApp of team payments.
func webApp(name, tag string, change ...func(*v1alpha1.WebApp)) *v1alpha1.WebApp {
	a := &v1alpha1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
	a.Spec.Image = app + ":" + tag
	for _, f := range change {
		f(a)
	}
	return a
}
