package rds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/password"
)

func given(password string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "mine"}, Data: map[string][]byte{
		"pw": []byte(password),
	}}
}

func fromSecret(i *v1alpha1.RDSInstance) {
	i.Spec.MasterUserPasswordSecretRef = &v1alpha1.SecretKeyRef{Name: "mine", Key: "pw"}
}

func managed(i *v1alpha1.RDSInstance) { i.Spec.ManageMasterUserPassword = true }

func rotate(i *v1alpha1.RDSInstance, value string) {
	i.Annotations = map[string]string{v1alpha1.AnnotationRotatePassword: value}
}

func TestAChangedSecretIsAppliedOnce(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(fromSecret)
	if d := settled(t, f, v, obj, given("correct-horse")); f.password != "correct-horse" ||
		d["password"] != "correct-horse" {
		t.Fatal("the Secret's password is not in force")
	}
	writes := f.writes
	if d := settled(t, f, v, obj, given("battery-staple")); f.password != "battery-staple" ||
		d["password"] != "battery-staple" || f.writes != writes+1 {
		t.Errorf("a changed Secret took %d writes, or was not applied", f.writes-writes)
	}
	if settled(t, f, v, obj, given("battery-staple")); f.writes != writes+1 {
		t.Error("an equal Secret was applied again")
	}
}

func TestUnfitPasswordsAreRefusedUnseen(t *testing.T) {
	for password, engineName := range map[string]string{
		"short": "postgres", "with/slash": "postgres", `with"quote`: "postgres", "with@at-sign": "mysql",
		"with space": "mysql", "line-break\n": "postgres",
		"with&ampersand": "oracle-ee", "ümlaut-umlaut": "postgres", strings.Repeat("x", 42): "mariadb",
		strings.Repeat("y", 31): "oracle-se2", strings.Repeat("z", 129): "postgres",
	} {
		obj := object(fromSecret, func(i *v1alpha1.RDSInstance) { i.Spec.Engine = engineName })
		f := &fakeRDS{}
		_, _, err := pass(t, f, &fakeVault{}, obj, given(password))
		if paused(err) != "InvalidPassword!" || strings.Contains(err.Error(), strings.TrimSpace(password)) ||
			len(f.calls) > 0 {
			t.Errorf("%q for %s: %v", password, engineName, err)
		}
	}
	for _, engineName := range []string{"postgres", "mysql", "mariadb", "oracle-ee", "sqlserver-ex"} {
		generated, err := password.New(generates)
		if problem := passwordProblem(engineName, generated); err != nil || problem != "" {
			t.Errorf("a generated password does not fit %s: %s", engineName, problem)
		}
	}
}

func TestAMissingSecretIsNamed(t *testing.T) {
	if _, _, err := pass(t, &fakeRDS{}, &fakeVault{}, object(fromSecret)); paused(err) != "SecretNotFound!" {
		t.Errorf("%v", err)
	}
}

// A crash between any two writes leaves a password that is known: next is saved before it is sent to RDS.
func TestNoPasswordIsLost(t *testing.T) {
	f, v, obj := &fakeRDS{lose: true}, &fakeVault{}, object()
	if _, _, err := pass(t, f, v, obj); err == nil {
		t.Fatal("a creation whose reply was lost: error = nil")
	}
	if v.kept["next"] != f.password || v.kept["password"] != "" {
		t.Fatalf("a creation whose reply was lost: kept %q, want next %q", v.kept, f.password)
	}
	f.lose = false
	if d := settled(t, f, v, obj); d["password"] != f.password {
		t.Errorf("the binding has %q, want %q", d["password"], f.password)
	}
	if v.kept["password"] != f.password || v.kept["next"] != "" {
		t.Errorf("kept %q, want the password %q only", v.kept, f.password)
	}

	rotate(obj, "1")
	before, writes := f.password, f.writes
	v.fail = errors.New("no Secrets today")
	if _, _, err := pass(t, f, v, obj); err == nil {
		t.Error("without Secrets: error = nil")
	}
	if f.password != before || f.writes != writes {
		t.Errorf("without Secrets: password %q after %d writes, want %q, none", f.password, f.writes-writes, before)
	}
	v.fail, f.lose = nil, true
	if _, _, err := pass(t, f, v, obj); err == nil {
		t.Error("a rotation whose reply was lost: error = nil")
	}
	if v.kept["password"] != before || v.kept["next"] != f.password {
		t.Errorf("a rotation whose reply was lost: kept %q, want %q, next %q", v.kept, before, f.password)
	}
	f.lose = false
	next := v.kept["next"]
	if d := settled(t, f, v, obj); d["password"] != next || f.password != next {
		t.Error("the rotation was not finished with the password decided on")
	}

	delete(v.kept, "password")
	v.kept = nil // somebody deleted the record
	if d := settled(t, f, v, obj); f.password == next || d["password"] != f.password {
		t.Error("no new password for a lost record")
	}
}

