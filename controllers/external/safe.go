package external

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// AuditsSafe reports whether the settings with a safe value at these paths are to be compared, whatever is declared: in
// audits, if any of them is kept, or would be if it were found to be safe.
func AuditsSafe(ctx context.Context, obj Object, paths []string) bool {
	return engine.IsAudit(ctx) && len(paths) > 0 && (keepsWhatIsSafe(obj) || slices.ContainsFunc(paths, ManagedBy(obj).KeepsSafe))
}

// keepsWhatIsSafe reports whether what is found to be safe stays so. What may have been taken over is opened by whom it
// belonged to as they like: only what the spec has declared is kept there.
func keepsWhatIsSafe(obj Object) bool {
	spec, _ := obj.AWS()
	return spec.AdoptionPolicy != v1alpha1.AdoptionAdopt && !ObserveOnly(obj)
}

// safePaths returns what SafeKeeper.SafePaths does; nothing for other adapters.
func (r *reconciliation[T, S]) safePaths(seen *S) []string {
	if keeper, ok := r.Adapter.(SafeKeeper[T, S]); ok {
		return keeper.SafePaths(r.obj, seen)
	}
	return nil
}

// reserveSafe notes, before a resource is made, that it will be kept safe.
func (r *reconciliation[T, S]) reserveSafe() {
	_, status := r.obj.AWS()
	status.SafeFields = sorted(r.safePaths(nil))
}

// forgetSafe forgets, before anything of a resource is compared that is on offer, what a creation that came to nothing
// has noted.
func (r *reconciliation[T, S]) forgetSafe() {
	_, status := r.obj.AWS()
	status.SafeFields = nil
}

// keepSafe notes what is kept safe from now on of a resource that is in sync: what was until now, what the spec
// declares or did until now, and what was found to be.
func (r *reconciliation[T, S]) keepSafe(seen *S) {
	_, status := r.obj.AWS()
	keep := slices.Concat(status.SafeFields, status.ManagedFields, r.Adapter.Declared(r.obj))
	if keepsWhatIsSafe(r.obj) {
		keep = append(keep, r.safePaths(seen)...)
	}
	status.SafeFields = sorted(slices.DeleteFunc(r.safePaths(nil), func(path string) bool { return !slices.Contains(keep, path) }))
}
