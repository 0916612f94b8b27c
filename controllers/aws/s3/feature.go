package s3

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// feature is one optional part of a bucket's configuration, read and written by calls of its own.
type feature struct {
	path     string // in the spec, and the prefix of its paths in status.managedFields
	declared func(*v1alpha1.S3BucketSpec) []string
	read     func(context.Context, target) (any, error)
	plan     func(spec *v1alpha1.S3BucketSpec, managed external.Managed, have any, t target) (external.Action, bool)
	safe     func(have any) []string // as external.SafePaths
	// beside is another path of the spec that the same calls read and write; empty: none.
	beside string
	// onlyKept says that AWS does not create buckets with the safe values: they are compared, and written to a new
	// bucket, only where Portico keeps them safe.
	onlyKept bool
}

// features are in the order in which they are applied: closing access before opening it, versioning before the rules
// about versions.
var features = []feature{
	publicAccess.feature(), policyFeature.feature(), encryption.feature(), versioning.feature(), lifecycle.feature(),
	cors.feature(), notifications.feature(),
}

// wanted reports whether the feature is declared, or was and must return to its default.
func (f feature) wanted(obj *v1alpha1.S3Bucket) bool {
	managed := external.ManagedBy(obj)
	return len(f.declared(&obj.Spec)) > 0 || len(managed.Below(f.path)) > 0 ||
		f.beside != "" && len(managed.Below(f.beside)) > 0
}

// audited reports whether safe settings must be compared though nothing is declared.
func (f feature) audited(ctx context.Context, obj *v1alpha1.S3Bucket) bool {
	paths := f.safe(nil)
	if !f.onlyKept {
		return external.AuditsSafe(ctx, obj, paths)
	}
	kept := slices.ContainsFunc(paths, external.ManagedBy(obj).KeepsSafe)
	return kept && (engine.IsAudit(ctx) || obj.Status.FirstReadyTime == nil)
}

// without are the error codes of servers, other than AWS, that lack a feature.
var without = []string{"NotImplemented", "MethodNotAllowed"}

// observe reads the feature if it is wanted, or an audit compares it. A feature that the server lacks needs no
// protection, and leaves nothing behind: it is an error only if it is declared.
func (f feature) observe(ctx context.Context, obj *v1alpha1.S3Bucket, t target, seen *bucketState) error {
	wanted := f.wanted(obj)
	if !wanted && !f.audited(ctx, obj) {
		return nil
	}
	have, err := f.read(ctx, t)
	switch {
	case err == nil:
		seen.config[f.path] = have
	case !lacks(err) || len(f.declared(&obj.Spec)) > 0:
		return explain(err, f.path)
	}
	return nil
}

// lacks reports whether the server does not support the call.
func lacks(err error) bool { return slices.Contains(without, cloud.Code(err)) }

// explain names the setting that a server other than AWS lacks.
func explain(err error, path string) error {
	if !lacks(err) {
		return cloud.Explain(err)
	}
	return engine.Blocked(v1alpha1.ReasonInvalidSpec, "the S3 server of the provider does not have %s (it answers "+
		"%s): leave it out of the spec, or use a provider whose server has it; Portico tries again at once after "+
		"an edit",
		path, cloud.Code(err))
}

// typedFeature is a feature with a value of type V, normalised so that equal values have equal texts.
type typedFeature[V any] struct {
	path string
	// paths returns the paths that the spec declares: path itself, or members of it; none: unmanaged, except for safe
	// settings.
	paths func(*v1alpha1.S3BucketSpec) []string
	// want returns the value to set: the declared one, AWS's default for paths that were ours or are kept safe, else
	// the current one. It is called only if some path is declared, ours or kept safe.
	want func(spec *v1alpha1.S3BucketSpec, ours func(path string) bool, have V) V
	// wantAt is like want, for a feature without members that depends on what the pass has found.
	wantAt func(t target, spec *v1alpha1.S3BucketSpec, have V) V
	get    func(context.Context, target) (V, error)
	call   string // the name of put's call
	put    func(context.Context, target, V) error
	text   func(V) string
	// references returns what the bucket would newly refer to; nil: nothing.
	references func(have, want V) []external.Reference
	// referTo does the same for references that depend on the bucket's account.
	referTo func(t target, have, want V) []external.Reference
	// refuse returns why Portico does not write the value; nil: it writes every value.
	refuse func(t target, have, want V) error
	// waits returns what is waited for if put fails with err, and nil if err is about the value; nil: every error is.
	waits func(v V, err error) error
	// parts are settings that one call writes and that can fail separately; nil: there are none.
	parts []part[V]
	// beside and onlyKept are as in feature.
	beside   string
	onlyKept bool
	// safe are the settings whose default denies access to others.
	safe []external.Setting[*v1alpha1.S3BucketSpec, V]
	// diff describes a difference for people, if the two texts side by side do not; nil: they do.
	diff func(have, want V) string
}

