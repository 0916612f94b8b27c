// Package lighthouse runs Google's Lighthouse on the portal's pages, as a team's developer and as a platform admin, and
// writes its reports. It fails unless every page reaches its goal: 0.95 for performance, which also depends on the
// machine, and 1 for accessibility and best practices.
package lighthouse

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/chromium"
)

const (
	mobile  = "mobile"
	desktop = "desktop"

	patience = 30 * time.Second // with the sign-in form
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

// limit is the timeout of a run.
const limit = 40 * time.Minute

// Campaign returns Lighthouse on the portal's pages.
func Campaign() campaign.Campaign {
	var reports string
	c := campaign.Campaign{Name: "lighthouse"}
	for _, p := range pages {
		c.Scenarios = append(c.Scenarios, campaign.Scenario{
			Name: p.name, Takes: 40 * time.Second,
			Does: "Lighthouse's scores of " + p.path + ", on phones and desktops",
		})
	}
	c.Flags = func(flags *flag.FlagSet) {
		flags.StringVar(&reports, "reports", ".run/lighthouse", "`folder` for the reports")
	}
	c.Run = func(ctx context.Context, r campaign.Run) error {
		if err := os.MkdirAll(reports, 0o755); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return r.In(ctx, stack.Options{
			Parts: stack.ControlPlane | stack.Scheduler | stack.Nodes |
				stack.AWS | stack.Dex | stack.Operator | stack.Portal,
		}, func(ctx context.Context, shared *campaign.World) error {
			w := &world{World: shared}
			all, err := w.run(ctx, r, reports)
			if err != nil {
				return err
			}
			tableOf(all).Print(r.Out)
			_, _ = fmt.Fprintf(r.Out, "\nreports are in %s\n", reports)
			return verdict(all)
		})
	}
	return c
}

// world is the platform and a browser.
type world struct {
	*campaign.World
	browser context.Context
}

// run creates objects, starts the browser, and runs Lighthouse on the chosen pages.
func (w *world) run(ctx context.Context, r campaign.Run, reports string) ([]result, error) {
	if err := w.request(ctx); err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	browser, stop, err := chromium.Start(chromium.Full, remote.WebSocket,
		chromedp.Flag("remote-debugging-port", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("start Chromium: %w", err)
	}
	defer stop()
	w.browser = browser
	look := lighthouse{
		program: filepath.Join(r.Root, "test/lighthouse/node_modules/lighthouse/cli/index.js"),
		port:    port, reports: reports,
	}
	return w.visit(ctx, look, r.Chosen)
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
		if err := w.Kube.Create(ctx, obj); err != nil {
			return err
		}
	}
	return w.Until(ctx, 200*time.Millisecond, "the bucket and the web app to be Ready", func() error {
		err := errors.Join(w.Kube.Get(ctx, client.ObjectKeyFromObject(bucket), bucket),
			w.Kube.Get(ctx, client.ObjectKeyFromObject(app), app))
		if err == nil && (!bucket.Status.Ready || !app.Status.Ready) {
			err = fmt.Errorf("%+v, %+v", bucket.Status.Conditions, app.Status.Conditions)
		}
		return err
	})
}

// visit runs Lighthouse on the chosen pages, each as its user.
func (w *world) visit(ctx context.Context, look lighthouse, chosen func(string) bool) (all []result, err error) {
	user := ""
	for _, p := range pages {
		if !chosen(p.name) {
			continue
		}
		if p.user != user {
			if err := w.signIn(p.user); err != nil { //nolint:contextcheck // a tab is a context of its own
				return nil, fmt.Errorf("sign in as %s: %w", p.user, err)
			}
			user = p.user
		}
		for _, device := range []string{mobile, desktop} {
			w.Say("%s on %s", p.name, device)
			r, err := look.page(ctx, p.name, device, w.PortalURL+p.path)
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
		chromedp.Navigate(w.PortalURL+"/auth/login"),
		chromedp.WaitVisible(chromedp.CSS(`#login`)),
		chromedp.SendKeys(chromedp.CSS(`#login`), user+"@portico.test"),
		chromedp.SendKeys(chromedp.CSS(`#password`), "portico"),
		chromedp.Click(chromedp.CSS(`#submit-login`)),
		chromedp.WaitVisible(chromedp.CSS(`main`)),
	)
}
