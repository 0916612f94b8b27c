//go:build integration

package integration

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// Every kind is requested through the REST API as a tool would, becomes Ready, and is deleted.
func TestEveryKindIsRequestedOverREST(t *testing.T) {
	c := admin(t)
	p := startPortal(t, "", sessionKeys(t))
	startOperator(t, operatorOptions{})
	token := userToken(t, "payments-dev")
	each(t, func(t *testing.T, s specimen) {
		name := unique("rest-kind")
		o := s.object("payments", name)
		s.declare(o)
		body, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			t.Fatal(err)
		}
		delete(body, "status")
		body["apiVersion"], body["kind"] = "portico.dev/v1alpha1", s.kind
		base := "/namespaces/payments/" + strings.ToLower(s.kind) + "s"
		p.call(t, token, "POST", base, body).want(t, http.StatusCreated)
		ready(t, c, o)
		await(t, "the representation to be Ready", func() (bool, string) {
			a := p.call(t, token, "GET", base+"/"+name, nil).want(t, http.StatusOK)
			return nested(a.body, "status", "ready") == true, a.raw
		})
		if strings.Contains(p.call(t, token, "GET", base+"/"+name, nil).raw, "password\":\"") {
			t.Error("a password is shown")
		}
		if s.stateful {
			a := p.call(t, token, "DELETE", base+"/"+name, nil).want(t, http.StatusForbidden)
			if !strings.Contains(a.raw, "portico.dev/confirm-deletion="+name) ||
				!strings.Contains(a.raw, "confirm="+name) {
				t.Errorf("a deletion that nobody confirmed: %s", a.raw)
			}
			p.call(t, token, "DELETE", base+"/"+name+"?confirm=another", nil).want(t, http.StatusUnprocessableEntity)
			p.call(t, token, "DELETE", base+"/"+name+"?dryRun=All&confirm="+name, nil).want(t, http.StatusOK)
		}
		p.call(t, token, "DELETE", base+"/"+name+"?confirm="+name, nil).want(t, http.StatusAccepted)
		awaitGone(t, c, o)
		if left := s.owned(t, string(o.GetUID())); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
