package databaseuser

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestAnApplicationGetsAUserOfItsOwn(t *testing.T) {
	d := newDesk(t)
	if err := d.pass(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"save", "make", "make", "save", "password a", "publish"}; !slices.Equal(d.calls, want) {
		t.Errorf("%q, want %q: the name is saved before anything has it, and the password is in force before it is "+
			"published", d.calls, want)
	}
	b, s := d.binding(), d.obj.Status
	if !d.signsIn(b) || b["username"] != s.Username {
		t.Errorf("username = %q, want %s, which signs in", b["username"], s.Username)
	}
	host := d.database.Status.Endpoint
	if b["host"] != host || b["port"] != "5432" {
		t.Errorf("address = %s:%s, want %s:5432", b["host"], b["port"], host)
	}
	if b["uri"] != "postgresql://"+b["username"]+":"+b["password"]+"@"+host+":5432/shop" {
		t.Error("the URI differs from the other keys")
	}
	if got, want := slices.Sorted(maps.Keys(b)),
		slices.Sorted(maps.Keys(d.secrets[v1alpha1.KindRDSInstance])); !slices.Equal(got, want) {
		t.Errorf("keys %q, want those of the database's own Secret: %q", got, want)
	}
	if s.Username != s.Name+"_a" || s.NextUsername != "" || s.Database != "shop" {
		t.Errorf("Username = %q, NextUsername = %q, Database = %q; want %s_a, none, shop",
			s.Username, s.NextUsername, s.Database, s.Name)
	}
	if s.PasswordTime == nil || s.PreviousValidUntil != nil || s.Binding == nil {
		t.Errorf("PasswordTime = %v, PreviousValidUntil = %v, Binding = %v; want all but PreviousValidUntil",
			s.PasswordTime, s.PreviousValidUntil, s.Binding)
	}
	d.calls = nil
	if err := d.pass(); err != nil || len(d.calls) > 0 {
		t.Errorf("a second pass: %q, %v", d.calls, err)
	}
}

