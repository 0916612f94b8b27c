package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

const (
	freshToken  = "token-of-a-fresh-sign-in"
	secretValue = "hunter2-as-it-was-typed"
	atSecrets   = "/teams/payments/secrets"
	ledger      = `
apiVersion: portico.dev/v1alpha1
kind: RDSInstance
metadata: {name: ledger, namespace: payments, generation: 1, creationTimestamp: "2026-11-09T12:00:00Z"}
spec: {providerRef: {name: aws-prod}, engine: postgres}
status: {observedGeneration: 1, binding: {name: ledger-rdsinstance-binding, keys: [host, password, port, username]},
  conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-09T12:00:02Z"}]}
`
	atPassword = "/teams/payments/rdsinstances/ledger/password"
)

// secretSite has a Secret that an application uses, one that is unused, and a database with a password.
func secretSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := newFake(tb, shop, ledger)
	f.secrets = []operatorapi.Secret{
		{
			Name: "shop", Created: noon.Add(-time.Hour),
			Keys: []operatorapi.SecretKey{
				{Name: "tls.key"}, {Name: "token", SetAt: new(noon.Add(-2 * time.Minute)), SetBy: "oidc:payments-dev"},
			},
			UsedBy: []operatorapi.SecretUse{
				{Kind: "WebApp", Name: "shop", Effect: "takes a new value when its Pods start"},
			},
		},
		{Name: "unused", Created: noon, Keys: []operatorapi.SecretKey{}},
	}
	f.password = operatorapi.Password{
		Password: secretValue, Username: "owner", Host: "ledger.example.com",
		Port: "5432", Database: "ledger", Type: "postgresql",
	}
	return f
}

// confirmed sends a request as the developer, with a fresh sign-in.
func confirmed(t *testing.T, f *fakeCluster, method, path string, form url.Values) *httptest.ResponseRecorder {
	t.Helper()
	ctx := auth.WithConfirmation(t.Context(), freshToken, noon.Add(4*time.Minute))
	return as(ctx, f, method, path, form)
}

func as(ctx context.Context, f *fakeCluster, method, path string, form url.Values) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	site(f, developer, noon).ServeHTTP(w, r)
	return w
}

func setting(name, key, value string) url.Values {
	return url.Values{"name": {name}, "key": {key}, "value": {value}}
}

// keeps fails the test if a response or its URL contains the value.
func keeps(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if strings.Contains(w.Body.String()+w.Header().Get("Location"), secretValue) {
		t.Errorf("the answer has the value:\n%s", w.Body)
	}
	if w.Code < 300 && !strings.HasPrefix(w.Header().Get("Cache-Control"), "no-store") {
		t.Errorf("it may be kept: %q", w.Header().Get("Cache-Control"))
	}
}

func TestThePagesOfSecretsAskForAFreshSignInFirst(t *testing.T) {
	for path, back := range map[string]string{
		atSecrets:                                       "/teams/payments/secrets",
		atSecrets + "?name=shop&key=token":              "/teams/payments/secrets?key=token&name=shop",
		atSecrets + "?name=shop&value=made-up":          "/teams/payments/secrets?name=shop",
		atSecrets + "/shop/delete?key=token":            "/teams/payments/secrets/shop/delete?key=token",
		atPassword:                                      atPassword,
		atSecrets + "?name=%22%3E%3Cscript%3E":          "/teams/payments/secrets?name=%22%3E%3Cscript%3E",
		atSecrets + "?name=" + strings.Repeat("x", 300): "/teams/payments/secrets?name=" + strings.Repeat("x", 253),
	} {
		w := visit(t, secretSite(t), developer, path)
		want := `href="/auth/confirm?` + url.Values{"return_to": {back}}.Encode() + `"`
		body := w.Body.String()
		if w.Code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, want 200 with %s\n%s", path, w.Code, want, mainOf(t, body))
		}
		if strings.Contains(body, `id="value"`) || strings.Contains(body, "tls.key") {
			t.Errorf("%s shows a value or a key\n%s", path, mainOf(t, body))
		}
	}
}

