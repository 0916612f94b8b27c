package external

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// AuditsSafe reports whether the safe settings at these paths must be compared, whatever is declared: in audits, if any
// of them is kept safe, or would be once it was found safe.
func AuditsSafe(ctx context.Context, obj Object, paths []string) bool {
	return engine.IsAudit(ctx) && len(paths) > 0 &&
		(keepsWhatIsSafe(obj) || slices.ContainsFunc(paths, ManagedBy(obj).KeepsSafe))
}

// keepsWhatIsSafe reports whether a setting that was found safe is kept safe. An adopted resource keeps its former
// owner's settings: only declared ones are kept.
func keepsWhatIsSafe(obj Object) bool {
	spec, _ := obj.AWS()
	return spec.AdoptionPolicy != v1alpha1.AdoptionAdopt && !ObserveOnly(obj)
}

// safePaths returns SafePather.SafePaths; nil for other adapters.
func (r *reconciliation[T, S]) safePaths(seen *S) []string {
	if safe, ok := r.Adapter.(SafePather[T, S]); ok {
		return safe.SafePaths(r.obj, seen)
	}
	return nil
}

// reserveSafe records, before a resource is created, that it will be kept safe.
func (r *reconciliation[T, S]) reserveSafe() {
	_, status := r.obj.AWS()
	status.SafeFields = sorted(r.safePaths(nil))
}

// forgetSafe clears the record of an unsuccessful creation, before an offered resource is compared.
func (r *reconciliation[T, S]) forgetSafe() {
	_, status := r.obj.AWS()
	status.SafeFields = nil
}

// keepSafe records what is kept safe from now on for a resource in sync: what was kept so far, what the spec declares
// or declared, and what was found safe.
func (r *reconciliation[T, S]) keepSafe(seen *S) {
	_, status := r.obj.AWS()
	keep := slices.Concat(status.SafeFields, status.ManagedFields, r.Adapter.Declared(r.obj))
	if keepsWhatIsSafe(r.obj) {
		keep = append(keep, r.safePaths(seen)...)
	}
	status.SafeFields = sorted(
		slices.DeleteFunc(r.safePaths(nil), func(path string) bool { return !slices.Contains(keep, path) }))
}
