package webapp_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/webapp"
)

// signsIn returns an app that is bound to a database.
func signsIn(user v1alpha1.BindingUser, access v1alpha1.BindingAccess) app {
	return shop(func(s *v1alpha1.WebAppSpec) {
		s.Bindings = []v1alpha1.WebAppBinding{
			{Kind: v1alpha1.KindRDSInstance, Name: "ledger", User: user, Access: access},
		}
	})
}

// ownUser is the DatabaseUser of the app shop for the database ledger.
const ownUser = "shop-ledger-438a5c3d"

// databaseUser returns the app's DatabaseUser, nil if there is none.
func (l *life) databaseUser() *v1alpha1.DatabaseUser {
	l.t.Helper()
	u := &v1alpha1.DatabaseUser{}
	err := l.Others.Get(l.t.Context(), client.ObjectKey{Namespace: l.app.Namespace, Name: ownUser}, u)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return u
}

// userIs sets the DatabaseUser's conditions for its current generation. A Ready one has a Secret.
func (l *life) userIs(reason, text string) {
	l.t.Helper()
	u := l.databaseUser()
	before := u.DeepCopy()
	u.Status.Ready, u.Status.ObservedGeneration = reason == "InSync", u.Generation
	if u.Status.Ready {
		u.Status.Binding = &v1alpha1.Binding{Name: ownUser + "-binding", Keys: []string{"uri"}, ResourceVersion: "1"}
	}
	u.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionFalse, Reason: reason, Message: text, LastTransitionTime: metav1.Now()},
	}
	if err := l.Others.Status().Patch(l.t.Context(), u, client.MergeFrom(before)); err != nil {
		l.t.Fatal(err)
	}
}

// userBlocks sets the conditions of a DatabaseUser that cannot go on, for a generation.
func (l *life) userBlocks(reason, text string, generation int64) {
	l.t.Helper()
	l.userIs(reason, text)
	u := l.databaseUser()
	before := u.DeepCopy()
	u.Status.Conditions = append(u.Status.Conditions, metav1.Condition{
		Type: "Stalled", Status: metav1.ConditionTrue, Reason: reason, Message: text, ObservedGeneration: generation,
		LastTransitionTime: metav1.Now(),
	})
	if err := l.Others.Status().Patch(l.t.Context(), u, client.MergeFrom(before)); err != nil {
		l.t.Fatal(err)
	}
}

// blocks matches where a DatabaseUser's controller blocks, with the name of the reason, which is also its value.
var blocks = regexp.MustCompile(`engine\.Blocked\(\s*v1alpha1\.Reason(\w+)`)

