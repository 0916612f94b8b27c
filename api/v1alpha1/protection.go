package v1alpha1

// Guarded is a kind whose spec can protect its resource against deletion. The word of the spec counts, not what AWS has by now: somebody
// may have switched its own protection off there.
type Guarded interface {
	// ProtectedBy returns the field that protects the resource, empty if none does.
	ProtectedBy() string
}

// ProtectedBy implements Guarded.
func (i *RDSInstance) ProtectedBy() string {
	return onIf("deletionProtection", i.Spec.DeletionProtection)
}

// ProtectedBy implements Guarded.
func (i *EC2Instance) ProtectedBy() string {
	return onIf("disableApiTermination", i.Spec.DisableAPITermination)
}

func onIf(field string, on *bool) string {
	if on != nil && *on {
		return field
	}
	return ""
}
