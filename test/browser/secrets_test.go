//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

const (
	atSecrets = "/teams/payments/secrets"
	// typedValue is searched for in all pages, logs, objects and metrics, like other secrets.
	typedValue = "planted-5e0c-value-that-is-typed"
)

// letsWrite gives payments-dev permission to set values and to read the named Secret, until the test ends.
func letsWrite(t *testing.T, c client.Client, readable string) {
	t.Helper()
	subjects := []rbacv1.Subject{
		{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: stack.Prefix + "payments-dev"},
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "payments", Name: name} }
	for _, obj := range []client.Object{
		&rbacv1.RoleBinding{ObjectMeta: meta("browser-secrets"), Subjects: subjects, RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-secret-writer",
		}},
		&rbacv1.Role{ObjectMeta: meta("browser-password"), Rules: []rbacv1.PolicyRule{
			{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{
				readable,
			}},
		}},
		&rbacv1.RoleBinding{ObjectMeta: meta("browser-password"), Subjects: subjects, RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "Role", Name: "browser-password",
		}},
	} {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), obj) })
	}
}

// confirms signs in again, as a page requests, and waits until the page is shown.
func (x *tab) confirms(user, back string) {
	x.t.Helper()
	x.click(`main a.btn.first`)
	x.enter(user) // Dex asks although it has a session
	x.awaitAt(back)
}

// leads reloads the page until it contains words, because the portal caches refused access reviews for some seconds.
func (x *tab) leads(path, words string) {
	x.t.Helper()
	x.goTo(path)
	for range 60 {
		if strings.Contains(x.body(), words) {
			return
		}
		time.Sleep(250 * time.Millisecond)
		x.do(chromedp.Reload())
	}
	x.await(`main`, words)
}

// finds does what leads does, and allows failed requests, because the portal looks for the operator only every few
// seconds.
func (x *tab) finds(path, words string) {
	x.t.Helper()
	x.away.Store(true)
	x.leads(path, words)
	x.away.Store(false)
}

// TestValuesOfSecretsInTheBrowser has a user with the permission sign in again, set a value, see what uses it, and
// delete it; nobody can see the value.
func TestValuesOfSecretsInTheBrowser(t *testing.T) {
	secrets.Plant("the value that was typed", typedValue)
	c := platform(t)
	letsWrite(t, c, "none")
	app := &v1alpha1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "secretive"},
		Spec: v1alpha1.WebAppSpec{
			Image: "registry.example.com/payments/shop:1.4.2",
			Env: []v1alpha1.WebAppEnv{
				{Name: "TOKEN", ValueFrom: &v1alpha1.WebAppEnvSource{
					SecretKeyRef: &v1alpha1.SecretKeyRef{Name: "typed", Key: "token"},
				}},
			},
		},
	}
	if err := c.Create(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.finds(atSecrets, "Confirm that it is you")
	x.leads("/teams/payments/about", "Set values")
	x.click(`main a[href="` + atSecrets + `"]`)
	x.awaitPath(atSecrets)
	x.await(`main`, "Confirm that it is you")
	x.every("secrets-confirm")
	x.goTo("/teams/payments/webapps/secretive")
	x.await(`#named-secrets`, "Secrets")
	x.click(`a[href="` + atSecrets + `?name=typed#set"]`)
	x.awaitAt(atSecrets + "?name=typed")
	x.confirms("payments-dev", atSecrets+"?name=typed")
	x.await(`main`, "No value has been set yet")
	x.every("secrets-empty")
	x.fill(`#key`, "a/b")
	x.do(chromedp.Focus(chromedp.CSS(`#value`)), chromedp.SendKeys(chromedp.CSS(`#value`), typedValue))
	x.every("secrets-filled")
	x.click(`#set .go button`)
	x.await(`#key-error`, "Use letters, digits")
	x.await(`#value-error`, "a value is never sent back")
	x.every("secrets-refused")
	x.fill(`#key`, "token")
	x.do(chromedp.Focus(chromedp.CSS(`#value`)), chromedp.SendKeys(chromedp.CSS(`#value`), typedValue))
	x.click(`#set .go button`)
	x.awaitAt(atSecrets + "?key=token&set=typed")
	x.await(`main .note:not(#flash)`, "The value of token of typed is set.")
	x.await(`main .note:not(#flash)`, "takes it when its Pods start")
	x.await(`#secret-typed`, "used by secretive")
	x.every("secrets")
	if got := x.kept(); strings.Contains(got, typedValue) {
		t.Error("the tab keeps the value")
	}
	x.back()
	x.awaitTrue(`document.querySelector("#value") === null || document.querySelector("#value").value === ""`)
	x.keep()
	x.goTo(atSecrets)
	x.click(`a[aria-label="Delete token of typed"]`)
	x.await(`h1`, "Delete token of typed?")
	x.every("secret-delete-key")
	x.click(`.go button`)
	x.await(`main .note:not(#flash)`, "There is no key token in typed any more.")
	x.click(`a[aria-label="Delete typed"]`)
	x.await(`h1`, "Delete typed?")
	x.every("secret-delete")
	x.click(`.go button`)
	x.await(`main .note:not(#flash)`, "is in use by WebApp secretive")
	x.fill(`#typed`, "typed")
	x.click(`.go button`)
	x.await(`main .note:not(#flash)`, "typed is deleted.")
	x.discards("webapps", "secretive")
	refused := open(t)
	refused.signIn("viewer", "payments")
	refused.goTo("/teams/payments/about")
	refused.await(`main`, "Your role lacks the right to set values of Secrets")
	refused.goTo(atSecrets)
	refused.await(`main`, "portico-secret-writer")
	refused.await(`main`, "kubectl auth can-i --list -n payments | grep secretvalues")
	refused.every("secrets-denied")
}