func TestAValueIsSetAndNeverShown(t *testing.T) {
	f := secretSite(t)
	w := confirmed(t, f, "GET", atSecrets+"?name=shop&key=token", nil)
	lacks(t, w.Body.String(), `name="name" value="shop"`, `name="key" value="token"`,
		`<textarea id="value" name="value" class="masked"`, "Your fresh sign-in is over", "in 4 min",
		"payments-dev", `href="/teams/payments/webapps/shop"`, "not used by anything that you have access to",
		"in another way")
	for _, c := range [][2]string{
		{secretValue, secretValue}, {secretValue + "\r\n", secretValue}, {"-----BEGIN\r\nx\r\n-----END\r\n", "-----BEGIN\nx\n-----END\n"}, {" a b ", " a b "},
	} {
		sent, want := c[0], c[1]
		w = confirmed(t, f, "POST", atSecrets, setting(" shop ", "token", sent))
		if at := w.Header().Get("Location"); w.Code != http.StatusSeeOther || at != atSecrets+"?key=token&set=shop" ||
			f.sent["shop/token"] != want {
			t.Fatalf("%d to %q, the value is %q, want %q", w.Code, at, f.sent["shop/token"], want)
		}
		keeps(t, w)
	}
	w = confirmed(t, f, "GET", w.Header().Get("Location"), nil)
	lacks(t, w.Body.String(), "The value of token of shop is set.", "takes it when its Pods start",
		`href="/teams/payments/webapps/shop/restart"`)
	keeps(t, w)
	if w := confirmed(t, f, "GET", atSecrets+"?set=shop&key=made-up", nil); strings.Contains(
		w.Body.String(), "is set.") {
		t.Error("a link of somebody else says that a value is set")
	}
}

func TestWithoutSecretsThePageSaysWhatItIsFor(t *testing.T) {
	f := secretSite(t)
	f.secrets = nil
	w := confirmed(t, f, "GET", atSecrets, nil)
	lacks(t, w.Body.String(), "No value has been set yet", "name the Secret and the key in its variables", `id="value"`)
}

// TestWhatIsWrongWithAValueIsSaidBesideIt, and the value is not sent back.
func TestWhatIsWrongWithAValueIsSaidBesideIt(t *testing.T) {
	for reason, c := range map[string]struct {
		form url.Values
		says string
	}{
		"no name":                   {setting("", "token", secretValue), "Enter the name of a Secret."},
		"no key":                    {setting("shop", " ", secretValue), "Enter a key."},
		"no value":                  {setting("shop", "token", "\r\n"), "Enter the value."},
		"a name that none can have": {setting("Shop_1", "token", secretValue), "Use small letters, digits, - and ."},
		"a key that none can have":  {setting("shop", "a/b", secretValue), "Use letters, digits, -, _ and ., at most 253."},
		"a key that is too long":    {setting("shop", strings.Repeat("k", 254), secretValue), "Use letters, digits, -, _ and ., at most 253."},
		"a name that is too long":   {setting(strings.Repeat("n", 254), "token", secretValue), "at most 253, and begin and end"},
		"the list of names":         {setting(operatorapi.SecretIndexName, "token", secretValue), "choose another name"},
		"a name that is markup":     {setting("<b>", "token", secretValue), `value="&lt;b&gt;"`},
	} {
		f := secretSite(t)
		w := confirmed(t, f, "POST", atSecrets, c.form)
		if w.Code != http.StatusUnprocessableEntity || len(f.acts) > 0 || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d, done %q", reason, w.Code, f.acts)
		}
		keeps(t, w)
	}
	f := secretSite(t)
	w := confirmed(t, f, "POST", atSecrets, setting("shop", "token", strings.Repeat(secretValue, 1<<16)))
	if w.Code != http.StatusRequestEntityTooLarge || len(f.acts) > 0 ||
		!strings.Contains(w.Body.String(), "portico secret set NAME KEY=@FILE") {
		t.Errorf("too long: %d", w.Code)
	}
	keeps(t, w)
	w = httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "POST", atSecrets, strings.NewReader("value="+secretValue+"%zz"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	site(f, developer, noon).ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest {
		t.Errorf("a damaged form: %d", w.Code)
	}
	keeps(t, w)
}

