package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

const (
	team = "rolling"
	// endsWithin is how long a portal can take to end: its Pod's grace period.
	endsWithin = 30 * time.Second
)

// world is the control plane, an identity provider, two portals and the proxy in front of them.
type world struct {
	stack    *stack.Stack
	kube     client.Client
	issuer   *oidctest.Provider
	proxy    *proxy
	portals  []*portal
	cleanups []func()
	progress io.Writer
}

// portal is one replica, a process that is restarted.
type portal struct {
	name, path, log string
	args            []string
	behind          *replica
	cmd             *exec.Cmd
	ended           chan error
}

func begin(ctx context.Context, root string, progress io.Writer) (w *world, err error) {
	w = &world{progress: progress}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.end())
		}
	}()
	if root, err = filepath.Abs(root); err != nil {
		return w, err
	}
	w.issuer = oidctest.New(issuing{w})
	if w.stack, err = stack.Start(
		ctx, stack.Options{Root: root, Parts: stack.ControlPlane, Progress: progress}); err != nil {
		return w, err
	}
	w.stack.KeepLogs()
	if err := w.fill(ctx); err != nil {
		return w, err
	}
	if w.proxy, err = newProxy(ctx); err != nil {
		return w, err
	}
	for i := range 2 {
		if err := w.addPortal(ctx, filepath.Join(root, "bin", "portal"), fmt.Sprintf("portal-%d", i)); err != nil {
			return w, err
		}
	}
	serving, stop := context.WithCancel(ctx)
	w.cleanups = append(w.cleanups, stop)
	go w.proxy.run(serving)
	for _, p := range w.portals {
		if err := p.start(ctx); err != nil {
			return w, err
		}
	}
	return w, nil
}

// fill creates the team.
func (w *world) fill(ctx context.Context) (err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), rbacv1.AddToScheme(scheme),
		v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if w.kube, err = client.New(w.stack.Admin, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	return errors.Join(
		w.kube.Create(ctx, &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: team, Labels: map[string]string{"portico.dev/team": team}},
		}),
		w.kube.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "developers"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
			Subjects: []rbacv1.Subject{
				{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: stack.Prefix + team},
			},
		}),
	)
}

// addPortal prepares a replica with a deployment's flags, and the session keys that all replicas share.
func (w *world) addPortal(ctx context.Context, path, name string) error {
	kubeconfig, err := w.stack.ServiceAccountKubeconfig(ctx, stack.Namespace, "portico-portal")
	if err != nil {
		return err
	}
	keys := filepath.Join(w.stack.Dir, "session-keys")
	if len(w.portals) == 0 {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // never fails
		if err := os.WriteFile(keys, []byte(base64.StdEncoding.EncodeToString(key)), 0o600); err != nil {
			return err
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	behind := &replica{address: l.Addr().String()}
	_ = l.Close()
	w.proxy.replicas = append(w.proxy.replicas, behind)
	w.portals = append(w.portals, &portal{
		name: name, path: path, log: filepath.Join(w.stack.Dir, name+".log"), behind: behind,
		args: []string{
			"--kubeconfig", kubeconfig, "--namespace", stack.Namespace, "--listen", behind.address, "--public-url",
			w.proxy.url(),
			"--session-key-file", keys, "--oidc-issuer-url", w.issuer.URL, "--oidc-client-id", stack.PortalClient,
			"--oidc-username-claim", "preferred_username", "--oidc-prefix", stack.Prefix, "--api-audience",
			stack.Audience,
		},
	})
	return nil
}

// start runs the portal and waits until the proxy finds it ready.
func (p *portal) start(ctx context.Context) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	p.cmd, p.ended = exec.Command(p.path, p.args...), make(chan error, 1)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w; run make rolling-restart", p.name, err)
	}
	go func() { p.ended <- p.cmd.Wait(); _ = log.Close() }()
	for range 600 {
		if p.behind.ready.Load() {
			return nil
		}
		if !pause(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s is not ready after a minute; its log is %s", p.name, p.log)
}

// stop sends SIGTERM to the portal and waits until it ends.
func (p *portal) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.ended:
		p.behind.ready.Store(false)
		p.cmd = nil
		return err
	case <-time.After(endsWithin):
		return fmt.Errorf("it has not ended after %s", endsWithin)
	}
}

func (w *world) end() error {
	for _, p := range w.portals {
		if p.cmd != nil && p.cmd.Process != nil {
			_ = p.cmd.Process.Kill()
		}
	}
	for _, f := range w.cleanups {
		f()
	}
	if w.stack == nil {
		return nil
	}
	return w.stack.Close()
}

// issuing serves the test's identity provider from this process.
type issuing struct{ *world }

func (issuing) Helper() {}

func (i issuing) Cleanup(f func()) { i.cleanups = append(i.cleanups, f) }

func (issuing) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (issuing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
