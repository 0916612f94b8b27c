package campaign

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// Replica is a process of the operator or of the portal.
type Replica struct {
	*process.Process
	URL     string // of a portal
	Metrics string // URL
}

// StartOperator starts a replica of the operator with the permissions of its ServiceAccount and a deployment's flags:
// the defaults, except for its addresses. The Spec has its name and can have more flags, and another program than
// bin/operator. StartOperator returns once the replica is ready; it need not lead then.
func (w *World) StartOperator(ctx context.Context, spec process.Spec) (*Replica, error) {
	metrics, health, err := FreeAddresses(ctx)
	if err != nil {
		return nil, err
	}
	spec.Ready = stack.Answers("http://" + health + "/readyz")
	return w.start(ctx, "operator", Replica{Metrics: "http://" + metrics}, spec,
		"--metrics-bind-address", metrics, "--health-probe-bind-address", health,
		"--inspect-bind-address", "127.0.0.1:0", "--inspect-advertise-address", "127.0.0.1",
		"--allowed-endpoints", w.AWSEndpoint)
}

// StartPortal starts a replica of the portal as StartOperator does one of the operator. Users sign in with SignIn, and
// replicas have the same session keys.
func (w *World) StartPortal(ctx context.Context, spec process.Spec) (*Replica, error) {
	listen, metrics, err := FreeAddresses(ctx)
	if err != nil {
		return nil, err
	}
	if w.keys == "" {
		w.keys = filepath.Join(w.Dir, "session-keys")
		if err := os.WriteFile(w.keys, []byte(SessionKey()), 0o600); err != nil {
			return nil, err
		}
	}
	r := Replica{URL: "http://" + listen, Metrics: "http://" + metrics}
	spec.Ready = stack.Answers(r.URL + "/readyz")
	return w.start(ctx, "portal", r, spec,
		"--listen", listen, "--metrics-listen", metrics, "--public-url", r.URL, "--session-key-file", w.keys,
		"--oidc-issuer-url", w.identities().URL, "--oidc-client-id", stack.PortalClient,
		"--oidc-username-claim", "preferred_username", "--oidc-prefix", stack.Prefix, "--api-audience", stack.Audience)
}

// start starts a replica of a component. The arguments of the Spec come last, so that they override args.
func (w *World) start(ctx context.Context, component string, r Replica, spec process.Spec, args ...string) (
	*Replica, error,
) {
	kubeconfig, err := w.ServiceAccountKubeconfig(ctx, stack.Namespace, "portico-"+component)
	if err != nil {
		return nil, err
	}
	if spec.Path == "" {
		spec.Path = filepath.Join(w.root, "bin", component)
	}
	if _, err := os.Stat(spec.Path); err != nil {
		return nil, fmt.Errorf("the %s is not built; run the campaign with make: %w", component, err)
	}
	spec.Args = slices.Concat([]string{"--kubeconfig", kubeconfig, "--namespace", stack.Namespace}, args, spec.Args)
	r.Process, err = w.Run(ctx, spec)
	return &r, err
}

// SessionKey returns a new key of a portal's sessions.
func SessionKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

// Samples reads the replica's metrics.
func (r *Replica) Samples(ctx context.Context) (Samples, error) {
	return Scrape(ctx, r.Metrics+"/metrics")
}

// Leads returns nil if the operator leads, and otherwise an error.
func (r *Replica) Leads(ctx context.Context) error {
	all, err := r.Samples(ctx)
	if err != nil {
		return err
	}
	if all.Sum("leader_election_master_status", nil) < 1 {
		return errors.New(r.Name() + " does not lead")
	}
	return nil
}

// Usage returns the resource usage of the replica's process.
func (r *Replica) Usage() Usage { return Of(r.PID()) }