// TestWhatTheOperatorRefusesIsSaid with the operator's message, the user's choices, and what to do.
func TestWhatTheOperatorRefusesIsSaid(t *testing.T) {
	for reason, c := range map[string]struct {
		told failure.PersonError
		says string
	}{
		"a right that is missing": {
			failure.PersonError{Status: 403, Detail: "you are not allowed to update secretvalues in namespace " +
				"payments"}, "You are not allowed to update secretvalues in namespace payments.",
		},
		"a Secret of others":       {failure.PersonError{Status: 409, Detail: "the Secret shop was not made for this, and is left alone"}, "was not made for this"},
		"others write it":          {failure.PersonError{Status: 409, Detail: "others write this Secret all the time: try again in a moment"}, "Others write this Secret"},
		"too many keys":            {failure.PersonError{Status: 422, Detail: "the Secret shop would have 101 keys, and 100 is the most"}, "101 keys"},
		"too large":                {failure.PersonError{Status: 413, Detail: "the values of the Secret shop would have 2 MiB"}, "2 MiB"},
		"too fast":                 {failure.PersonError{Status: 429, Detail: "that is more than 5 requests a second"}, "more than 5 requests"},
		"an operator that is away": {failure.PersonError{Status: 503, Detail: "Portico's operator does not answer at the moment; try again"}, "operator does not answer"},
	} {
		t.Run(reason, func(t *testing.T) {
			f := secretSite(t)
			f.answered = map[string]*failure.PersonError{"update": &c.told}
			w := confirmed(t, f, "POST", atSecrets, setting("shop", "token", secretValue))
			if w.Code != c.told.Status {
				t.Errorf("answers %d", w.Code)
			}
			lacks(t, w.Body.String(), "Nothing was set, and the value was thrown away.", c.says,
				`name="name" value="shop"`, `name="key" value="token"`, `id="value"`)
			keeps(t, w)
		})
	}
}

// TestASignInThatRanOutIsSaid: nothing is done, and the user's choices are kept for after the sign-in.
func TestASignInThatRanOutIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		form url.Values
		says string
		back string
	}{
		"to set":    {atSecrets, setting("shop", "token", secretValue), "the value was thrown away, enter it once more", atSecrets + "?key=token&name=shop"},
		"to delete": {atSecrets + "/shop/delete", url.Values{"key": {"token"}}, "nothing was deleted", atSecrets + "/shop/delete?key=token"},
		"to show":   {atPassword, url.Values{}, "the password was not shown", atPassword},
	} {
		f := secretSite(t)
		f.answered = map[string]*failure.PersonError{}
		for _, verb := range []string{"list", "update", "delete", "reveal"} {
			f.answered[verb] = &failure.PersonError{
				Status: http.StatusUnauthorized, Detail: "the sign-in is too long ago",
			}
		}
		for at, w := range map[string]*httptest.ResponseRecorder{
			"here":            as(t.Context(), f, "POST", c.path, c.form),
			"at the operator": confirmed(t, f, "POST", c.path, c.form),
		} {
			if w.Code != http.StatusUnauthorized || len(f.acts) > 0 {
				t.Errorf("%s, %s: %d, done %q", name, at, w.Code, f.acts)
			}
			lacks(t, w.Body.String(), "Nothing was done", c.says, url.Values{"return_to": {c.back}}.Encode())
			keeps(t, w)
		}
	}
	f := secretSite(t)
	f.answered = map[string]*failure.PersonError{"list": {Status: http.StatusUnauthorized, Detail: "too long ago"}}
	lacks(t, confirmed(t, f, "GET", atSecrets, nil).Body.String(), "does not count any more", "Sign in again")
}

