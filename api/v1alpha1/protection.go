package v1alpha1

// ProtectedBy returns the field of the spec that protects the resource against deletion, empty if none does.
func (i *RDSInstance) ProtectedBy() string {
	return onIf("deletionProtection", i.Spec.DeletionProtection)
}

// ProtectedBy returns the field of the spec that protects the resource against deletion, empty if none does.
func (i *EC2Instance) ProtectedBy() string {
	return onIf("disableApiTermination", i.Spec.DisableAPITermination)
}

func onIf(field string, on *bool) string {
	if on != nil && *on {
		return field
	}
	return ""
}
