package stack

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net"
	"path"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/config/manifests"
	"github.com/portico-platform/portico/test/stack/pods"
	"github.com/portico-platform/portico/test/stack/process"
)

// answerTimeout is how long a Deployment may take until one of its Pods is ready.
const answerTimeout = 2 * time.Minute

// Settings returns this stack's own flags of operator and portal, by name without dashes.
func (s *Stack) Settings() (operator, portal map[string]string) {
	operator = map[string]string{"development": "true"}
	if s.opts.Parts.has(AWS) {
		operator["allowed-endpoints"] = s.providerEndpoint()
		operator["database-ca-file"], operator["loopback-databases"] = s.DatabaseCAFile(), "true"
	}
	maps.Copy(operator, map[string]string{ // the same values as the portal's
		"deploy-audience": s.PortalURL,
		"oidc-issuer-url": s.issuer(), "oidc-audience": Audience, "oidc-client-id": PortalClient,
		"oidc-username-claim": "preferred_username", "oidc-prefix": Prefix,
	})
	portal = map[string]string{
		"development": "true", "shutdown-delay-duration": "0s", // the Service sends no more requests immediately
		"public-url":      s.PortalURL,
		"oidc-issuer-url": s.issuer(), "oidc-client-id": PortalClient,
		// The names of people in the sample roles and in the users' certificates.
		"oidc-username-claim": "preferred_username",
		"oidc-prefix":         Prefix, "api-audience": Audience,
		"cli-client-id": CLIClient, "cli-scopes": APIScopes + " offline_access",
	}
	maps.Copy(portal, s.opts.PortalSettings)
	return operator, portal
}

// DatabaseCAFile returns the file with the certificate authorities that the operator trusts for databases. A test
// with real database servers writes it.
func (s *Stack) DatabaseCAFile() string { return filepath.Join(s.Dir, "databases.pem") }

// platform returns the objects of every installation, with this stack's settings, as an overlay of kustomize would
// produce them.
func (s *Stack) platform() ([]*unstructured.Unstructured, error) {
	all, err := manifests.Read(s.root(), manifests.Default)
	if err != nil {
		return nil, err
	}
	operator, portal := s.Settings()
	var ours []*unstructured.Unstructured
	for _, o := range all {
		switch o.GetKind() + " " + o.GetName() {
		case "ConfigMap portico-operator":
			err = set(o, operator)
		case "ConfigMap portico-portal":
			err = set(o, portal)
		case "Deployment portico-operator":
			err = s.place(o, Operator)
		case "Deployment portico-portal":
			err = s.place(o, Portal)
		case "HorizontalPodAutoscaler portico-portal":
			continue // one replica is sufficient here
		}
		if err != nil {
			return nil, err
		}
		if o.GetKind() == "Deployment" && s.opts.ExternalKubeconfig != "" {
			s.deployments = append(s.deployments, o) // an external cluster does not have the images
			continue
		}
		ours = append(ours, o)
	}
	return append(ours, secrets()...), nil
}

// set adds flags to a ConfigMap of environment variables.
func set(o *unstructured.Unstructured, flags map[string]string) error {
	for name, value := range flags {
		variable := "PORTICO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if err := unstructured.SetNestedField(o.Object, value, "data", variable); err != nil {
			return err
		}
	}
	return nil
}

// place makes a Deployment run one Pod on the stack's own Node, or none.
func (s *Stack) place(o *unstructured.Unstructured, part Parts) error {
	replicas := int64(0)
	if s.opts.Parts.has(part) {
		replicas = 1
	}
	return errors.Join(
		unstructured.SetNestedField(o.Object, replicas, "spec", "replicas"),
		unstructured.SetNestedField(o.Object, pods.Name, "spec", "template", "spec", "nodeName"),
	)
}

// secrets returns the Secrets that an administrator creates at installation: the portal's OIDC client secret, and the
// session keys.
func secrets() []*unstructured.Unstructured {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails since Go 1.24
	secret := func(name, field, value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: object{
			"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name, "namespace": Namespace},
			"stringData": object{field: value},
		}}
	}
	return []*unstructured.Unstructured{
		secret("portico-oidc", "client-secret", PortalSecret),
		secret("portico-session-keys", "keys", base64.StdEncoding.EncodeToString(key)),
	}
}