// TestWhereItIsOffThePageSaysHowItIsSwitchedOn before asking for a sign-in.
func TestWhereItIsOffThePageSaysHowItIsSwitchedOn(t *testing.T) {
	for status, says := range map[int]string{501: "operator.people.enabled: true", 503: "does not answer"} {
		for _, path := range []string{atSecrets, atPassword} {
			for _, fresh := range []bool{true, false} {
				f := secretSite(t)
				f.refusal = &failure.PersonError{Status: status, Detail: "it does not answer, or is off"}
				w := visit(t, f, developer, path)
				if fresh {
					w = confirmed(t, f, "GET", path, nil)
				}
				body := w.Body.String()
				if w.Code != status || !strings.Contains(body, says) {
					t.Errorf("%s, fresh %v: %d, want %d with %q\n%s", path, fresh, w.Code, status, says,
						mainOf(t, body))
				}
				if strings.Contains(body, "/auth/confirm") || strings.Contains(body, `id="value"`) {
					t.Errorf("%s, fresh %v: asks for a sign-in or a value\n%s", path, fresh, mainOf(t, body))
				}
			}
		}
	}
}

// TestWhoMayNotIsToldWhichRightAndWhomToAsk before asking for a sign-in.
func TestWhoMayNotIsToldWhichRightAndWhomToAsk(t *testing.T) {
	none := []string{
		"create secretvalues payments", "list secretvalues payments", "update secretvalues payments",
		"get secrets payments",
		"read databaseaccess payments", "write databaseaccess payments", "master databaseaccess payments",
	}
	for path, shows := range map[string][]string{
		atSecrets: {"You are not allowed to update secretvalues in namespace payments.", "portico-secret-writer", "kubectl auth can-i --list -n payments | grep secretvalues"},
		atSecrets + "/shop/delete": {
			"You are not allowed to update secretvalues in namespace payments.",
			"update secretvalues shop in namespace payments",
			"kubectl auth can-i --list -n payments | grep secretvalues",
		},
		atPassword: {"You are not allowed to sign in to databases in namespace payments.", "spec.secrets.signInBy", "kubectl auth can-i --list -n payments | grep databaseaccess"},
	} {
		f := secretSite(t)
		f.denied = none
		for _, w := range []*httptest.ResponseRecorder{
			visit(t, f, developer, path),
			confirmed(t, f, "POST", path, setting("shop", "token", secretValue)),
		} {
			if w.Code != http.StatusForbidden || len(f.acts) > 0 {
				t.Errorf("%s: %d, done %q", path, w.Code, f.acts)
			}
			lacks(t, w.Body.String(), shows...)
			keeps(t, w)
		}
	}
	f := secretSite(t)
	f.denied = none[1:]
	f.answered = map[string]*failure.PersonError{"list": {Status: 403, Detail: "you are not allowed to list secrets"}}
	w := confirmed(t, f, "GET", atSecrets, nil)
	lacks(t, w.Body.String(), "so the list is hidden", `id="value"`)
	f.down = true
	if w := confirmed(t, f, "GET", atSecrets, nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without Kubernetes: %d", w.Code)
	}
}

func TestASecretIsDeletedOnceThatIsMeant(t *testing.T) {
	f := secretSite(t)
	at := atSecrets + "/shop/delete"
	lacks(t, confirmed(t, f, "GET", at, nil).Body.String(), "Delete shop?", "Type <code>shop</code> to confirm",
		"cannot start again without the value")
	for typed, status := range map[string]int{"": http.StatusConflict, "other": http.StatusUnprocessableEntity} {
		if w := confirmed(t, f, "POST", at, url.Values{"typed": {typed}}); w.Code != status || len(f.acts) > 0 {
			t.Errorf("with %q typed: %d, done %q", typed, w.Code, f.acts)
		}
	}
	lacks(t, confirmed(t, f, "GET", at+"?key=token", nil).Body.String(), "Delete token of shop?",
		`name="key" value="token"`, "The other keys of shop stay.")
	w := confirmed(t, f, "POST", at, url.Values{"key": {"token"}})
	lacks(t, confirmed(t, f, "GET", w.Header().Get("Location"), nil).Body.String(),
		"There is no key token in shop any more.")
	w = confirmed(t, f, "POST", at, url.Values{"typed": {"shop"}})
	lacks(t, confirmed(t, f, "GET", w.Header().Get("Location"), nil).Body.String(), "shop is deleted.")
	if want := []string{"remove shop/token", "delete shop"}; !slices.Equal(f.acts, want) {
		t.Errorf("done %q", f.acts)
	}
	if w := confirmed(t, f, "GET", at, nil); w.Code != http.StatusNotFound ||
		!strings.Contains(w.Body.String(), "It is not there (any more)") {
		t.Errorf("what is gone: %d", w.Code)
	}
	f.answered = map[string]*failure.PersonError{
		"delete": {Status: 409, Detail: "the Secret unused was not made for this"},
	}
	w = confirmed(t, f, "POST", atSecrets+"/unused/delete", url.Values{})
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "was not made for this") {
		t.Errorf("one of others: %d", w.Code)
	}
	if w := confirmed(t, f, "GET", atSecrets+"/..%2fx/delete", nil); w.Code != http.StatusNotFound {
		t.Errorf("a name that none can have: %d", w.Code)
	}
}

