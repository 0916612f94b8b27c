//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestFormsHelpWhileTyping checks that inputs appear only when they apply, that forms offer names and keys of the
// Secrets that resources publish, and that commands can be copied.
func TestFormsHelpWhileTyping(t *testing.T) {
	secrets := map[string]string{}
	for _, plural := range []string{"s3buckets", "sqsqueues"} {
		name, keys := published(t, plural, "helpful")
		secrets[name] = strings.Join(keys, " ")
	}
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.hidesWhatNothingCallsFor()
	x.offersNamesAndKeys(secrets)
	x.copies()
}

// hidesWhatNothingCallsFor chooses algorithms: the input for a KMS key appears with those that use one, and stays once
// it has a value.
func (x *tab) hidesWhatNothingCallsFor() {
	x.t.Helper()
	const algorithm = "spec.encryption.algorithm"
	keyID, bucketKey := chromedp.CSS(`[name="spec.encryption.kmsKeyID"]`),
		chromedp.CSS(`[name="spec.encryption.bucketKeyEnabled"]`)
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

// offersNamesAndKeys fills in a variable from a Secret, and checks the offered names and keys.
func (x *tab) offersNamesAndKeys(secrets map[string]string) {
	x.t.Helper()
	const from = "spec.env[0].valueFrom.secretKeyRef"
	x.goTo(askApp)
	x.adds("spec.env", "spec.env[0].name")
	x.click(`#f-spec-env-0-valueFrom > summary`)
	x.click(`[name="` + from + `.name"]`)
	for secret, keys := range secrets {
		x.awaitTrue(offered(from+".name") + `.includes("` + secret + `")`)
		x.click(`[name="` + from + `.name"]`)
		x.choose(from+".name", secret)
		x.click(`[name="` + from + `.key"]`)
		x.awaitTrue(offered(from+".key") + `.join(" ") === "` + keys + `"`)
	}
}

// offered returns a JavaScript expression for the values that an input offers.
func offered(field string) string {
	return `[...document.querySelector('[name="` + field + `"]').list.options].map(o => o.value)`
}

// copies presses a copy button, and checks that the text is selected if the browser does not allow copying.
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
	x.click(button) // while it still says Copied
	later := eval[string](x, `new Promise(done => setTimeout(() => done(document.querySelector('`+button+
		`').textContent), 3000))`)
	if later != "Copy" { // the page's timers of two seconds have ended
		x.t.Errorf("the button says %q for good", later)
	}
	x.clipboard(cdp.PermissionSettingDenied)
	x.click(button)
	x.await(button, "Press Ctrl+C")
	if got := eval[string](x, `getSelection().toString()`); strings.TrimSpace(got) != strings.TrimSpace(text) {
		x.t.Errorf("selected is %q, want %q", got, text)
	}
}

// clipboard allows or denies this tab access to the clipboard.
func (x *tab) clipboard(is cdp.PermissionSetting) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(ctx, cdp.SetPermission, cdp.SetPermissionParams{
			Permission: &cdp.PermissionDescriptor{Name: name}, Setting: is, BrowserContextID: chromedp.FromContext(
				x.ctx).BrowserContextID,
		})
		x.must(err)
	}
}

// published creates an object until the test ends, waits for the Secret that it publishes, and returns its name and
// keys.
func published(t *testing.T, plural, name string) (secret string, keys []string) {
	t.Helper()
	objects := dynamic.NewForConfigOrDie(world.Admin).Resource(v1alpha1.GroupVersion.WithResource(plural)).Namespace(
		"payments")
	obj := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"providerRef": map[string]any{"name": stack.Provider}}},
	}
	obj.SetAPIVersion(v1alpha1.GroupVersion.String())
	obj.SetKind(map[string]string{"s3buckets": "S3Bucket", "sqsqueues": "SQSQueue"}[plural])
	obj.SetName(name)
	if _, err := objects.Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := erase(context.Background(), objects, name); err != nil {
			t.Error(err)
		}
	})
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		obj, err := objects.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		secret, _, _ = unstructured.NestedString(obj.Object, "status", "binding", "name")
		keys, _, _ = unstructured.NestedStringSlice(obj.Object, "status", "binding", "keys")
		if len(keys) > 0 {
			return secret, keys
		}
		if time.Since(began) > patience {
			t.Fatalf("%s %s publishes no Secret: %v", plural, name, obj.Object["status"])
		}
	}
}
