package rds

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// RDS's default for a new instance costs money when the standard support of its version ends.
func TestExtendedSupportIsForThoseWhoAskForIt(t *testing.T) {
	const on = "open-source-rds-extended-support"
	for name, row := range map[string]struct {
		engine, asked string
		restored      bool
		want          string
	}{
		"PostgreSQL":                 {"postgres", "", false, noExtendedSupport},
		"MySQL":                      {"mysql", "", false, noExtendedSupport},
		"asked for":                  {"mysql", on, false, on},
		"restored":                   {"postgres", "", true, noExtendedSupport},
		"restored, asked for":        {"postgres", on, true, on},
		"MariaDB, which has none":    {"mariadb", "", false, ""},
		"Oracle":                     {"oracle-se2", "", false, ""},
		"Oracle, restored":           {"oracle-se2", "", true, ""},
		"SQL Server, which has none": {"sqlserver-ex", "", false, ""},
	} {
		f, v := &fakeRDS{}, &fakeVault{}
		obj := object(func(i *v1alpha1.RDSInstance) {
			i.Spec.Engine, i.Spec.EngineLifecycleSupport = row.engine, row.asked
		})
		if row.restored {
			restored(obj)
			f.snapshot("farewell", adapterOf(f, v).session.Tags(obj, nil)).Engine = &row.engine
		}
		if settled(t, f, v, obj); aws.ToString(f.db.EngineLifecycleSupport) != row.want {
			t.Errorf("%s: %q", name, aws.ToString(f.db.EngineLifecycleSupport))
		}
	}
}

// The setting of an existing database is kept until the spec declares it: a missing line neither costs money nor causes
// an upgrade.
func TestExtendedSupportOfWhatIsThereIsLeftAlone(t *testing.T) {
	const on = "open-source-rds-extended-support"
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	f.db.EngineLifecycleSupport = aws.String(on) // as on an adopted one
	if settled(t, f, v, obj); *f.db.EngineLifecycleSupport != on {
		t.Error("it was changed though nothing is declared")
	}
	obj.Spec.EngineLifecycleSupport, obj.Generation = noExtendedSupport, 2
	if settled(t, f, v, obj); *f.db.EngineLifecycleSupport != noExtendedSupport {
		t.Error("it was not changed")
	}
}