// TestAnApplicationIsBlockedWheneverItsUserIs, for every reason with which a DatabaseUser blocks.
func TestAnApplicationIsBlockedWheneverItsUserIs(t *testing.T) {
	reasons := map[string]bool{v1alpha1.ReasonBindingConflict: true} // of the engine's, for the Secret
	for _, dir := range []string{"../databaseuser/*.go", "../databaseuser/server/*.go"} {
		files, err := filepath.Glob(dir)
		if err != nil || len(files) == 0 {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(filepath.Clean(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range blocks.FindAllStringSubmatch(string(text), -1) {
				reasons[found[1]] = true
			}
		}
	}
	if !reasons[v1alpha1.ReasonIAMUnavailable] || !reasons[v1alpha1.ReasonMasterPasswordRefused] {
		t.Fatalf("only %v block", reasons)
	}
	const said = "your platform team has to do something"
	waits := "waiting for the DatabaseUser " + ownUser + " to be Ready: "
	for reason := range reasons {
		t.Run(reason, func(t *testing.T) {
			l := begin(t, signsIn(v1alpha1.BindingUserOwn, ""))
			_ = l.sync()
			l.userIs(reason, said) // it tries again by itself
			l.is(l.sync(), "WaitingForBinding", waits+said)
			l.userBlocks(reason, said, l.databaseUser().Generation)
			l.is(l.sync(), reason, "the DatabaseUser "+ownUser+" is not Ready: "+said)
			l.userBlocks(reason, said, l.databaseUser().Generation-1) // of an earlier spec
			l.is(l.sync(), "WaitingForBinding", waits+said)
		})
	}
}

// secret returns the Secret of the Pods' first variable.
func (l *life) secret() string {
	l.t.Helper()
	for _, v := range l.deployment().Spec.Template.Spec.Containers[0].Env {
		if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil {
			return v.ValueFrom.SecretKeyRef.Name
		}
	}
	return ""
}

func TestAnApplicationHasAUserOfItsOwn(t *testing.T) {
	l := begin(t, signsIn(v1alpha1.BindingUserOwn, v1alpha1.AccessRead))
	l.is(l.sync(), "WaitingForBinding", "waiting for the DatabaseUser "+ownUser+" to be Ready: it is not checked yet")
	u := l.databaseUser()
	if u == nil || !metav1.IsControlledBy(u, l.app) || u.Labels[v1alpha1.LabelWebApp] != "shop" {
		t.Fatalf("asks for %+v, want an object of the app shop", u)
	}
	if u.Spec.DatabaseRef.Name != "ledger" || u.Spec.Access != v1alpha1.AccessRead {
		t.Fatalf("asks for %s of %s, want %s of ledger", u.Spec.Access, u.Spec.DatabaseRef.Name, v1alpha1.AccessRead)
	}
	l.userIs("InSync", "")
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if got := l.secret(); got != ownUser+"-binding" || l.app.Status.Bindings[0].User != v1alpha1.BindingUserOwn {
		t.Errorf("the Pods have the Secret %s, noted as %+v", got, l.app.Status.Bindings)
	}
	before := l.databaseUser()
	u = before.DeepCopy()
	u.Spec.PasswordRotationDays = new(int32(30)) // people's settings stay
	if err := l.Others.Patch(t.Context(), u, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}

	l.app.Spec.Bindings[0].Access = "" // a change of rights does not block a running application
	_ = l.sync()
	if u := l.databaseUser(); u.Spec.Access != v1alpha1.AccessReadWrite || u.Spec.PasswordRotationDays == nil ||
		*u.Spec.PasswordRotationDays != 30 {
		t.Errorf("asks for %+v", u.Spec)
	}
	l.userIs("DatabaseRefused", "a lock")
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
}

func TestPodsKeepTheMasterUserUntilTheirOwnIsReady(t *testing.T) {
	l := begin(t, signsIn("", ""))
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if l.databaseUser() != nil || l.secret() != "ledger-binding" {
		t.Fatalf("has %v, and the Secret %s", l.databaseUser(), l.secret())
	}
	l.app.Spec.Bindings[0].User = v1alpha1.BindingUserOwn
	_ = l.sync()
	l.userBlocks("NoNetworkPath", "no way to the database", l.databaseUser().Generation)
	l.is(l.sync(), "NoNetworkPath", "the DatabaseUser "+ownUser+" is not Ready: no way to the database")
	if got := l.secret(); got != "ledger-binding" {
		t.Errorf("the Pods have the Secret %s already", got)
	}
	l.userIs("InSync", "")
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if got := l.secret(); got != ownUser+"-binding" {
		t.Errorf("the Pods have the Secret %s still", got)
	}
}

func TestTheUserIsDroppedOnceNoPodNeedsIt(t *testing.T) {
	l := begin(t, signsIn(v1alpha1.BindingUserOwn, ""))
	_ = l.sync()
	l.userIs("InSync", "")
	_ = l.sync()
	foreign := &v1alpha1.DatabaseUser{ObjectMeta: at("shop-audit")}
	foreign.Labels = map[string]string{v1alpha1.LabelWebApp: "shop"}
	if err := l.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	l.app.Spec.Bindings[0].User = v1alpha1.BindingUserMaster
	l.is(l.sync(), "RollingOut", "0 of 1 replica updated")
	if l.databaseUser() == nil {
		t.Fatal("it is dropped while Pods sign in as it")
	}
	rollOut(t, l.Cluster)
	if err := l.sync(); err != nil || l.databaseUser() != nil {
		t.Errorf("%v, left %v", err, l.databaseUser())
	}
	if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil {
		t.Errorf("one that is not the app's: %v", err)
	}
}

// One edit may remove a database and add a binding that does not exist yet: running Pods need their user until others
// replace them.
func TestTheUserStaysWhileOtherBindingsAreWaitedFor(t *testing.T) {
	l := begin(t, signsIn(v1alpha1.BindingUserOwn, ""))
	_ = l.sync()
	l.userIs("InSync", "")
	_ = l.sync()
	rollOut(t, l.Cluster)
	if err := l.sync(); err != nil {
		t.Fatal(err)
	}
	l.app.Spec.Bindings = []v1alpha1.WebAppBinding{{Kind: "SQSQueue", Name: "orders"}}
	waiting := work(l.Cluster).(webapp.Reconciler)
	waiting.Bound = func(context.Context, string, string, string) (webapp.BoundResource, error) {
		return webapp.BoundResource{Named: webapp.Named{Found: true, State: "it is being made"}}, nil
	}
	for range 2 {
		l.is(l.with(waiting), "WaitingForBinding", "waiting for the SQSQueue orders to be Ready: it is being made")
	}
	if l.databaseUser() == nil {
		t.Fatal("it is dropped while Pods sign in as it")
	}
	_ = l.sync()
	rollOut(t, l.Cluster)
	if err := l.sync(); err != nil || l.databaseUser() != nil {
		t.Errorf("%v, left %v", err, l.databaseUser())
	}
}

func TestAUserOfThatNameWhichIsNotOursIsLeftAlone(t *testing.T) {
	l := begin(t, signsIn(v1alpha1.BindingUserOwn, ""))
	if err := l.Create(t.Context(), &v1alpha1.DatabaseUser{ObjectMeta: at(ownUser)}); err != nil {
		t.Fatal(err)
	}
	if err := l.sync(); err == nil ||
		!strings.Contains(err.Error(), "DatabaseUser "+ownUser+" exists already and is left alone") {
		t.Errorf("%v", err)
	}
	if u := l.databaseUser(); u.Spec.DatabaseRef.Name != "" {
		t.Errorf("changed to %+v", u.Spec)
	}
}

// Names that are equal when joined stay distinct, and a long name is shortened.
func TestApplicationsDoNotShareTheNameOfAUser(t *testing.T) {
	long := strings.Repeat("very-long-name.", 20)[:253]
	seen := map[string]string{}
	for _, of := range [][2]string{
		{"shop", "eu-orders"},
		{"shop-eu", "orders"},
		{"shop", "eu"},
		{"shop", long},
		{"shop", long[:252]},
		{"a", "b-c"},
		{"a-b", "c"},
		{"a.b", "c"},
		{"a", "b.c"},
	} {
		named := signsIn(v1alpha1.BindingUserOwn, "")
		named.Name, named.UID, named.Spec.Bindings[0].Name = of[0], types.UID(of[0]), of[1]
		l := begin(t, named)
		_ = l.sync()
		var all v1alpha1.DatabaseUserList
		if err := l.Others.List(t.Context(), &all); err != nil || len(all.Items) != 1 {
			t.Fatalf("%v: %d users, %v", of, len(all.Items), err)
		}
		name := all.Items[0].Name
		if other, taken := seen[name]; taken || len(name) > 63 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			t.Errorf("%v: %s, as of %s", of, name, other)
		}
		seen[name] = strings.Join(of[:], "/")
	}
}

// A user that an earlier version created keeps its name, and so its user in the database; one of another database with
// the same name is left alone.
func TestAUserOfAnEarlierVersionKeepsItsName(t *testing.T) {
	for _, database := range []string{"ledger", "another"} {
		l := begin(t, signsIn(v1alpha1.BindingUserOwn, ""))
		_ = l.sync()
		former := &v1alpha1.DatabaseUser{ObjectMeta: at("shop-ledger"), Spec: v1alpha1.DatabaseUserSpec{
			DatabaseRef: v1alpha1.LocalRef{Name: database},
		}}
		former.Labels, former.OwnerReferences = l.databaseUser().Labels, l.databaseUser().OwnerReferences
		if err := cmp.Or(l.Others.Delete(t.Context(), l.databaseUser()),
			l.Others.Create(t.Context(), former)); err != nil {
			t.Fatal(err)
		}
		_ = l.sync()
		if made := l.databaseUser() != nil; made != (database == "another") {
			t.Errorf("of the database %s: another user is made: %v", database, made)
		}
		if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(former), former); database == "ledger" &&
			err != nil {
			t.Error(err)
		}
	}
}
