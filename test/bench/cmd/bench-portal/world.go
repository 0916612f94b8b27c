package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// creators write at the same time.
const creators = 16

// world is the control plane with its objects, and the portal.
type world struct {
	size     size
	stack    *stack.Stack
	kube     client.Client
	raw      rest.Interface
	issuer   *oidctest.Provider
	cleanups []func()
	portal   *portal
	objects  []object // sorted by namespace
	progress io.Writer
}

func begin(ctx context.Context, root string, s size, progress io.Writer) (w *world, err error) {
	w = &world{size: s, progress: progress}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.end())
		}
	}()
	w.issuer = oidctest.New(issuing{w})
	if w.stack, err = stack.Start(
		ctx, stack.Options{Root: root, Parts: stack.ControlPlane, Progress: progress}); err != nil {
		return w, err
	}
	if err := w.connect(); err != nil {
		return w, fmt.Errorf("connect to Kubernetes: %w", err)
	}
	if err := w.fill(ctx); err != nil {
		return w, err
	}
	return w, w.startPortal(ctx)
}

func (w *world) connect() (err error) {
	cfg := rest.CopyConfig(w.stack.Admin)
	cfg.UserAgent = "bench-portal"
	if w.kube, err = client.New(cfg, client.Options{Scheme: scheme()}); err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	w.raw = clients.Discovery().RESTClient()
	return nil
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, rbacv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // the types are compiled in
		}
	}
	return s
}

func (w *world) end() error {
	var err error
	if w.stack != nil {
		err = w.stack.Close()
	}
	for _, f := range w.cleanups {
		f()
	}
	return err
}

// fill creates the teams and their objects, in the state in which the operator leaves them.
func (w *world) fill(ctx context.Context) error {
	_, _ = fmt.Fprintf(w.progress, "%d objects in %d namespaces are being made\n", w.size.namespaces*w.size.objects,
		w.size.namespaces)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for n := range w.size.namespaces {
		for i := range w.size.objects {
			w.objects = append(w.objects, newObject(team(n), i))
		}
		g.Go(func() error { return w.makeTeam(ctx, n) })
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("fill the cluster: %w", err)
	}
	return nil
}

func team(n int) string { return fmt.Sprintf("team-%03d", n) }

func (w *world) makeTeam(ctx context.Context, n int) error {
	name := team(n)
	err := w.kube.Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"portico.dev/team": name},
		}})
	if err != nil {
		return err
	}
	err = w.kube.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "team"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: stack.Prefix + name}},
	})
	if err != nil {
		return err
	}
	for i := range w.size.objects {
		if err := w.makeObject(ctx, w.objects[n*w.size.objects+i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) makeObject(ctx context.Context, o object) error {
	if err := w.kube.Create(ctx, o.Object); err != nil {
		return err
	}
	if err := w.writeStatus(ctx, o, ""); err != nil {
		return err
	}
	if e := o.event(); e != nil {
		return w.kube.Create(ctx, e)
	}
	return nil
}

// issuing serves the test's identity provider from this process.
type issuing struct{ *world }

func (issuing) Helper() {}

func (i issuing) Cleanup(f func()) { i.cleanups = append(i.cleanups, f) }

func (issuing) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func (issuing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
