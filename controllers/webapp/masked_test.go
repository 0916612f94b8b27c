package webapp

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/owned"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
)

// runWith is a pass over an app that is given the values of one Secret.
func runWith(t *testing.T, secret map[string]string) (*run, *stepstest.Cluster) {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	c := stepstest.NewCluster(s, nil)
	app := &v1alpha1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "u"}}
	ref := &v1alpha1.SecretKeyRef{Name: "s", Key: "k"}
	app.Spec.Env = []v1alpha1.WebAppEnv{{Name: "A", ValueFrom: &v1alpha1.WebAppEnvSource{SecretKeyRef: ref}}, {Name: "B", Value: "plain"}}
	app.Spec.EnvFrom = []v1alpha1.WebAppEnvFrom{{SecretRef: &v1alpha1.LocalRef{Name: "s"}}, {ConfigMapRef: &v1alpha1.LocalRef{Name: "c"}}}
	app.Status.Bindings = []v1alpha1.WebAppBound{{Secret: "s"}}
	if secret != nil {
		obj := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}, Data: map[string][]byte{}}
		for key, value := range secret {
			obj.Data[key] = []byte(value)
		}
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	w := Work{Writer: owned.Writer{Client: c.Client(), Live: c.Live()}}
	objects, err := w.Writer.Of(app, engine.NewPass(nil))
	if err != nil {
		t.Fatal(err)
	}
	return &run{Work: w, app: app, objects: objects}, c
}

func TestNoSecretStandsInTheLastLine(t *testing.T) {
	value := "p@ss word/1?+"
	for name, row := range map[string]struct {
		secret     map[string]string
		line, want string
	}{
		"the value":                  {map[string]string{"k": value}, "login with " + value + " failed", "login with *** failed"},
		"twice":                      {map[string]string{"k": value}, value + value, "***"},
		"in a query":                 {map[string]string{"k": value}, "GET /?p=" + url.QueryEscape(value), "GET /?p=***"},
		"in a path":                  {map[string]string{"k": value}, "GET /" + url.PathEscape(value), "GET /***"},
		"in base64":                  {map[string]string{"k": value}, "Basic " + base64.RawStdEncoding.EncodeToString([]byte(value)), "Basic ***"},
		"in base64 for URLs":         {map[string]string{"k": "a>>>?bcd"}, base64.RawURLEncoding.EncodeToString([]byte("a>>>?bcd")), "***"},
		"one line of many":           {map[string]string{"k": "-----BEGIN-----\nMIIEpAIBAAKCAQEA\n-----END-----\n"}, "bad key MIIEpAIBAAKCAQEA", "bad key ***"},
		"one is part of another":     {map[string]string{"a": "hunter2", "b": "xhunter2x"}, "xhunter2x and hunter2", "*** and ***"},
		"two that overlap":           {map[string]string{"a": "abcdef", "b": "defghi"}, "is abcdefghi", "is ***"},
		"too short to tell":          {map[string]string{"k": "abc"}, "abc", "abc"},
		"in JSON":                    {map[string]string{"k": `a"b\c<d>`}, `{"password":"a\"b\\c\u003cd\u003e"}`, `{"password":"***"}`},
		"in quotes":                  {map[string]string{"k": `a"b\c<d>`}, `password="a\"b\\c<d>"`, `password="***"`},
		"a key in one line of JSON":  {map[string]string{"k": "one\ntwo\n"}, `{"key":"one\ntwo\n"}`, `{"key":"***"}`},
		"an output cut in the value": {map[string]string{"k": "hunter2-and-more"}, "and-more@db failed", "***@db failed"},
		"a value with a tab":         {map[string]string{"k": "pass\tword"}, printable("pass\tword"), "***"},
		"a value that is not there":  {map[string]string{"k": value}, "plain text", "plain text"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := runWith(t, row.secret)
			if got := r.masked(t.Context(), cause{text: "crashed", line: row.line}); got != "crashed; its last line is: "+row.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestWithoutTheSecretTheLineIsLeftOut(t *testing.T) {
	r, c := runWith(t, map[string]string{"k": "hunter2"})
	c.Before = func(call stepstest.Call) error {
		if call.Kind == "Secret" && call.Live {
			return errors.New("forbidden")
		}
		return nil
	}
	if got := r.masked(t.Context(), cause{text: "crashed", line: "hunter2"}); got != "crashed" {
		t.Errorf("got %q", got)
	}
}

func TestWhatWasReadFromASecretThatIsGoneIsLeftOut(t *testing.T) {
	r, _ := runWith(t, nil)
	if got := r.masked(t.Context(), cause{text: "crashed", line: "hunter2"}); got != "crashed" {
		t.Errorf("got %q", got)
	}
}

func TestALongLineIsCutAfterItIsMasked(t *testing.T) {
	secret := strings.Repeat("s3cr€t", 20)
	r, _ := runWith(t, map[string]string{"k": secret})
	got := r.masked(t.Context(), cause{text: "x", line: strings.Repeat("€", 60) + secret + strings.Repeat("€", 60)})
	line := strings.TrimPrefix(got, "x; its last line is: ")
	if strings.Contains(line, "s3cr") || !utf8.ValidString(line) || !strings.HasSuffix(line, "…") || len(line) > longestLine+len("…") {
		t.Errorf("%d bytes: %q", len(line), line)
	}
}

func TestWhateverStandsAroundAValueItIsMasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-c ]{0,10}`)
		value := rapid.StringMatching(`[a-c]{4,8}`)
		values := []string{value.Draw(t, "one"), value.Draw(t, "two")}
		line := text.Draw(t, "before") + values[0] + text.Draw(t, "between") + values[1] + text.Draw(t, "after")
		got := hide(line, values)
		for _, v := range values {
			if strings.Contains(got, v) {
				t.Fatalf("%q became %q, with %q in it", line, got, v)
			}
		}
	})
}
