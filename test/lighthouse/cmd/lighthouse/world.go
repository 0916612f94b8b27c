package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/chromium"
)

const (
	mobile  = "mobile"
	desktop = "desktop"

	patience = 30 * time.Second
)

// pages are the pages to check, with their user; nobody means signed out.
var pages = []struct{ user, name, path string }{
	{"", "sign-in", "/"},
	{"payments-dev", "resources", "/teams/payments"},
	{"payments-dev", "team", "/teams/payments/about"},
	{"payments-dev", "catalog", "/teams/payments/catalog"},
	{"payments-dev", "form", "/teams/payments/new/rdsinstances"},
	{"payments-dev", "bucket", "/teams/payments/s3buckets/lit"},
	{"payments-dev", "app", "/teams/payments/webapps/lit"},
	{"payments-dev", "edit", "/teams/payments/s3buckets/lit/edit"},
	{"payments-dev", "delete", "/teams/payments/s3buckets/lit/delete"},
	{"payments-dev", "secrets", "/teams/payments/secrets"},
	{"payments-dev", "deleted", "/teams/payments/deleted"},
	{"platform-admin", "dashboard", "/admin"},
	{"platform-admin", "rights", "/admin/rights"},
	{"platform-admin", "all-teams", "/teams/-"},
}

// world is the platform and a browser.
type world struct {
	stack   *stack.Stack
	port    int
	browser context.Context
	stop    func()
}

// begin starts the platform with some objects, and the browser.
func begin(ctx context.Context, root string, progress io.Writer) (*world, error) {
	s, err := stack.Start(ctx, stack.Options{
		Root: root, Progress: progress,
		Parts: stack.ControlPlane | stack.Scheduler | stack.Nodes |
			stack.AWS | stack.Dex | stack.Operator | stack.Portal,
	})
	if err != nil {
		return nil, err
	}
	w := &world{stack: s, stop: func() {}}
	if err := w.request(ctx); err != nil {
		return nil, errors.Join(err, w.end())
	}
	if w.port, err = freePort(ctx); err != nil {
		return nil, errors.Join(err, w.end())
	}
	if w.browser, w.stop, err = chromium.Start(chromium.Full,
		remote.WebSocket, chromedp.Flag("remote-debugging-port", strconv.Itoa(w.port))); err != nil {
		w.stop = func() {}
		return nil, errors.Join(fmt.Errorf("start Chromium: %w", err), w.end())
	}
	return w, nil
}

func (w *world) end() error {
	w.stop()
	return w.stack.Close()
}

// freePort returns a port that is currently free. Lighthouse needs the port before the browser could report its own.
func freePort(ctx context.Context) (int, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// request creates objects and waits until they are Ready.
func (w *world) request(ctx context.Context) error {
	c, err := client.New(w.stack.Admin, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		return err
	}
	meta := metav1.ObjectMeta{Namespace: "payments", Name: "lit"}
	bucket := &v1alpha1.S3Bucket{ObjectMeta: meta}
	bucket.Spec.ProviderRef.Name = stack.Provider
	app := &v1alpha1.WebApp{ObjectMeta: meta, Spec: v1alpha1.WebAppSpec{Image: "registry.example.com/shop:1.0.0"}}
	writer := &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: stack.Prefix + "payments-dev"},
		},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-secret-writer"},
	}
	for _, obj := range []client.Object{bucket, app, writer} {
		if err := c.Create(ctx, obj); err != nil {
			return err
		}
	}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(200 * time.Millisecond) {
		if err := errors.Join(c.Get(ctx, client.ObjectKeyFromObject(bucket), bucket),
			c.Get(ctx, client.ObjectKeyFromObject(app), app)); err != nil {
			return err
		}
		if bucket.Status.Ready && app.Status.Ready {
			return nil
		}
	}
	return errors.New("the bucket and the web app did not become Ready in time")
}

// visit runs Lighthouse on the pages, each as its user.
func (w *world) visit(ctx context.Context, look lighthouse, only string, progress io.Writer) (all []result, err error) {
	user := ""
	for _, p := range pages {
		if !strings.Contains(p.name, only) {
			continue
		}
		if p.user != user {
			if err := w.signIn(p.user); err != nil { //nolint:contextcheck // a tab is a context of its own
				return nil, fmt.Errorf("sign in as %s: %w", p.user, err)
			}
			user = p.user
		}
		for _, device := range []string{mobile, desktop} {
			_, _ = fmt.Fprintf(progress, "%s on %s\n", p.name, device)
			r, err := look.page(ctx, p.name, device, w.stack.PortalURL+p.path)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

// signIn signs in a sample user and replaces the current session.
func (w *world) signIn(user string) error {
	tab, cancel := context.WithTimeout(w.browser, patience)
	defer cancel()
	if _, err := chromedp.Call(tab, network.ClearBrowserCookies, struct{}{}); err != nil {
		return err
	}
	return chromedp.Do(tab,
		chromedp.Navigate(w.stack.PortalURL+"/auth/login"),
		chromedp.WaitVisible(chromedp.CSS(`#login`)),
		chromedp.SendKeys(chromedp.CSS(`#login`), user+"@portico.test"),
		chromedp.SendKeys(chromedp.CSS(`#password`), "portico"),
		chromedp.Click(chromedp.CSS(`#submit-login`)),
		chromedp.WaitVisible(chromedp.CSS(`main`)),
	)
}
