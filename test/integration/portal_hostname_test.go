//go:build integration

package integration

import (
	"context"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// claimOfSearch claims a hostname for the team search, in the domain granted to the team payments.
func claimOfSearch(t *testing.T) (hostname string) {
	t.Helper()
	c, hostname := admin(t), unique("find")+".payments."+stack.Domain
	claim := &v1alpha1.DomainClaim{
		ObjectMeta: metav1.ObjectMeta{Name: unique("dc-portal")},
		Spec: v1alpha1.DomainClaimSpec{
			Hostname: hostname, Visibility: v1alpha1.InternetFacing, Gateway: "gw-00",
			Holder: v1alpha1.ClaimHolder{Namespace: "search", Name: "find", UID: "1"},
		},
	}
	create(t, c, claim)
	t.Cleanup(func() { _ = c.Delete(context.Background(), claim) }) // a claim is cluster-scoped
	return hostname
}

func TestWhoHasAHostnameIsToldToThoseWhoMaySeeIt(t *testing.T) {
	hostname := claimOfSearch(t)
	p := startPortal(t, "", sessionKeys(t))
	at := "/namespaces/payments/hostnames/check?hostname=" + hostname
	for user, want := range map[string]string{"payments-dev": "", "viewer": "", "platform-admin": "search"} {
		a := p.call(t, userToken(t, user), "GET", at, nil).want(t, http.StatusOK)
		if a.body["state"] != "taken" {
			t.Errorf("%s is told the state %v, want taken", user, a.body["state"])
		}
		holder := nested(a.body, "holder", "namespace")
		if want == "" && (a.body["holder"] != nil || strings.Contains(a.raw, "search")) {
			t.Errorf("%s is told %s, want no holder", user, a.raw)
		}
		if want != "" && holder != want {
			t.Errorf("%s is told the holder %v, want %s", user, holder, want)
		}
	}
	p.call(t, userToken(t, "search-dev"), "GET", at, nil).want(t, http.StatusForbidden)
	p.call(t, userToken(t, "payments-dev"), "GET", "/domainclaims", nil).want(t, http.StatusForbidden)
	if a := p.call(t, userToken(t, "platform-admin"), "GET", "/domainclaims?limit=500", nil).want(
		t, http.StatusOK); !strings.Contains(a.raw, hostname) {
		t.Errorf("an admin does not see the claim: %s", a.raw)
	}
}

func TestAdminPagesAreForAdmins(t *testing.T) {
	hostname := claimOfSearch(t)
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	for group, status := range map[string]int{"team-payments": http.StatusForbidden, "platform-admins": http.StatusOK} {
		in := p.signIn(t, issuer, oidctest.Claims{"preferred_username": "somebody", "groups": []string{group}}).want(
			t, http.StatusSeeOther)
		session := map[string]string{"__Host-portico": in.session()}
		for _, path := range []string{"/admin", "/admin/claims", "/admin/grants"} {
			a := p.visit(t, "GET", path, session).want(t, status)
			if shown := strings.Contains(a.raw, hostname); shown != (status == http.StatusOK &&
				path == "/admin/claims") {
				t.Errorf("%s shows the claim to %s: %v", path, group, shown)
			}
		}
	}
}
