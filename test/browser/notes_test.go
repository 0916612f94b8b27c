//go:build browser

package browser

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/chromium"
)

// TestTheNotesApplicationIsUsed requests examples/notes with what it is bound to, opens it at its hostname, and uses
// its bucket, its queue and its database.
func TestTheNotesApplicationIsUsed(t *testing.T) {
	onlyWithContainers(t)
	objects, err := stack.ReadObjects(os.DirFS(root), "examples/notes/notes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		o.SetNamespace("payments")
		t.Cleanup(func() { _ = platform(t).Delete(t.Context(), o) }) // the stack ends with the tests
	}
	if err := stack.ApplyObjects(t.Context(), world.Admin, objects...); err != nil {
		t.Fatal(err)
	}
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(webapps + "notes")
	x.await(`main`, "https://notes.payments.")
	app := &v1alpha1.WebApp{}
	app.Namespace, app.Name = "payments", "notes"
	at := statusURL(t, app)

	trusting, stop, err := chromium.Start(chromium.Shell, chromedp.Flag("ignore-certificate-errors", true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(trusting)
	n := begin(&tab{t: t, ctx: ctx}, cancel)
	n.must(chromedp.Do(n.ctx, chromedp.Navigate(at)))
	for _, does := range []struct{ form, text, button, says string }{
		{"/files", "kept in S3", "Write", "wrote the file note-"},
		{"/messages", "sent by SQS", "Send", "sent a message"},
		{"/messages/receive", "", "Receive", "received: sent by SQS"},
		{"/rows", "kept in PostgreSQL", "Add", "added a row"},
		{"/refused", "", "Ask", "AWS refused to list all buckets"},
	} {
		if does.text != "" {
			n.fill(`form[action="`+does.form+`"] input`, does.text)
		}
		n.click(`form[action="` + does.form + `"] button`)
		n.await(`[role=status]`, does.says)
	}
	n.await(`main`, "kept in PostgreSQL")
	n.await(`main`, "note-")
	n.shot("notes")
	n.click(`form[action="/crash"] button`)
	n.await(`[role=status]`, "ends in a second")
	x.await(`.pods`, "Last words")
}

// statusURL returns the URL of a web app.
func statusURL(t *testing.T, app *v1alpha1.WebApp) string {
	t.Helper()
	if err := platform(t).Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
		t.Fatal(err)
	}
	return app.Status.URL
}