// newNode sets up the Node on which operator and portal run.
func (s *Stack) newNode() error {
	if !s.opts.Parts.has(Operator | Portal) {
		return nil
	}
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return err
	}
	o := pods.Options{
		Clients: clients, Admin: s.Admin, Dir: filepath.Join(s.Dir, "pods"), Binary: s.binary,
		Address: s.claims.loopback, IP: s.opts.ip(), Port: s.ports.kubelet,
		Add: s.add, Died: func(e *process.DiedError) { s.fail(e) }, Say: s.say,
	}
	if s.opts.Images != "" {
		o.Unpack = s.unpack
	}
	s.node = pods.New(o)
	return nil
}

// startPods runs the Pods that are bound to that Node.
func (s *Stack) startPods(ctx context.Context) error {
	if s.node == nil {
		return nil
	}
	if s.opts.ExternalKubeconfig != "" {
		s.background(ctx, s.runUnapplied)
		return nil
	}
	if err := s.node.Register(ctx); err != nil {
		return err
	}
	s.background(ctx, s.node.Run)
	return nil
}

// runUnapplied runs the Pods of the Deployments that are not in the cluster, until ctx ends.
func (s *Stack) runUnapplied(ctx context.Context) error {
	all := make([]*appsv1.Deployment, len(s.deployments))
	for i, o := range s.deployments {
		all[i] = &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, all[i]); err != nil {
			return err
		}
	}
	return s.node.RunUnapplied(ctx, all...)
}

// binary returns the path of the program that runs instead of one of Portico's images.
func (s *Stack) binary(image string) (string, error) {
	name, tag, _ := strings.Cut(path.Base(image), ":")
	program := name
	if name != "portico" {
		ours, found := strings.CutPrefix(name, "portico-")
		if !found {
			return "", fmt.Errorf("there is no binary for the image %s", image)
		}
		program = ours
	}
	if folder := s.opts.Versions[tag]; folder != "" {
		return filepath.Join(folder, program), nil
	}
	return s.opts.bin(program), nil
}

// add adds a process of a Pod. Replicas, and Pods that follow each other, have the same name: if the first is still
// running, the log of the next gets a number.
func (s *Stack) add(spec process.Spec) *process.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := spec.Name
	for i := 2; s.logs[spec.Name] != nil && !s.logs[spec.Name].Ended(); i++ {
		spec.Name = fmt.Sprintf("%s-%d", name, i)
	}
	p := s.group.Add(spec)
	s.logs[spec.Name], s.parts[spec.Name], s.parts[name] = p, p, p
	return p
}

// awaitPart waits until a Pod of a part is ready. On a bare cluster it does nothing: the test that installs the part
// waits.
func (s *Stack) awaitPart(ctx context.Context, part Parts, name, port string) error {
	if !s.opts.Parts.has(part) || s.opts.Bare {
		return nil
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	for len(s.node.Ready(labelsOf(name), port)) == 0 {
		select {
		case <-s.failed:
			return s.Err()
		case <-ctx.Done():
			return fmt.Errorf("no Pod of %s is ready: %w", name, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.say("%-24s ready after %.1f s", name, time.Since(began).Seconds())
	return nil
}

// AddressOf returns the address of a named port of a ready Pod of operator or portal, or "".
func (s *Stack) AddressOf(name, port string) string {
	for _, at := range s.node.Ready(labelsOf(name), port) {
		return at
	}
	return ""
}

func labelsOf(name string) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "portico", "app.kubernetes.io/component": name}
}

func (s *Stack) startOperator(ctx context.Context) error {
	return s.awaitPart(ctx, Operator, "operator", "health")
}

// startPortal simulates the portal's Service at its port.
func (s *Stack) startPortal(ctx context.Context) error {
	if !s.opts.Parts.has(Portal) {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address(s.ports.portal))
	if err != nil {
		return err
	}
	s.background(ctx, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { _ = l.Close() })()
		return s.node.Forward(l, labelsOf("portal"), "pages")
	})
	return s.awaitPart(ctx, Portal, "portal", "pages")
}
