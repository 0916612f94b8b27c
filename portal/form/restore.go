package form

import (
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// Restore returns the draft of an object that adopts what remains in AWS of a deleted one. It can be changed before the
// request. If another object has the name now, the user must enter one; resources that were kept once have the deletion
// policy to be kept again.
func Restore(kind catalog.Kind, d operatorapi.Deleted, facts Facts, offers Offers) Draft {
	values := Fresh(kind, nil, facts, offers).values
	if !d.NameInUse {
		values.Set(NameField, d.Name)
	}
	values.Set(ProviderField, d.Provider)
	for _, p := range offers.Providers {
		if p.Name == d.Provider && p.Region != d.Region {
			values.Set(RegionField, d.Region)
		}
	}
	if retain := string(v1alpha1.DeletionRetain); !d.Snapshot && kind.Chooses(deletionPolicy, retain) {
		values.Set("spec."+deletionPolicy, retain)
	}
	for path, value := range d.Fields {
		values.Set("spec."+path, value)
	}
	return subject{kind, facts}.fromForm(values)
}
