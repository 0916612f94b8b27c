package rds

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// A public address that somebody gave the database is removed again, unless it was adopted or the spec declares that it
// has one.
func TestADatabaseIsKeptPrivate(t *testing.T) {
	for name, row := range map[string]struct {
		adopted  bool
		declared *bool
		public   bool
	}{
		"not declared":      {},
		"adopted":           {adopted: true, public: true},
		"declared public":   {declared: aws.Bool(true), public: true},
		"adopted, declared": {adopted: true, declared: aws.Bool(false)},
	} {
		f, v := &fakeRDS{}, &fakeVault{}
		obj := object(func(i *v1alpha1.RDSInstance) { i.Spec.PubliclyAccessible = row.declared })
		settled(t, f, v, obj)
		if got := adapterOf(f, v).SafePaths(obj, nil); !slices.Equal(got, []string{"publiclyAccessible"}) {
			t.Fatalf("safe are %v", got)
		}
		if !row.adopted {
			obj.Status.SafeFields = []string{"publiclyAccessible"}
		}
		f.db.PubliclyAccessible = aws.Bool(true)
		if got := adapterOf(f, v).SafePaths(obj, observe(t, adapterOf(f, v), obj)); len(got) != 0 {
			t.Errorf("%s: %v count as safe", name, got)
		}
		if _, taken, err := pass(t, f, v, obj); err != nil || *f.db.PubliclyAccessible != row.public {
			t.Errorf("%s: %v, took %v, public %v", name, err, taken, *f.db.PubliclyAccessible)
		}
	}
}
