//go:build browser

package browser

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
)

const webapps = "/teams/payments/webapps/"

// platform returns an admin's client for the cluster.
func platform(t *testing.T) client.Client {
	t.Helper()
	log.SetLogger(logr.Discard())
	c, err := client.New(world.Admin, client.Options{Scheme: controllers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnApplicationIsLookedAfter rolls out, scales, restarts and rolls back an application, and reads its log, all in
// the browser.
func TestAnApplicationIsLookedAfter(t *testing.T) {
	c := platform(t)
	app := &v1alpha1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "looked-after"},
		Spec:       v1alpha1.WebAppSpec{Image: "registry.example.com/shop:1.0.0"},
	}
	if err := c.Create(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	at := webapps + app.Name
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(at)
	x.mark()
	x.await(`#status`, "Ready")
	x.await(`.pods`, "Running and ready")
	x.await(`.glance`, "of 100m reserved")
	x.await(`.glance`, "of 256 MiB limit")
	x.await(`#progress summary`, "All steps done")
	if !realNode() { // where a rollout takes seconds, a longer sentence on its state moves the page
		x.still()
	}
	x.goTo(at)
	if got := eval[int](x, `document.querySelectorAll("#progress:not([open]) .steps li").length`); got < 3 {
		t.Errorf("%d steps are folded", got)
	}
	x.every("app")

	x.fill(`#replicas`, "3")
	x.posts(`#scale button`)
	x.await(`.bars`, "3 of 3")
	x.fill(`#replicas`, "11")
	_ = eval[bool](
		x, `(f => { f.noValidate = true; f.requestSubmit(); return true })(document.querySelector("#scale"))`)
	x.await(`#replicas-why`, "Use 10 or less")
	x.await(`#live`, "Live") // the stream has begun, and the refusal is still shown
	if got := eval[string](x, `document.getElementById("replicas").value`); got != "11" {
		t.Errorf("the input shows %q", got)
	}
	x.every("app-refused")
	_ = eval[bool](x, `(document.querySelector(".logo").focus(), true)`)

	patch := client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"image":"registry.example.com/broken-crash:2.0.0"}}`))
	if err := c.Patch(t.Context(), app, patch); err != nil {
		t.Fatal(err)
	}
	x.await(`.pods`, "Keeps crashing")
	if got := eval[string](x, `document.activeElement.className`); got != "logo" {
		t.Errorf("an update moves the focus to %q", got)
	}
	x.goTo(at)
	x.await(`.pods`, "Keeps crashing")
	x.every("app-crashing")
	x.await(`.glance`, "Last crash")
	x.allLogs(at)
	x.goTo(at)
	x.posts(`.versions button`)
	x.await(`.versions`, "revision 3")
	x.await(`#status`, "Ready")

	x.click(`#buttons a[href$="/restart"]`)
	x.awaitPath(at + "/restart")
	x.every("app-restart")
	x.click(`main form button`)
	x.awaitPath(at)
	x.await(`.versions`, "revision 4") // Ready may still be from before
	x.await(`#status`, "Ready")
	x.podAndLog()
	x.discards("webapps", app.Name)
}

// allLogs follows the log of all copies, one of which crashes, and then opens the log of that one.
func (x *tab) allLogs(app string) {
	x.t.Helper()
	x.click(`#tabs a[href$="/logs"]`)
	x.awaitPath(app + "/logs")
	x.await(`#live`, "Live")
	x.await(`#log`, "] ")
	x.grows(eval[int](x, `document.getElementById("log").textContent.length`))
	x.every("app-logs")
	x.goTo(app)
	x.click(`.glance a[href*="/logs?pod="]`)
	x.awaitPath(app + "/logs")
	x.await(`#log`, "FATAL")
	if got := eval[string](x, `document.querySelector("select[name=pod]").value`); got == "" {
		x.t.Error("the log of the copy that crashed is that of all")
	}
}

// podAndLog opens the page of a running Pod, and follows its log.
func (x *tab) podAndLog() {
	x.t.Helper()
	x.click(`.pods a.name`)
	x.await(`#status`, "Running and ready")
	x.every("pod")
	x.click(`.tabs a[href$="/logs"]`)
	x.await(`#live`, "Live")
	x.grows(20)
	x.every("logs")
	before := eval[int](x, `document.getElementById("log").textContent.length`)
	x.grows(before)
	if got := eval[int](x, `document.querySelectorAll("#log *").length`); got != 0 {
		x.t.Errorf("the log holds %d elements: it is text", got)
	}
}

// grows waits until the log on the page is longer than n.
func (x *tab) grows(n int) {
	x.t.Helper()
	began := time.Now()
	for eval[int](x, `document.getElementById("log").textContent.length`) <= n {
		if time.Since(began) > patience {
			x.t.Fatalf("the log stays as it is:\n%s", x.text("#log"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}