// TestThePasswordOfADatabaseIsShownOnce shows the master password to a user who can read its Secret, after a new
// sign-in; it is not shown again after leaving the page. Before that the page offers the user's own database user,
// which is not available because the database cannot be reached.
func TestThePasswordOfADatabaseIsShownOnce(t *testing.T) {
	c := platform(t)
	db := readyDatabase(t, c)
	letsWrite(t, c, db+"-rdsinstance-binding")
	at := "/teams/payments/rdsinstances/" + db
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.leads(at, "Sign in as yourself…")
	x.every("detail-password")
	x.click(`a[href="` + at + `/password"]`)
	x.await(`main`, "Confirm that it is you")
	x.every("password-confirm")
	x.confirms("payments-dev", at+"/password")
	x.await(`h1`, "Sign in to "+db+" as yourself?")
	x.every("password")
	x.click(`.go button`)
	x.await(`main`, "your platform team has to")
	x.every("password-no-way")
	x.goTo(at + "/password")
	x.click(`.go a.quiet`)
	x.await(`h1`, "Show the master password of "+db+"?")
	x.every("password-master")
	x.click(`.go button`)
	// await could add the page to the search, which would find the password
	x.awaitTrue(`document.querySelector("#password").textContent.length > 12`)
	x.every("password-shown")
	password := eval[string](x, `document.querySelector("#password").textContent`)
	secrets.Plant("the password that was shown", password)
	x.click(`.go a.first`)
	x.awaitPath(at)
	x.await(`#status`, "Ready")
	x.back()
	x.awaitTrue(`document.readyState === "complete" && !(document.querySelector("#password")?.textContent)`)
	x.keep()
	x.goTo(at + "?tab=events")
	x.await(`main`, "was shown the master password")
	x.keep()

	refused := open(t)
	refused.signIn("viewer", "payments")
	refused.goTo(at)
	refused.await(`main`, "You have no access to the password")
	refused.goTo(at + "/password")
	refused.await(`main`, "sign in to databases")
	refused.every("password-denied")
	x.discards("rdsinstances", db) // other tests expect an empty list
}
