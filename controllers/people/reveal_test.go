package people

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestAPasswordIsForWhoMayGetItsSecret(t *testing.T) {
	binding := secret("db-binding", func(s *corev1.Secret) {
		s.Labels, s.Type = nil, "servicebinding.io/postgresql"
		s.OwnerReferences = []metav1.OwnerReference{{UID: "db-uid"}}
		s.Data = map[string][]byte{
			"password": []byte(value), "username": []byte("owner"), "host": []byte("h"),
			"port": []byte("5432"), "database": []byte("d"), "type": []byte("postgresql"),
		}
	})
	path := operatorapi.PasswordPath("RDSInstance", "payments", "db")
	ready := func(d *door) { d.bound = Bound{UID: "db-uid", Binding: &v1alpha1.Binding{}} }
	for name, c := range map[string]struct {
		change func(*door)
		secret *corev1.Secret
		path   string
		status int
		says   string
	}{
		"may": {ready, binding, path, 200, `"username":"owner","host":"h","port":"5432","database":"d","type":"postgresql"`},
		"may not": {
			func(d *door) { ready(d); d.rights = []string{"update secrets payments/db-binding"} },
			binding, path, 403, "you are not allowed to sign in to databases in namespace payments: developers read " +
				"and owners write",
		},
		"may not, no object": {
			func(d *door) { d.rights, d.missing = nil, true }, binding, path, 403,
			"you are not allowed to sign in to databases in namespace payments: developers read and owners write",
		},
		"no object":        {func(d *door) { d.missing = true }, binding, path, 404, "there is no RDSInstance db"},
		"not ready":        {func(d *door) { d.bound.UID = "db-uid" }, binding, path, 409, "no connection details yet"},
		"another's Secret": {func(d *door) { ready(d); d.bound.UID = "other" }, binding, path, 409, "is not the one with the connection details"},
		"another type":     {ready, secret("db-binding", func(s *corev1.Secret) { s.OwnerReferences = binding.OwnerReferences }), path, 409, "is not the one"},
		"no password":      {ready, secret("db-binding", func(s *corev1.Secret) { s.OwnerReferences, s.Type, s.Data = binding.OwnerReferences, binding.Type, nil }), path, 409, "have no password"},
		"kept by RDS": {
			func(d *door) { ready(d); d.bound.Elsewhere = "RDS keeps it: arn" },
			secret("db-binding", func(s *corev1.Secret) {
				s.OwnerReferences, s.Type, s.Data = binding.OwnerReferences, binding.Type, nil
			}), path, 409, "RDS keeps it: arn",
		},
		"another kind": {ready, binding, operatorapi.PasswordPath("WebApp", "payments", "db"), 404, "have no passwords"},
		"a bad name":   {ready, binding, operatorapi.PasswordPath("RDSInstance", "payments", "DB"), 422, "is not the name of an object"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, c.secret)
			d.rights = []string{"get secrets payments/db-binding"}
			c.change(d)
			w := d.ask("POST", c.path, "")
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if shown := strings.Contains(w.Body.String(), value); shown != (c.status == 200) ||
				(len(d.told) == 1) != shown {
				t.Errorf("shown: %v, told to %v", shown, d.told)
			}
			if !strings.Contains(d.log.String(), `"msg":"reveal"`) {
				t.Errorf("the audit log has %s", &d.log)
			}
		})
	}
}

// A database is signed in to as a user of the person's own, by what they may do; the master password is for owners.
func TestADatabaseIsSignedInToAsOneself(t *testing.T) {
	of := func(name string) *corev1.Secret {
		return secret(name+"-binding", func(s *corev1.Secret) {
			s.Labels, s.Type = nil, "servicebinding.io/postgresql"
			s.OwnerReferences = []metav1.OwnerReference{{UID: "db-uid"}}
			s.Data = map[string][]byte{"password": []byte(value), "username": []byte(name)}
		})
	}
	path := operatorapi.PasswordPath("RDSInstance", "payments", "db")
	for name, c := range map[string]struct {
		rights []string
		query  string
		status int
		says   string
		told   string
	}{
		"reads":                {[]string{"read"}, "", 200, `"username":"db-janes","access":"Read","expiresAt":"1970-01-02T01:00:00Z"`, "oidc:jane Read"},
		"writes":               {[]string{"read", "write"}, "", 200, `"username":"db-janes","access":"ReadWrite"`, "oidc:jane ReadWrite"},
		"an owner as oneself":  {[]string{"read", "write", "master"}, "", 200, `"username":"db-janes","access":"ReadWrite"`, "oidc:jane ReadWrite"},
		"the master password":  {[]string{"read", "write", "master"}, "?master", 200, `"username":"db"`, "oidc:jane"},
		"master, by who reads": {[]string{"read"}, "?master", 403, "not allowed to see master passwords", ""},
		"nobody":               {nil, "", 403, "not allowed to sign in to databases", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t, of("db"), of("db-janes"))
			d.bound = Bound{UID: "db-uid", Binding: &v1alpha1.Binding{}}
			for _, verb := range c.rights {
				d.rights = append(d.rights, verb+" databaseaccess payments/db")
			}
			w := d.ask("POST", path+c.query, "")
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%d %s, want %d %s", w.Code, w.Body, c.status, c.says)
			}
			if got := strings.Join(d.told, ","); got != c.told {
				t.Errorf("the event is about %q, want %q", got, c.told)
			}
		})
	}
}

func (d *door) FreshCaller(ctx context.Context, token string) (identity.Identity, error) {
	return d.Caller(ctx, token)
}
