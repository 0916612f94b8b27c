package rds

import (
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// An admin restores a lost database under its name. The first pass changes no password, because RDS is still at work:
// the next pass must not use the record for this database.
func TestTheRecordIsOfOneDatabase(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"offered":                    {"portico.dev/adopt": "payments/ledger"},
		"with our tags by the start": nil,
	} {
		for source, change := range map[string]func(*v1alpha1.RDSInstance){
			"generated": func(*v1alpha1.RDSInstance) {}, "given": fromSecret,
		} {
			f, v, obj := &fakeRDS{}, &fakeVault{}, object(change)
			settled(t, f, v, obj, given("correct-horse"))
			f.renew()
			f.password, f.db.DBInstanceStatus = "of somebody else", aws.String("backing-up")
			if tags != nil {
				f.tags = maps.Clone(tags)
			}
			d, _, err := pass(t, f, v, obj, given("correct-horse"))
			if paused(err) != "BackingUp" || d["password"] != "" || v.kept["password"] != "" {
				t.Errorf("%s, %s: while RDS is at work: %v", name, source, err)
			}
			f.db.DBInstanceStatus = aws.String("available")
			if d := settled(t, f, v, obj, given("correct-horse")); f.password == "of somebody else" ||
				d["password"] != f.password {
				t.Errorf("%s, %s: published is not what is in force", name, source)
			}
			writes := f.writes
			if settled(t, f, v, obj, given("correct-horse")); f.writes != writes ||
				v.kept["resource"] != *f.db.DbiResourceId {
				t.Errorf("%s, %s: the record is of %q", name, source, v.kept["resource"])
			}
		}
	}
}

func TestARecordOfAnotherDatabaseIsNotPublished(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	f.renew()
	obj.Spec.ManagementPolicy = v1alpha1.ManagementObserve
	if d := settled(t, f, v, obj); d["password"] != "" {
		t.Error("under Observe, the password of another database is published")
	}
}

// A record without the ID of a database is trusted once, and bound to the observed database.
func TestARecordWithoutADatabaseIsBound(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	delete(v.kept, "resource")
	writes := f.writes
	if d := settled(t, f, v, obj); f.writes != writes || v.kept["resource"] != *f.db.DbiResourceId ||
		d["password"] != f.password {
		t.Errorf("%d writes, bound to %q", f.writes-writes, v.kept["resource"])
	}
}
