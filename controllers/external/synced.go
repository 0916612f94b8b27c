package external

import "slices"

// settled reports whether an earlier pass found everything except status.unappliedFields in sync with this spec and
// this provider: differences are then foreign changes.
func (r *reconciliation[T, S]) settled() bool {
	common, generation := r.obj.Common(), r.obj.GetGeneration()
	_, status := r.obj.AWS()
	synced := status.SyncedGeneration == generation || (common.Ready && common.ObservedGeneration == generation)
	return synced && status.ProviderGeneration == r.Version
}

// noteSynced records that everything except the skipped actions is in sync. If nothing changed, it writes nothing.
func (r *reconciliation[T, S]) noteSynced() {
	_, status := r.obj.AWS()
	if len(r.skipped) > 0 || !r.obj.Common().Ready || r.obj.Common().ObservedGeneration != r.obj.GetGeneration() {
		status.SyncedGeneration = r.obj.GetGeneration()
	}
	var paths []string
	for _, one := range r.skipped {
		for _, c := range one.changes {
			paths = append(paths, c.Path)
		}
	}
	status.UnappliedFields, status.ProviderGeneration = sorted(paths), r.Version
	switch {
	case len(r.skipped) == 0:
		status.ManagedFields, status.PendingFields = r.Adapter.Declared(r.obj), nil
		return
	case slices.ContainsFunc(r.skipped, func(one skippedAction) bool { return len(one.changes) == 0 }):
		return // a skipped action may be about any field
	}
	r.markManaged(slices.DeleteFunc(InitialChanges(r.Adapter.Declared(r.obj)), func(c Change) bool {
		return slices.Contains(paths, c.Path)
	}))
}

// forgetSynced clears the unapplied fields once another spec, or another provider, may have other values.
func (r *reconciliation[T, S]) forgetSynced() {
	if _, status := r.obj.AWS(); !r.settled() {
		status.UnappliedFields = nil
	}
}
