package databaseuser

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
)

// desk is a DatabaseUser with a fake database, a fake server and fake Secrets in memory.
type desk struct {
	t        *testing.T
	now      time.Time
	obj      *v1alpha1.DatabaseUser
	database *v1alpha1.RDSInstance
	secrets  map[string]map[string]string // by kind
	// the server: passwords by user, "" for a user that nobody can sign in as; and users that somebody else created
	users   map[string]server.Password
	foreign string
	calls   []string
	lose    string // the call whose response is lost
	connect error
	saves   int
	events  []string
}

const masterSecret = "master-Secret-2"

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		t: t, now: time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC), users: map[string]server.Password{},
		secrets: map[string]map[string]string{
			v1alpha1.KindRDSInstance: {
				"type": "postgresql", "provider": "aws", "host": "elsewhere", "port": "1", "database": "shop",
				"username": "admin", "password": masterSecret,
				"uri": "postgresql://admin:" + masterSecret + "@elsewhere:1/shop",
				"arn": "arn:aws:rds:eu-central-1:111111111111:db:shop", "region": "eu-central-1",
			},
		},
	}
	d.obj = &v1alpha1.DatabaseUser{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop-app", Annotations: map[string]string{}},
		Spec: v1alpha1.DatabaseUserSpec{
			DatabaseRef: v1alpha1.LocalRef{Name: "shop"}, Access: v1alpha1.AccessReadWrite,
			Authentication: v1alpha1.AuthenticationPassword, DeletionPolicy: v1alpha1.DeletionDelete,
		},
	}
	d.database = &v1alpha1.RDSInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop"},
		Spec:       v1alpha1.RDSInstanceSpec{Engine: "postgres"},
	}
	d.database.Status.Endpoint, d.database.Status.Port,
		d.database.Status.Ready = "shop.abc.eu-central-1.rds.amazonaws.com", 5432, true
	d.database.Status.Binding = &v1alpha1.Binding{Name: "shop-rdsinstance-binding"}
	return d
}

func (d *desk) reconciler() Reconciler {
	return Reconciler{
		Database: func(_ context.Context, namespace, name string) (*v1alpha1.RDSInstance, error) {
			if d.database != nil && (d.database.Namespace != namespace || d.database.Name != name) {
				return nil, errors.New("another database is read")
			}
			return d.database, nil
		},
		Secrets: d, Dialer: d, Now: func() time.Time { return d.now }, Scaled: func(t time.Duration) time.Duration {
			return t
		},
	}
}

func (d *desk) newPass() *engine.Pass {
	return engine.NewPass(func(context.Context) error { d.saves++; d.calls = append(d.calls, "save"); return nil })
}

func (d *desk) pass() error {
	p := d.newPass()
	err := d.reconciler().Reconcile(d.t.Context(), d.obj, p)
	d.events = append(d.events, p.Strings()...)
	return err
}

func (d *desk) finalize() error {
	p := d.newPass()
	err := d.reconciler().Finalize(d.t.Context(), d.obj, p)
	d.events = append(d.events, p.Strings()...)
	return err
}

// ready runs one pass that must succeed, and clears the list of calls.
func (d *desk) ready() {
	d.t.Helper()
	if err := d.pass(); err != nil {
		d.t.Fatal(err)
	}
	d.calls, d.events = nil, nil
}

func (d *desk) binding() map[string]string { return d.secrets[kind] }

// signsIn reports whether the published user and password are valid.
func (d *desk) signsIn(details map[string]string) bool {
	have, ok := d.users[details["username"]]
	return ok && have != "" && string(have) == details["password"]
}

func (d *desk) after(name string, do func()) error {
	d.calls = append(d.calls, name)
	do()
	if d.lose == name {
		d.lose = ""
		return errors.New("the answer is lost")
	}
	return nil
}

// Published implements Secrets.
func (d *desk) Published(_ context.Context, kind string, _ client.Object) (map[string]string, error) {
	return maps.Clone(d.secrets[kind]), nil
}

// Publish implements Secrets.
func (d *desk) Publish(_ context.Context, kind string, _ client.Object, details map[string]string) (
	*v1alpha1.Binding, error,
) {
	maps.DeleteFunc(details, func(_, value string) bool { return value == "" })
	if maps.Equal(d.secrets[kind], details) {
		return &v1alpha1.Binding{Name: "b"}, nil
	}
	err := d.after("publish", func() { d.secrets[kind] = details })
	return &v1alpha1.Binding{Name: "b", Keys: slices.Sorted(maps.Keys(details))}, err
}

// Connect implements Dialer.
func (d *desk) Connect(_ context.Context, t server.Target) (server.Server, error) {
	if t.Host != d.database.Status.Endpoint || t.Port != 5432 || t.Database != "shop" {
		d.t.Errorf("connects to %s:%d/%s", t.Host, t.Port, t.Database)
	}
	if string(t.Password) != d.secrets[v1alpha1.KindRDSInstance]["password"] {
		return nil, server.ErrSignIn
	}
	return d, d.connect
}

// SignIn implements Dialer.
func (d *desk) SignIn(_ context.Context, t server.Target) error {
	if have, ok := d.users[t.Username]; !ok || have == "" || have != t.Password {
		return server.ErrSignIn
	}
	return nil
}

// Exists implements server.Server.
func (d *desk) Exists(_ context.Context, a server.Account) (bool, error) {
	_, first := d.users[a.Logins()[0]]
	return first || d.foreign == a.Logins()[0], nil
}

// Ensure implements server.Server.
func (d *desk) Ensure(_ context.Context, a server.Account) ([]string, error) {
	if d.foreign != "" {
		return nil, engine.Blocked(v1alpha1.ReasonAlreadyExists, "%s is somebody else's", d.foreign)
	}
	var done []string
	var err error
	for _, login := range a.Logins() {
		if _, ok := d.users[login]; !ok {
			done = append(done, "made "+login)
			err = cmp.Or(err, d.after("make", func() { d.users[login] = "" }))
		}
	}
	return done, err
}

// SetPassword implements server.Server.
func (d *desk) SetPassword(_ context.Context, _ server.Account, login string, password server.Password) error {
	return d.after("password "+login[len(login)-1:], func() { d.users[login] = password })
}

// CanSignIn implements server.Server.
func (d *desk) CanSignIn(_ context.Context, _ server.Account, login string) (bool, error) {
	return d.users[login] != "", nil
}

// EndPassword implements server.Server.
func (d *desk) EndPassword(_ context.Context, _ server.Account, login string) error {
	return d.after("end "+login[len(login)-1:], func() { d.users[login] = "" })
}

// Drop implements server.Server.
func (d *desk) Drop(_ context.Context, a server.Account) error {
	return d.after("drop", func() {
		for _, login := range a.Logins() {
			delete(d.users, login)
		}
	})
}

// Close implements server.Server.
func (d *desk) Close() {}

func reasonOf(err error) string {
	if wait, ok := engine.AsWait(err); ok {
		return wait.Reason
	}
	return ""
}