// No status, event or error contains a password.
func TestPasswordsAreToldNowhere(t *testing.T) {
	d := newDesk(t)
	d.lose = "password a"
	told := fmt.Sprint(d.pass(), d.pass())
	d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "1"
	first := d.binding()["password"]
	told += fmt.Sprint(d.pass()) + fmt.Sprintf("%+v %q", d.obj, d.events)
	for _, secret := range []string{masterSecret, first, d.binding()["password"]} {
		if strings.Contains(told, secret) {
			t.Errorf("a password is told: %s", told)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(verb, server.Target{Password: masterSecret}); strings.Contains(text, masterSecret) {
			t.Errorf("%s shows it: %s", verb, text)
		}
	}
}

// A rotation publishes the other user, and the previous password stays valid until it ends.
func TestAPasswordRotates(t *testing.T) {
	days := int32(30)
	for name, ask := range map[string]func(*desk){
		"by the annotation": func(d *desk) { d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "now" },
		"by its age":        func(d *desk) { d.obj.Spec.PasswordRotationDays = &days; d.now = d.now.AddDate(0, 0, 30) },
	} {
		d := newDesk(t)
		d.ready()
		before := maps.Clone(d.binding())
		ask(d)
		if err := d.pass(); err != nil {
			t.Fatal(err)
		}
		if want := []string{"save", "password b", "publish"}; !slices.Equal(d.calls, want) {
			t.Errorf("%s: %q, want %q", name, d.calls, want)
		}
		after := d.binding()
		if !d.signsIn(before) || !d.signsIn(after) {
			t.Errorf("%s: signs in: before %v, after %v; want both", name, d.signsIn(before), d.signsIn(after))
		}
		if user := d.obj.Status.Username; user == before["username"] || user != after["username"] {
			t.Errorf("%s: Username = %q, want the new one %q", name, user, after["username"])
		}
		d.now = d.now.Add(previousValid - time.Minute)
		if d.ready(); !d.signsIn(before) {
			t.Errorf("%s: the one before ends too soon", name)
		}
		d.now = d.now.Add(time.Minute)
		if d.ready(); d.signsIn(before) || !d.signsIn(d.binding()) || d.obj.Status.PreviousValidUntil != nil {
			t.Errorf("%s: the one before does not end", name)
		}
		if d.ready(); len(d.calls) > 0 {
			t.Errorf("%s: then %q", name, d.calls)
		}
	}
}

// A second rotation waits, because it replaces a password that applications may still use.
func TestRotationsKeepADistance(t *testing.T) {
	d := newDesk(t)
	d.ready()
	d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "1"
	d.ready()
	old := maps.Clone(d.binding())
	d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "2"
	if err := d.pass(); reasonOf(err) != v1alpha1.ReasonRotationWaits {
		t.Errorf("at once: %v", err)
	} else if wait, _ := engine.AsWait(err); wait.After != rotationPause {
		t.Errorf("it looks again after %s", wait.After)
	}
	if len(d.calls) > 0 || !maps.Equal(old, d.binding()) {
		t.Errorf("at once: %q", d.calls)
	}
	d.now = d.now.Add(rotationPause)
	d.ready()
	if maps.Equal(old, d.binding()) || !d.signsIn(old) {
		t.Errorf("later: the one before is published %v, signs in %v, want false, true", maps.Equal(old, d.binding()),
			d.signsIn(old))
	}
	if got := d.obj.Status.PasswordRotation; got != "2" {
		t.Errorf("later: PasswordRotation = %q, want 2", got)
	}
}

// If any response is lost, the published password works after each pass, and the final state is the same as if none
// had been lost.
func TestLostAnswersLoseNothing(t *testing.T) {
	for _, call := range []string{"make", "password a", "publish"} {
		d := newDesk(t)
		d.lose = call
		if err := d.pass(); err == nil {
			t.Errorf("%s: the error is lost, too", call)
		}
		if d.ready(); !d.signsIn(d.binding()) || len(d.users) != 2 || d.obj.Status.Username != d.binding()["username"] {
			t.Errorf("%s: %v", call, d.obj.Status)
		}
	}
	for _, call := range []string{"password b", "publish"} {
		d := newDesk(t)
		d.ready()
		before := maps.Clone(d.binding())
		d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "1"
		d.lose = call
		if err := d.pass(); err == nil || !d.signsIn(d.binding()) || !d.signsIn(before) {
			t.Errorf("%s: %v, or what is published is not in force", call, err)
		}
		d.ready()
		after := d.binding()
		if after["username"] == before["username"] || d.obj.Status.NextUsername != "" {
			t.Errorf("%s: still %s, NextUsername = %q; want the next one published", call, before["username"],
				d.obj.Status.NextUsername)
		}
		if !d.signsIn(after) || !d.signsIn(before) {
			t.Errorf("%s: signs in: before %v, after %v; want both", call, d.signsIn(before), d.signsIn(after))
		}
		if d.ready(); len(d.calls) > 0 || !d.signsIn(before) {
			t.Errorf("%s: it rotates twice: %q", call, d.calls)
		}
	}
}

// A password that somebody changed, or that a restored database does not know, is set again; one that is missing from
// the Secret is replaced.
func TestWhatSomebodyChangesIsPutRight(t *testing.T) {
	d := newDesk(t)
	d.ready()
	d.users[d.obj.Status.Username] = "Changed-by-hand-2"
	if d.ready(); !d.signsIn(d.binding()) {
		t.Error("the password is not put in force again")
	}
	clear(d.users)
	if d.ready(); !d.signsIn(d.binding()) || len(d.users) != 2 {
		t.Error("the users are not made again")
	}
	before := maps.Clone(d.binding())
	for _, password := range []string{"", "x'; DROP ROLE admin; --"} {
		d.secrets[kind]["password"] = password
		if d.ready(); !d.signsIn(d.binding()) || d.binding()["password"] == password {
			t.Errorf("with %q in the Secret: no new password", password)
		}
	}
	delete(d.secrets, kind)
	if d.ready(); !d.signsIn(d.binding()) || d.binding()["password"] == before["password"] {
		t.Error("without the Secret: no new password")
	}
}

// An existing user without our mark is neither adopted nor dropped when the object is deleted.
func TestSomebodyElsesUserIsLeftAlone(t *testing.T) {
	d := newDesk(t)
	d.foreign = server.Name("postgres", "payments", "shop-app") + "_a"
	if err := d.pass(); reasonOf(err) != v1alpha1.ReasonAlreadyExists || d.obj.Status.Name != "" || d.saves > 0 {
		t.Errorf("%v, status %+v", err, d.obj.Status)
	}
	if err := d.finalize(); err != nil || len(d.calls) > 0 {
		t.Errorf("deleted: %q, %v", d.calls, err)
	}
}

func TestWithIAMThereIsNoPassword(t *testing.T) {
	d := newDesk(t)
	d.obj.Spec.Authentication = v1alpha1.AuthenticationIAM
	if err := d.pass(); err != nil {
		t.Fatal(err)
	}
	b := d.binding()
	if _, there := b["password"]; there || len(d.users) != 1 {
		t.Errorf("published a password: %v; users %v, want one", there, d.users)
	}
	if uri := b["uri"]; strings.Contains(uri, ":@") || !strings.Contains(uri, b["username"]+"@") {
		t.Errorf("uri = %q, want %s@ and no password", uri, b["username"])
	}
	d.ready()
	if d.ready(); len(d.calls) > 0 {
		t.Errorf("then %q", d.calls)
	}
}

func TestWhatTheDatabaseLacksIsSaid(t *testing.T) {
	for want, change := range map[string]func(*desk){
		v1alpha1.ReasonNotFound:              func(d *desk) { d.database = nil },
		v1alpha1.ReasonEngineNotSupported:    func(d *desk) { d.database.Spec.Engine = "oracle-ee" },
		v1alpha1.ReasonWaitingForDatabase:    func(d *desk) { d.database.Status.Endpoint = "" },
		v1alpha1.ReasonMasterPasswordUnknown: func(d *desk) { d.database.Spec.ManageMasterUserPassword = true },
		v1alpha1.ReasonMasterPasswordRefused: func(d *desk) { d.connect = server.ErrSignIn },
		v1alpha1.ReasonNoNetworkPath: func(d *desk) {
			d.connect = engine.Blocked(v1alpha1.ReasonNoNetworkPath, "no way")
		},
	} {
		d := newDesk(t)
		change(d)
		if err := d.pass(); reasonOf(err) != want || len(d.calls) > 0 || d.obj.Status.Name != "" {
			t.Errorf("%s: %v, %q", want, err, d.calls)
		}
	}
	for name, change := range map[string]func(*desk){
		"without its Secret": func(d *desk) { delete(d.secrets, v1alpha1.KindRDSInstance) },
		"that restarts": func(d *desk) {
			d.connect, d.database.Status.Ready = engine.Blocked(v1alpha1.ReasonNoNetworkPath, "no way"), false
		},
		"before its binding": func(d *desk) { d.database.Status.Binding = nil },
	} {
		d := newDesk(t)
		if change(d); reasonOf(d.pass()) != v1alpha1.ReasonWaitingForDatabase {
			t.Errorf("a database %s: %v", name, d.pass())
		}
	}
	d := newDesk(t)
	d.database.Spec.ManagementPolicy = v1alpha1.ManagementObserve
	if err := d.pass(); reasonOf(err) != v1alpha1.ReasonMasterPasswordUnknown {
		t.Errorf("a database that is only looked at: %v", err)
	}
}

// A deletion drops the user, succeeds if the database is deleted or being deleted, and waits for one that does not
// answer, unless the deletion policy says otherwise.
func TestDeletion(t *testing.T) {
	deleted := &metav1.Time{Time: time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)}
	for name, row := range map[string]struct {
		change func(*desk)
		want   string   // the reason for waiting, if it waits
		calls  []string // if it does not wait
	}{
		"as it should be":         {func(*desk) {}, "", []string{"drop"}},
		"a database that is gone": {func(d *desk) { d.database = nil }, "", nil},
		"a database that goes": {func(d *desk) {
			d.database.DeletionTimestamp, d.database.Spec.DeletionPolicy = deleted, v1alpha1.DeletionDelete
		}, "", nil},
		"a database that stays": {func(d *desk) {
			d.database.DeletionTimestamp, d.database.Spec.DeletionPolicy = deleted, v1alpha1.DeletionRetain
		}, "", []string{"drop"}},
		"a database that stays and refuses": {func(d *desk) {
			d.database.DeletionTimestamp, d.database.Spec.DeletionPolicy, d.connect = deleted, v1alpha1.DeletionRetain,
				server.ErrSignIn
		}, v1alpha1.ReasonMasterPasswordRefused, nil},
		"a database that is only looked at no more": {func(d *desk) {
			d.database.DeletionTimestamp, d.database.Spec.DeletionPolicy, d.database.Spec.ManagementPolicy = deleted,
				v1alpha1.DeletionDelete, v1alpha1.ManagementObserve
		}, "", nil},
		"retained":               {func(d *desk) { d.obj.Spec.DeletionPolicy, d.connect = v1alpha1.DeletionRetain, server.ErrSignIn }, "", nil},
		"no way":                 {func(d *desk) { d.connect = engine.Blocked(v1alpha1.ReasonNoNetworkPath, "no way") }, v1alpha1.ReasonNoNetworkPath, nil},
		"a statement is refused": {func(d *desk) { d.connect = engine.Wait(v1alpha1.ReasonDatabaseRefused, time.Minute, "a lock") }, v1alpha1.ReasonDatabaseRefused, nil},
		"the master is refused":  {func(d *desk) { d.connect = server.ErrSignIn }, v1alpha1.ReasonMasterPasswordRefused, nil},
	} {
		d := newDesk(t)
		d.ready()
		row.change(d)
		err := d.finalize()
		if reasonOf(err) != row.want || (err != nil) != (row.want != "") || !slices.Equal(d.calls, row.calls) {
			t.Errorf("%s: %v, %q", name, err, d.calls)
		}
		if err != nil && !strings.Contains(err.Error(), "deletionPolicy: Retain") {
			t.Errorf("%s: it does not say how to go without: %v", name, err)
		}
	}
	d := newDesk(t)
	d.ready()
	d.lose = "drop"
	if err := d.finalize(); err == nil {
		t.Error("the error is lost, too")
	}
	if err := d.finalize(); err != nil || len(d.users) > 0 {
		t.Errorf("again: %v, left %v", err, d.users)
	}
}