// part is one of the settings that a call writes: set copies it from want.
type part[V any] struct {
	path string
	set  func(into *V, want V)
}

func (f typedFeature[V]) feature() feature {
	return feature{
		path: f.path, beside: f.beside, onlyKept: f.onlyKept,
		declared: f.paths,
		read: func(ctx context.Context, t target) (any, error) {
			return f.get(ctx, t)
		},
		plan: func(spec *v1alpha1.S3BucketSpec, managed external.Managed, seen any, t target) (external.Action, bool) {
			return f.plan(spec, managed, seen.(V), t)
		},
		safe: func(seen any) []string {
			if have, read := seen.(V); read {
				return external.SafePaths(f.safe, &have)
			}
			return external.SafePaths(f.safe, nil)
		},
	}
}

func (f typedFeature[V]) plan(spec *v1alpha1.S3BucketSpec, managed external.Managed, have V, t target) (
	external.Action, bool,
) {
	from, declared, kept := f.text(have), f.paths(spec), f.kept(spec, managed)
	ours := func(path string) bool { // also for a member, because one call writes all of them
		return managed.Owns(path, from) || slices.Contains(kept, path)
	}
	before := managed.Below(f.path)
	if f.beside != "" {
		before = append(before, managed.Below(f.beside)...)
	}
	if len(declared)+len(kept) == 0 && !slices.ContainsFunc(before, ours) {
		return external.Action{}, false
	}
	var want V
	if f.wantAt != nil {
		want = f.wantAt(t, spec, have)
	} else {
		want = f.want(spec, ours, have)
	}
	to := f.text(want)
	var sets []external.Change
	for _, path := range slices.Concat(declared, kept) {
		sets = append(sets, external.Change{
			Path: path, From: from, To: to,
			Guards: slices.Contains(external.SafePaths(f.safe, &want), path),
		})
	}
	why := from + " → " + to
	if f.diff != nil {
		why = f.diff(have, want)
	}
	written := have
	action := f.write(t, &written, func(into *V) { *into = want }, sets, f.path+" "+why)
	if changed := f.changedParts(have, want); len(changed) > 1 {
		action.Parts = func() (parts []external.Action) {
			for _, p := range changed {
				of := slices.DeleteFunc(slices.Clone(sets), func(c external.Change) bool { return c.Path != p.path })
				parts = append(parts, f.write(t, &written, func(into *V) { p.set(into, want) }, of, p.path+" "+why))
			}
			return parts
		}
	}
	return action, from != to
}

// changedParts returns the parts in which have and want differ.
func (f typedFeature[V]) changedParts(have, want V) []part[V] {
	return slices.DeleteFunc(slices.Clone(f.parts), func(p part[V]) bool {
		next := have
		p.set(&next, want)
		return f.text(next) == f.text(have)
	})
}

// write returns the action that applies set to there, writes the result, and stores it in there.
func (f typedFeature[V]) write(t target, there *V, set func(*V), changes []external.Change,
	why string,
) external.Action {
	want := *there
	set(&want)
	action := external.Action{Name: f.call, Why: why, Changes: changes, Do: func(ctx context.Context) error {
		next := *there
		set(&next)
		if err := f.put(ctx, t, next); err != nil {
			if f.waits != nil && f.waits(next, err) != nil {
				return f.waits(next, err)
			}
			return explain(err, f.path)
		}
		*there = next
		return nil
	}}
	if f.references != nil {
		action.References = f.references(*there, want)
	}
	if f.referTo != nil {
		action.References = append(action.References, f.referTo(t, *there, want)...)
	}
	if f.refuse != nil {
		action.Refusal = f.refuse(t, *there, want)
	}
	return action
}

// kept returns the settings that Portico keeps safe although the spec does not declare them.
func (f typedFeature[V]) kept(spec *v1alpha1.S3BucketSpec, managed external.Managed) []string {
	declared := f.paths(spec)
	return slices.DeleteFunc(external.SafePaths(f.safe, nil), func(path string) bool {
		return slices.Contains(declared, path) || !managed.KeepsSafe(path)
	})
}

// wholePath returns the paths function of a feature that is declared as a whole.
func wholePath(path string, set func(*v1alpha1.S3BucketSpec) bool) func(*v1alpha1.S3BucketSpec) []string {
	return func(spec *v1alpha1.S3BucketSpec) []string {
		if set(spec) {
			return []string{path}
		}
		return nil
	}
}
