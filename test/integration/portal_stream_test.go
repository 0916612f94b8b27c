//go:build integration

package integration

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// TestStreamsEndWithTheRightToSee removes a RoleBinding while a stream is open.
func TestStreamsEndWithTheRightToSee(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: unique("guest")},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-viewer"},
		Subjects: []rbacv1.Subject{
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "oidc:" + unique("guest")},
		},
	}
	platform := admin(t)
	if err := platform.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	user := strings.TrimPrefix(binding.Subjects[0].Name, "oidc:")
	in := p.signIn(t, issuer, oidctest.Claims{"preferred_username": user, "groups": []string{}}).want(
		t, http.StatusSeeOther)
	session := map[string]string{"__Host-portico": in.session()}
	const path = "/teams/payments/live"
	await(t, "the guest's right", func() (bool, string) {
		a := p.visit(t, "GET", "/teams/payments", session)
		return a.status == http.StatusOK, a.raw
	})
	req, err := http.NewRequestWithContext(t.Context(), "GET", p.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.AddCookie(&http.Cookie{Name: "__Host-portico", Value: session["__Host-portico"]})
	resp, err := plainly().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("no snapshot: %v", err)
	}
	if err := platform.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = lines.ReadString('\n')
	}
	if !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream went on: %v", err)
	}
	if a := p.visit(t, "GET", path, session, "Accept", "text/event-stream"); a.status != http.StatusForbidden {
		t.Errorf("connecting again: %d", a.status)
	}
}