func TestAPasswordIsShownToWhoAsksForIt(t *testing.T) {
	f := secretSite(t)
	w := confirmed(t, f, "GET", atPassword, nil)
	lacks(t, w.Body.String(), "Sign in to ledger as yourself?", "user of your own in the database, who can",
		"Your team sees an event", `action="`+atPassword+`"`)
	if keeps(t, w); len(f.acts) > 0 {
		t.Errorf("done by looking: %q", f.acts)
	}
	w = confirmed(t, f, "POST", atPassword, url.Values{})
	lacks(t, w.Body.String(), `<code id="password" data-secret>`+secretValue+`</code>`, `data-copy="password"`,
		"ledger.<wbr>example.<wbr>com", "jo", "5432", "2026-")
	if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store, no-transform" ||
		!slices.Equal(f.acts, []string{"reveal ledger"}) {
		t.Errorf("%d, %q, done %q", w.Code, w.Header().Get("Cache-Control"), f.acts)
	}
	w = confirmed(t, f, "GET", atPassword+"?master", nil)
	lacks(t, w.Body.String(), "Show the master password of ledger?", "can do everything in the database", `action="`+
		atPassword+`?master"`)
	w = confirmed(t, f, "POST", atPassword+"?master", url.Values{})
	if lacks(t, w.Body.String(), "owner", "The master password of ledger"); !slices.Equal(
		f.acts, []string{"reveal ledger", "reveal the master of ledger"}) {
		t.Errorf("done %q", f.acts)
	}
	f.denied = []string{"master databaseaccess payments", "get secrets payments", "write databaseaccess payments"}
	if body := confirmed(t, f, "GET", atPassword, nil).Body.String(); strings.Contains(body, "?master") ||
		!strings.Contains(body, "as yourself?") {
		t.Errorf("a developer sees\n%s", mainOf(t, body))
	}
	if w := confirmed(t, f, "POST", atPassword+"?master", url.Values{}); w.Code != http.StatusForbidden ||
		len(f.acts) != 2 {
		t.Errorf("a developer is shown the master password: %d, done %q", w.Code, f.acts)
	}
	f.denied = nil
	f.answered = map[string]*failure.PersonError{
		"reveal": {Status: 409, Detail: "ledger: RDS keeps the password itself"},
	}
	w = confirmed(t, f, "POST", atPassword, url.Values{})
	if keeps(t, w); w.Code != http.StatusConflict ||
		!strings.Contains(w.Body.String(), "RDS keeps the password itself") {
		t.Errorf("elsewhere: %d", w.Code)
	}
	young := newFake(t, strings.Replace(ledger, "binding: {name: ledger-rdsinstance-binding, keys: [host, password, "+
		"port, username]},", "", 1))
	if w := confirmed(t, young, "GET", atPassword, nil); w.Code != http.StatusConflict ||
		!strings.Contains(w.Body.String(), "no connection details yet") {
		t.Errorf("not ready: %d", w.Code)
	}
	for _, path := range []string{
		"/teams/payments/webapps/shop/password",
		"/teams/_platform/awsproviders/aws-prod/password",
	} {
		if w := confirmed(t, f, "GET", path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestPagesLeadToSecrets: from a namespace, from objects that refer to Secrets, and from objects with a password.
func TestPagesLeadToSecrets(t *testing.T) {
	f := secretSite(t)
	f.objects[0].Object["spec"].(map[string]any)["env"] = []any{
		map[string]any{"name": "TOKEN", "valueFrom": map[string]any{
			"secretKeyRef": map[string]any{"name": "shop", "key": "token"},
		}},
	}
	f.objects[0].Object["spec"].(map[string]any)["envFrom"] = []any{
		map[string]any{"secretRef": map[string]any{"name": "more"}},
	}
	atLedger := "/teams/payments/rdsinstances/ledger"
	for path, shows := range map[string]string{
		"/teams/payments/about":        `<a class="btn" href="/teams/payments/secrets">`,
		"/teams/payments/webapps/shop": `<a href="/teams/payments/secrets?name=shop#set">`,
		"/teams/payments/new/webapps":  `<a href="/teams/payments/secrets" target="_blank" rel="noopener">`,
		atLedger:                       `<a class="btn" href="` + atPassword + `">Sign in as yourself…</a>`,
	} {
		lacks(t, visit(t, f, developer, path).Body.String(), shows)
	}
	lacks(t, visit(t, f, developer, "/teams/payments/webapps/shop").Body.String(), "<dt>more</dt>", "every key")
	lacks(t, visit(t, f, developer, atLedger).Body.String(), "portico connect ledger -n payments")
	f.denied = []string{
		"create secretvalues payments", "update secretvalues payments", "get secrets payments",
		"read databaseaccess payments", "write databaseaccess payments", "master databaseaccess payments",
	}
	lacks(t, visit(t, f, developer, "/teams/payments/about").Body.String(), "Your role lacks the right to set values "+
		"of Secrets")
	if body := visit(t, f, developer, atLedger).Body.String(); strings.Contains(body, atPassword) ||
		!strings.Contains(body, "have no access to the password") {
		t.Error("who may not see a password is led there, or is not told")
	}
	if strings.Contains(visit(t, f, developer, "/teams/payments/new/s3buckets").Body.String(), "in a Secret") {
		t.Error("a form that takes no Secret speaks of them")
	}
}

func TestASignInThatConfirmsNobodySaysHowToGoOn(t *testing.T) {
	p := New(newFake(t).parts(), Reach{}, nil)
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(auth.WithIdentity(t.Context(), developer), "GET", "/auth/callback", nil)
	p.Unconfirmed(w, r, auth.Unconfirmed{
		Status: 403, Title: "You are not signed in again", Detail: "somebody else",
		Back: atSecrets, EndSession: "https://id.example.com/logout",
	})
	lacks(t, w.Body.String(), "You are not signed in again", "Somebody else.", `href="`+atSecrets+`"`,
		`href="https://id.example.com/logout"`, "Nothing was changed")
	if w.Code != http.StatusForbidden {
		t.Errorf("answers %d", w.Code)
	}
}

// TestGoldenSecrets compares the pages that need a fresh sign-in, before and after it.
func TestGoldenSecrets(t *testing.T) {
	empty, off := secretSite(t), secretSite(t)
	empty.secrets = nil
	off.refusal = &failure.PersonError{Status: http.StatusNotImplemented, Detail: "this is switched off"}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"secrets-confirm": visit(t, secretSite(t), developer, atSecrets),
		"secrets":         confirmed(t, secretSite(t), "GET", atSecrets+"?name=shop", nil),
		"secrets-empty":   confirmed(t, empty, "GET", atSecrets, nil),
		"secrets-off":     visit(t, off, developer, atSecrets),
		"secrets-wrong":   confirmed(t, secretSite(t), "POST", atSecrets, setting("Shop", "", "")),
		"secret-delete":   confirmed(t, secretSite(t), "GET", atSecrets+"/shop/delete", nil),
		"password":        confirmed(t, secretSite(t), "GET", atPassword, nil),
		"password-shown":  confirmed(t, secretSite(t), "POST", atPassword, url.Values{}),
		"password-master": confirmed(t, secretSite(t), "GET", atPassword+"?master", nil),
	} {
		t.Run(name, func(t *testing.T) {
			comparePage(t, name, mainOf(t, w.Body.String()))
		})
	}
}
