package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/sse"
)

const (
	script = `<script>steal()</script>`
	breaks = `"'><img src=x onerror=steal()>` + "\r\rdata: x"
	link   = `javascript:steal()`
	secret = "hunter2-in-a-former-manifest"
)

// hostile returns a bucket with hostile text in every field that a user or AWS can set.
func hostile(tb testing.TB, name string, leaving bool) *unstructured.Unstructured {
	tb.Helper()
	o := object(tb, readyBucket)
	o.SetName(name)
	o.SetUID("uid-hostile")
	o.SetAnnotations(map[string]string{
		"portico.dev/requested-by": "oidc:" + script + breaks, "portico.dev/paused": script, "note": link,
		"link": breaks,
		"kubectl.kubernetes.io/last-applied-configuration": secret,
	})
	o.SetLabels(map[string]string{"team": script})
	if leaving {
		now := o.GetCreationTimestamp()
		o.SetDeletionTimestamp(&now)
		o.SetFinalizers([]string{"portico.dev/release", "example.org/" + script})
	}
	condition := func(kind, status string) any {
		return map[string]any{"type": kind + script, "status": status, "reason": breaks, "message": script + breaks +
			" " + link, "lastTransitionTime": script}
	}
	for path, v := range map[string]any{
		"spec.tags": map[string]any{"a" + breaks: script, "link": link}, "spec.bucketName": script,
		"spec.deletionPolicy":   "Delete",
		"spec.providerRef.name": breaks, "status.bucketName": link, "status.arn": script + breaks,
		"status.region": script, "status.accountID": breaks,
		"status.binding.name": script, "status.endpoint": link, "status.lastSyncTime": script,
		"status.conditions": []any{
			map[string]any{"type": "Ready", "status": "False", "reason": breaks, "message": script + breaks + " " +
				link},
			condition("Stalled", "True"), condition("Reconciling", "False"), condition("x", "Unknown"),
		},
	} {
		if err := unstructured.SetNestedField(o.Object, v, strings.Split(path, ".")...); err != nil {
			tb.Fatal(err)
		}
	}
	return o
}

// unsafe matches markup that came from a value, and URLs that run a script.
var unsafe = regexp.MustCompile(
	`(?i)<script>|<img|onerror=steal\(\)>|(href|src|action|formaction|hx-[a-z]+)\s*=\s*["']?\s*javascript:|` + secret)

func hostileSite(t *testing.T) *fakeCluster {
	t.Helper()
	f := busySite(t)
	f.objects = append(f.objects, hostile(t, "hostile", false), hostile(t, "leaving", true))
	f.events = append(f.events,
		event("hostile", script, "Warning"+breaks, script+breaks+link, time.Hour),
		event("hostile", breaks, "Normal", link, time.Hour))
	f.open = []teams.Provider{{Name: script, AccountID: breaks, Region: link, Ready: true}, {Name: breaks}}
	return f
}

// TestHostileObjects: values of objects are rendered as text on every page.
func TestHostileObjects(t *testing.T) {
	at := "/teams/payments/s3buckets/hostile"
	for path, shown := range map[string]string{
		"/teams/payments": "hostile",
		"/teams/payments?q=" + url.QueryEscape(script) + "&kind=" + url.QueryEscape(breaks) + "&sort=" +
			url.QueryEscape(link): "&lt;script&gt;",
		at:                                       "&lt;script&gt;",
		at + "?tab=events":                       "&lt;script&gt;",
		at + "?tab=yaml":                         "&lt;script&gt;",
		at + "/delete":                           "&lt;script&gt;",
		"/teams/payments/s3buckets/leaving":      "&lt;script&gt;",
		"/teams/payments/new/s3buckets":          "&lt;script&gt;",
		"/teams/payments/s3buckets/%3Cscript%3E": "",
		"/teams/%3Cscript%3E/s3buckets/x":        "",
		"/switch?team=" + url.QueryEscape(link):  "",
	} {
		w := visit(t, hostileSite(t), developer, path)
		if found := unsafe.FindString(w.Body.String()); found != "" {
			t.Errorf("%s shows %q:\n%s", path, found, w.Body)
		}
		if !strings.Contains(w.Body.String(), shown) || strings.HasPrefix(w.Header().Get("Location"), "javascript") {
			t.Errorf("%s does not show %q", path, shown)
		}
	}
	for name, form := range map[string]url.Values{
		"a form": filled("review", "metadata.name", script, "spec.bucketName", breaks, "spec.tags[0].key", script,
			"spec.lifecycleRules[0].expirationDays", script),
		"YAML":    {"do": {"review"}, "yaml": {"metadata: {name: x}\nspec: {bucketName: \"" + script + "\"}"}},
		"no YAML": {"do": {"review"}, "yaml": {"a: [" + script}},
		"a base":  filled("add spec.tags", "base", breaks+script),
	} {
		w := post(t, hostileSite(t), ask, form)
		if found := unsafe.FindString(w.Body.String()); found != "" {
			t.Errorf("%s shows %q:\n%s", name, found, w.Body)
		}
	}
}

// TestHostileStreams: the same for streams, and no value can end its field of the message.
func TestHostileStreams(t *testing.T) {
	for _, path := range []string{
		"/teams/payments/live", "/teams/payments/s3buckets/hostile/live",
		"/teams/payments/s3buckets/hostile/live?tab=yaml", "/teams/payments/s3buckets/leaving/live",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			w := httptest.NewRecorder()
			done := make(chan struct{})
			go func() {
				defer close(done)
				site(hostileSite(t), developer, noon).ServeHTTP(
					w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
			}()
			synctest.Wait()
			cancel()
			<-done
			body := w.Body.String()
			if found := unsafe.FindString(body); found != "" || strings.Contains(body, "\r") {
				t.Errorf("%s sends %q, or a carriage return:\n%s", path, found, body)
			}
			if !strings.Contains(body, "hostile") && !strings.Contains(body, "leaving") {
				t.Errorf("%s sends neither hostile nor leaving:\n%s", path, body)
			}
			for line := range strings.SplitSeq(strings.TrimRight(w.Body.String(), "\n"), "\n") {
				if line != "" && !strings.HasPrefix(line, "data: ") {
					t.Errorf("%s sends the line %q", path, line)
				}
			}
		})
	}
}

func TestTooManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := site(busySite(t), developer, noon)
		done := make(chan struct{})
		for range sse.MaxStreams {
			go func() {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(
					ctx, http.MethodGet, "/teams/payments/live", nil))
				done <- struct{}{}
			}()
		}
		synctest.Wait()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(
			t.Context(), http.MethodGet, "/teams/payments/s3buckets/invoices/live", nil))
		if w.Code != 429 || !strings.Contains(w.Body.String(), "Close some of them") {
			t.Errorf("one stream more answers %d:\n%s", w.Code, w.Body)
		}
		cancel()
		for range sse.MaxStreams {
			<-done
		}
	})
}
