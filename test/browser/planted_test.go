//go:build browser

package browser

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/test/planted"
	"github.com/portico-platform/portico/test/stack"
)

// secrets is the search for secrets in everything that the operator and the portal output during the tests.
var secrets *planted.Search

// searched runs the tests, and fails if a secret appeared in a page, a log, an object or a metric.
func searched(tests func() int) (code int, err error) {
	if secrets, err = planted.Begin(world.Dir); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	wait, err := secrets.Watch(ctx, world.Admin)
	if err != nil {
		return 1, err
	}
	secrets.Plant("the portal's secret at Dex", stack.PortalSecret)
	secrets.Plant("the secret key of the sample account", stack.SecretAccessKey)
	code = tests()
	for _, part := range []string{"operator", "portal"} {
		err = errors.Join(err, secrets.Metrics(ctx, world.Admin, stack.Namespace, world.AddressOf(part, "metrics")))
	}
	cancel()
	wait()
	err = errors.Join(err, secrets.Logs(world.Dir))
	return max(code, secrets.Report(os.Stderr)), err
}

// keep adds the current page and its stored data to the search.
func (x *tab) keep() {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	page, err := chromedp.Run(
		ctx, chromedp.Evaluate[string](
			`document.documentElement.outerHTML + JSON.stringify({...sessionStorage, ...localStorage})`))
	if err == nil { // otherwise the tab is between two pages, or closed
		secrets.Write("pages", x.t.Name(), page)
	}
}
