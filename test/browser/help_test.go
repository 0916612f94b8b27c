//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestFormsHelpWhileTyping: inputs come and go with what calls for them, names and keys of Secrets are offered to those who
// may list them, and commands are copied.
func TestFormsHelpWhileTyping(t *testing.T) {
	mayListSecrets(t)
	hasSecret(t, "shop-secrets", "token", "user")
	hasSecret(t, "shop-mail", "password")
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.hidesWhatNothingCallsFor()
	x.offersNamesAndKeys()
	x.copies()
}

// hidesWhatNothingCallsFor chooses algorithms: a key of KMS is asked for with those that take one, and stays once it is there.
func (x *tab) hidesWhatNothingCallsFor() {
	x.t.Helper()
	const algorithm = "spec.encryption.algorithm"
	keyID, bucketKey := chromedp.CSS(`[name="spec.encryption.kmsKeyID"]`), chromedp.CSS(`[name="spec.encryption.bucketKeyEnabled"]`)
	x.goTo(ask)
	x.do(chromedp.WaitNotVisible(keyID), chromedp.WaitNotVisible(bucketKey))
	x.choose(algorithm, "aws:kms")
	x.do(chromedp.WaitVisible(keyID), chromedp.WaitVisible(bucketKey))
	x.choose(algorithm, "aws:kms:dsse")
	x.do(chromedp.WaitVisible(keyID), chromedp.WaitNotVisible(bucketKey))
	x.choose(algorithm, "AES256")
	x.do(chromedp.WaitNotVisible(keyID))
	x.choose(algorithm, "aws:kms")
	x.fill(`[name="spec.encryption.kmsKeyID"]`, "alias/ledger")
	x.choose(algorithm, "AES256")
	x.do(chromedp.WaitNotVisible(bucketKey), chromedp.WaitVisible(keyID))
}

// offersNamesAndKeys comes to the inputs of a variable from a Secret.
func (x *tab) offersNamesAndKeys() {
	x.t.Helper()
	const from = "spec.env[0].valueFrom.secretKeyRef"
	x.goTo(askApp)
	x.adds("spec.env", "spec.env[0].name")
	x.click(`#f-spec-env-0-valueFrom > summary`)
	x.click(`[name="` + from + `.name"]`)
	x.awaitTrue(offered(from+".name") + `.includes("shop-secrets")`)
	for secret, keys := range map[string]string{"shop-secrets": "token user", "shop-mail": "password"} {
		x.click(`[name="` + from + `.name"]`)
		x.choose(from+".name", secret)
		x.click(`[name="` + from + `.key"]`)
		x.awaitTrue(offered(from+".key") + `.join(" ") === "` + keys + `"`)
	}
}

// offered is an expression: what an input offers.
func offered(field string) string {
	return `[...document.querySelector('[name="` + field + `"]').list.options].map(o => o.value)`
}

// copies presses a button that copies, and where the browser does not let it finds the text selected.
func (x *tab) copies() {
	x.t.Helper()
	const button = `[data-copy="as-yaml"]`
	x.goTo(ask)
	x.fill(`[name="metadata.name"]`, "copied")
	x.await(`#as-yaml`, "name: copied")
	text := eval[string](x, `document.getElementById("as-yaml").textContent`)
	x.clipboard(cdp.PermissionSettingGranted)
	x.click(button)
	x.await(button, "Copied")
	if got := eval[string](x, `navigator.clipboard.readText()`); got != text {
		x.t.Errorf("the clipboard holds %q, want %q", got, text)
	}
	x.click(button) // while it still says so
	later := eval[string](x, `new Promise(done => setTimeout(() => done(document.querySelector('`+button+`').textContent), 3000))`)
	if later != "Copy" { // the page's timers, of two seconds each, are over by then
		x.t.Errorf("the button says %q for good", later)
	}
	x.clipboard(cdp.PermissionSettingDenied)
	x.click(button)
	x.await(button, "Press Ctrl+C")
	if got := eval[string](x, `getSelection().toString()`); strings.TrimSpace(got) != strings.TrimSpace(text) {
		x.t.Errorf("selected is %q, want %q", got, text)
	}
}

// clipboard lets this tab use it, or not.
func (x *tab) clipboard(is cdp.PermissionSetting) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(ctx, cdp.SetPermission, cdp.SetPermissionParams{
			Permission: &cdp.PermissionDescriptor{Name: name}, Setting: is, BrowserContextID: chromedp.FromContext(x.ctx).BrowserContextID,
		})
		x.must(err)
	}
}

// hasSecret gives payments a Secret until the test ends.
func hasSecret(t *testing.T, name string, keys ...string) {
	t.Helper()
	secrets := kubernetes.NewForConfigOrDie(world.Admin).CoreV1().Secrets("payments")
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{}}
	for _, key := range keys {
		s.StringData[key] = "not for eyes"
	}
	if _, err := secrets.Create(t.Context(), s, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := secrets.Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// mayListSecrets lets the team's developers, until the test ends: their role does not.
func mayListSecrets(t *testing.T) {
	t.Helper()
	rbac := kubernetes.NewForConfigOrDie(world.Admin).RbacV1()
	of := metav1.ObjectMeta{Namespace: "payments", Name: "list-secrets"}
	role := &rbacv1.Role{ObjectMeta: of, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: of, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: of.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "oidc:team-payments"}},
	}
	if _, err := rbac.Roles("payments").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings("payments").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{
			rbac.RoleBindings("payments").Delete(context.Background(), of.Name, metav1.DeleteOptions{}),
			rbac.Roles("payments").Delete(context.Background(), of.Name, metav1.DeleteOptions{}),
		} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	user, err := world.UserConfig("payments-dev")
	if err != nil {
		t.Fatal(err)
	}
	secrets := kubernetes.NewForConfigOrDie(user).CoreV1().Secrets("payments")
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if _, err = secrets.List(t.Context(), metav1.ListOptions{}); err == nil {
			return
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
	}
}
