package rds

import (
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	rdstypes "github.com/aws/aws-sdk-go-v2/service/rds/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Everything that can be pending in RDS is shown, including what a later version of the SDK adds.
func TestEverythingThatWaitsIsShown(t *testing.T) {
	fields := reflect.TypeFor[pending]()
	for n := range fields.NumField() {
		if !fields.Field(n).IsExported() {
			continue
		}
		var p pending
		fill(reflect.ValueOf(&p).Elem().Field(n), fields.Field(n).Name)
		seen := stateOf(&rdstypes.DBInstance{PendingModifiedValues: &p})
		if len(pendingChanges(&seen)) != 1 {
			t.Errorf("%s waits, and is shown as %v", fields.Field(n).Name, pendingChanges(&seen))
		}
	}
	none := stateOf(&rdstypes.DBInstance{PendingModifiedValues: &pending{}})
	if pendingChanges(&none) != nil {
		t.Errorf("nothing waits, and is shown as %v", pendingChanges(&none))
	}
}

// fill sets v, and everything in it, to some value: texts to their own name.
func fill(v reflect.Value, name string) {
	switch v.Kind() { //nolint:exhaustive // those that occur
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(0, 0)))
			return
		}
		for n := range v.NumField() {
			if v.Field(n).CanSet() {
				fill(v.Field(n), v.Type().Field(n).Name)
			}
		}
	case reflect.String:
		v.SetString(name)
	case reflect.Int32:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	}
}

func TestARotationWaitsForWhatWouldInterrupt(t *testing.T) {
	for name, row := range map[string]struct {
		pending rdstypes.PendingModifiedValues
		want    string
	}{
		"a certificate": {rdstypes.PendingModifiedValues{CACertificateIdentifier: aws.String("rds-ca-rsa2048-g1")}, "RotationWaits"},
		"logs":          {rdstypes.PendingModifiedValues{PendingCloudwatchLogsExports: &rdstypes.PendingCloudwatchLogsExports{LogTypesToEnable: []string{"upgrade"}}}, ""},
	} {
		f, v, obj := &fakeRDS{}, &fakeVault{}, object(managed)
		settled(t, f, v, obj)
		rotate(obj, "1")
		f.db.PendingModifiedValues = &row.pending
		if _, _, err := pass(t, f, v, obj); paused(err) != row.want || (f.password == "AWS's+") != (row.want == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestASecretThatCannotBeUsedIsTold(t *testing.T) {
	for status, want := range map[string]string{
		"creating": "SecretCreating", "impaired": "SecretImpaired!",
		"rotating": "", "active": "", "": "",
	} {
		f, v, obj := &fakeRDS{}, &fakeVault{}, object(managed)
		settled(t, f, v, obj)
		f.db.MasterUserSecret.SecretStatus = &status
		if _, _, err := pass(t, f, v, obj); paused(err) != want {
			t.Errorf("%s: %v", status, err)
		}
	}
}

// RDS accepts the request to manage the password during a restoration only for Oracle; for all others afterwards.
func TestAManagedPasswordOfARestoredDatabase(t *testing.T) {
	for engineName, steps := range map[string]int{"postgres": 2, "oracle-se2": 1} {
		f, v := &fakeRDS{}, &fakeVault{}
		obj := object(restored, managed, func(i *v1alpha1.RDSInstance) { i.Spec.Engine = engineName })
		rotate(obj, "1")
		f.snapshot("farewell", adapterOf(f, v).session.Tags(obj, nil)).Engine = &engineName
		a := adapterOf(f, v)
		plan, _ := a.Plan(obj, nil)
		if err := plan[0].Do(t.Context()); err != nil || (obj.Status.PasswordRotation == "1") != (steps == 1) {
			t.Errorf("%s: %v, the rotation is noted as %q", engineName, err, obj.Status.PasswordRotation)
		}
		settled(t, f, v, obj)
		if f.db.MasterUserSecret == nil || f.writes != steps || obj.Status.PasswordRotation != "1" {
			t.Errorf("%s: %d writes, rotation %q", engineName, f.writes, obj.Status.PasswordRotation)
		}
	}
}

func TestAMissingServiceLinkedRoleIsAMissingPermission(t *testing.T) {
	refuse := &smithy.GenericAPIError{Code: "InvalidParameterValue", Message: "Unable to create the resource. Verify " +
		"that you have permission to create service linked role. Otherwise wait and try again later."}
	if _, _, err := pass(t, &fakeRDS{refuse: refuse}, &fakeVault{}, object()); paused(err) != "AccessDenied!" {
		t.Errorf("%v", err)
	}
}
