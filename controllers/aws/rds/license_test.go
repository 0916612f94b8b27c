package rds

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// AWS documents no default for Oracle's Standard Edition: a declared license model is sent and kept, an undeclared one
// is reported.
func TestTheLicenseOfOracleIsDeclaredOrTold(t *testing.T) {
	const own, included = "bring-your-own-license", "license-included"
	for name, row := range map[string]struct {
		byDefault, asked string
		restored         bool
		want             string
	}{
		"own by default":                  {own, "", false, own},
		"included by default":             {included, "", false, included},
		"own asked for":                   {included, own, false, own},
		"included asked for":              {own, included, false, included},
		"restored":                        {included, "", true, included},
		"restored, with one's own":        {included, own, true, own},
		"asked for what it is by default": {own, own, false, own},
	} {
		f, v := &fakeRDS{license: row.byDefault}, &fakeVault{}
		obj := object(func(i *v1alpha1.RDSInstance) { i.Spec.Engine, i.Spec.LicenseModel = "oracle-se2", row.asked })
		if row.restored {
			restored(obj)
			f.snapshot("farewell", adapterOf(f, v).session.Tags(obj, nil)).Engine = aws.String("oracle-se2")
		}
		settled(t, f, v, obj)
		if aws.ToString(f.db.LicenseModel) != row.want || obj.Status.LicenseModel != row.want {
			t.Errorf("%s: %q, and the status says %q", name, aws.ToString(f.db.LicenseModel), obj.Status.LicenseModel)
		}
		if f.relicensed > 0 {
			t.Errorf("%s: it was sent after the creation, and not with it", name)
		}
		writes := f.writes
		if settled(t, f, v, obj); f.writes != writes {
			t.Errorf("%s: %d writes at rest", name, f.writes-writes)
		}
		other := map[string]string{own: included, included: own}[row.want]
		obj.Spec.LicenseModel, obj.Generation = other, 2
		if settled(t, f, v, obj); aws.ToString(f.db.LicenseModel) != other || obj.Status.LicenseModel != other {
			t.Errorf("%s: changed to %q, and the status says %q", name, aws.ToString(f.db.LicenseModel),
				obj.Status.LicenseModel)
		}
		obj.Spec.LicenseModel, obj.Generation = "", 3
		if settled(t, f, v, obj); aws.ToString(f.db.LicenseModel) != other {
			t.Errorf("%s: a line that is removed made it %q", name, aws.ToString(f.db.LicenseModel))
		}
	}
}