// A user in a retained database that can no longer be reached is named in a warning, and does not block the deletion.
func TestAUserThatCannotBeDroppedIsNamed(t *testing.T) {
	for name, change := range map[string]func(*desk){
		"without its Secret": func(d *desk) { delete(d.secrets, v1alpha1.KindRDSInstance) },
		"no way":             func(d *desk) { d.connect = engine.Blocked(v1alpha1.ReasonNoNetworkPath, "no way") },
	} {
		d := newDesk(t)
		d.ready()
		d.database.DeletionTimestamp, d.database.Spec.DeletionPolicy = &metav1.Time{Time: d.now},
			v1alpha1.DeletionRetain
		change(d)
		if err := d.finalize(); err != nil || len(d.events) != 1 {
			t.Fatalf("%s: %v, events %q, want one", name, err, d.events)
		}
		reason, user := v1alpha1.ReasonUserRetained, d.obj.Status.Name
		if e := d.events[0]; !strings.HasPrefix(e, reason) || !strings.Contains(e, user) {
			t.Errorf("%s: event %q, want %s and %s", name, e, reason, user)
		}
	}
}

// An object that was restored without its status finds its users by their mark, and its password in its Secret.
func TestARestoredObjectKnowsItsUser(t *testing.T) {
	d := newDesk(t)
	d.ready()
	before := maps.Clone(d.binding())
	d.obj.Status = v1alpha1.DatabaseUserStatus{}
	d.ready()
	if !maps.Equal(before, d.binding()) {
		t.Error("another binding is published")
	}
	if s := d.obj.Status; s.Username != before["username"] || s.Name == "" || s.PasswordTime == nil {
		t.Errorf("status %+v, want the user %s, with its time", s, before["username"])
	}
}

