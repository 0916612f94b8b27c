package albsim

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestAPodGetsTheRequestAsFromALoadBalancer sends a request to a server that stands for a Pod.
func TestAPodGetsTheRequestAsFromALoadBalancer(t *testing.T) {
	var got *http.Request
	var body string
	pod := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r.Clone(t.Context()), string(text)
		w.WriteHeader(http.StatusTeapot)
	}))
	h := &server{plain: transport(false)}
	to := target{types.NamespacedName{Namespace: "payments", Name: "shop-1"}, strings.TrimPrefix(pod.URL, "http://")}
	send := func() *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://shop.portico.localhost:8443/a?b=c",
			strings.NewReader("hello"))
		r.Header.Set("X-Forwarded-For", "192.0.2.7")
		w := httptest.NewRecorder()
		h.send(w, r, to, false)
		return w
	}
	if w := send(); w.Code != http.StatusTeapot {
		t.Fatalf("status %d, want the Pod's 418", w.Code)
	}
	if got.Host != "shop.portico.localhost:8443" || got.URL.String() != "/a?b=c" || body != "hello" {
		t.Errorf("the Pod got %s%s with %q", got.Host, got.URL, body)
	}
	for name, want := range map[string]string{
		"X-Forwarded-For": "192.0.2.7, 192.0.2.1", "X-Forwarded-Proto": "https", "X-Forwarded-Port": "443",
		"X-Forwarded-Host": "",
	} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	pod.Close()
	if w := send(); w.Code != http.StatusBadGateway || !strings.Contains(w.Body.String(), "The Pod payments/shop-1 ") {
		t.Errorf("of a Pod that is gone: %d, %s", w.Code, w.Body)
	}
}