func TestRotationByAnnotation(t *testing.T) {
	for name, row := range map[string]struct {
		source  func(*v1alpha1.RDSInstance)
		changes bool
		event   string
	}{
		"generated": {source: func(*v1alpha1.RDSInstance) {}, changes: true, event: "PasswordChanged"},
		"managed":   {source: managed, changes: true, event: "PasswordChanged"},
		"given":     {source: fromSecret, event: "RotationIgnored"},
	} {
		f, v, obj := &fakeRDS{}, &fakeVault{}, object(row.source)
		rotate(obj, "before") // a new database has a new password
		settled(t, f, v, obj, given("correct-horse"))
		before, writes := f.password, f.writes
		rotate(obj, "now")
		a := adapterOf(f, v, given("correct-horse"))
		if err := a.Resolve(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		actions, err := a.Plan(obj, observe(t, a, obj))
		if err != nil || len(actions) != 1 || actions[0].Event == nil {
			t.Fatalf("%s: %+v, %v", name, actions, err)
		}
		notes := &engine.Events{}
		if actions[0].Event(notes); !strings.HasPrefix(notes.Strings()[0], row.event) {
			t.Errorf("%s: told as %q", name, notes.Strings())
		}
		details := settled(t, f, v, obj, given("correct-horse"))
		if (f.password != before) != row.changes || obj.Status.PasswordRotation != "now" {
			t.Errorf("%s: changed %v, noted %q", name, f.password != before, obj.Status.PasswordRotation)
		}
		if name == "managed" {
			if details["password"] != "" || details["secret-arn"] == "" || strings.Contains(details["uri"], ":AWS") {
				t.Errorf("managed: the binding has %v, want the secret's ARN, and no password", details)
			}
		}
		if settled(t, f, v, obj, given("correct-horse")); f.writes > writes+1 {
			t.Errorf("%s: rotated more than once", name)
		}
	}
}

func TestTheSourceOfThePasswordCanChange(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	generatedFirst := f.password
	managed(obj)
	d := settled(t, f, v, obj)
	if f.db.MasterUserSecret == nil {
		t.Error("MasterUserSecret = nil: not handed over to RDS")
	}
	if d["password"] != "" || d["secret-arn"] == "" {
		t.Errorf("the binding has the password %q, the ARN %q, want the ARN only", d["password"], d["secret-arn"])
	}
	obj.Spec.ManageMasterUserPassword = false
	d = settled(t, f, v, obj)
	if f.db.MasterUserSecret != nil {
		t.Errorf("MasterUserSecret = %v, want nil: taken back from RDS", f.db.MasterUserSecret)
	}
	if f.password == generatedFirst || d["password"] != f.password {
		t.Errorf("password %q, in the binding %q, want a new one in both", f.password, d["password"])
	}
	fromSecret(obj)
	if d := settled(t, f, v, obj, given("correct-horse")); f.password != "correct-horse" ||
		d["password"] != f.password {
		t.Error("not taken over by the Secret")
	}
}

func TestAPasswordDoesNotDragAlongWhatWaits(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	obj.Spec.DBInstanceClass = "db.m5.large"
	settled(t, f, v, obj)
	rotate(obj, "1")
	if settled(t, f, v, obj); *f.db.DBInstanceClass != "db.t4g.micro" ||
		aws.ToString(f.db.PendingModifiedValues.DBInstanceClass) != "db.m5.large" {
		t.Error("the change of class did not wait for the window")
	}
	managed(obj)
	settled(t, f, v, obj)
	rotate(obj, "2")
	if _, _, err := pass(t, f, v, obj); paused(err) != "RotationWaits" || *f.db.DBInstanceClass != "db.t4g.micro" {
		t.Errorf("a rotation by RDS: %v", err)
	}
	f.window()
	if settled(t, f, v, obj); obj.Status.PasswordRotation != "2" {
		t.Error("not rotated after the window")
	}
}

func TestAPasswordIsPublishedOnlyInForce(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	f.db.PendingModifiedValues = &rdstypes.PendingModifiedValues{MasterUserPassword: aws.String("****")}
	if _, _, err := pass(t, f, v, obj); paused(err) != "PasswordChanging" ||
		obj.Status.PendingModifiedValues["masterUserPassword"] != "a new one" {
		t.Errorf("%v, pending %v", err, obj.Status.PendingModifiedValues)
	}
}

func TestNothingShowsAPassword(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	_, taken, err := pass(t, f, v, obj)
	if err != nil {
		t.Fatal(err)
	}
	rotate(obj, "1")
	_, more, err := pass(t, f, v, obj)
	if err != nil {
		t.Fatal(err)
	}
	a := adapterOf(f, v)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(slices.Concat(taken, more), " ") + fmt.Sprintf("%v %+v %#v %v %+v %#v", a.creds.record,
		a.creds.record, a.creds.record, obj.Status, obj.Status, obj.Status)
	if strings.Contains(shown, f.password) {
		t.Error("a password is shown")
	}
	f.refuse = &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "The password correct-horse is too " +
		"simple."}
	fromSecret(obj)
	if _, _, err := pass(t, f, v, obj, given("correct-horse")); paused(err) != "InvalidPassword!" ||
		strings.Contains(err.Error(), "correct") {
		t.Errorf("an answer that quotes the password: %v", err)
	}
}

// The record belongs to one database: another one with its name, or an older state of it, has another password.
func TestThePasswordOfAnotherDatabaseIsNotTrusted(t *testing.T) {
	for name, obj := range map[string]*v1alpha1.RDSInstance{"generated": object(), "given": object(fromSecret)} {
		f, v := &fakeRDS{}, &fakeVault{}
		settled(t, f, v, obj, given("correct-horse"))
		f.password = "of somebody else"
		f.tags = map[string]string{"portico.dev/adopt": "payments/ledger"}
		if d := settled(t, f, v, obj, given("correct-horse")); f.password == "of somebody else" ||
			d["password"] != f.password {
			t.Errorf("%s: an adopted database kept its password", name)
		}
	}
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(restored)
	f.snapshot("farewell", adapterOf(f, v).session.Tags(obj, nil))
	settled(t, f, v, obj)
	f.db = nil // deleted outside, and a new one acknowledged
	if d := settled(t, f, v, obj); f.password == "of the snapshot" || d["password"] != f.password {
		t.Error("a database that was restored again has the password of the snapshot")
	}
}