func TestEventsTellFewChanges(t *testing.T) {
	if got := summary([]string{"1", "2", "3", "4", "5"}); got != "1; 2; 3; and 2 more" {
		t.Error(got)
	}
}

// A user that is not in use, and whose password has ended, cannot sign in, even if something enabled it again: a lost
// status, a restored database, or an earlier object of the same name.
func TestOnlyTheUserInUseIsLetIn(t *testing.T) {
	d := newDesk(t)
	d.ready()
	before := maps.Clone(d.binding())
	d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "1"
	d.ready()
	d.obj.Status = v1alpha1.DatabaseUserStatus{PasswordRotation: "1"}
	if d.ready(); d.signsIn(before) || !d.signsIn(d.binding()) {
		t.Error("after a lost status: the one before is let in")
	}
	d.users[before["username"]] = "Of-a-snapshot-2"
	if err := d.pass(); err != nil || d.users[before["username"]] != "" ||
		!slices.ContainsFunc(d.events, func(e string) bool {
			return strings.Contains(e, v1alpha1.ReasonPasswordEnded)
		}) {
		t.Errorf("after a restore: %v, %q", err, d.events)
	}
	d.obj.Annotations[v1alpha1.AnnotationRotatePassword] = "2"
	d.ready()
	d.ready()
	if !d.signsIn(d.binding()) || d.obj.Status.PreviousValidUntil == nil {
		t.Errorf("signs in: %v, PreviousValidUntil = %v; want both", d.signsIn(d.binding()),
			d.obj.Status.PreviousValidUntil)
	}
	if len(d.users) != 2 || d.users[d.obj.Status.Username] == "" {
		t.Errorf("users %v, want two, with %s", slices.Sorted(maps.Keys(d.users)), d.obj.Status.Username)
	}
}
