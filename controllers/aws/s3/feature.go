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
type feature interface {
	// declared lists the paths that the spec declares.
	declared(obj *v1alpha1.S3Bucket) []string
	// observe reads the feature if it is wanted, or an audit compares it.
	observe(ctx context.Context, obj *v1alpha1.S3Bucket, t target, seen *bucketState) error
	// plan returns the action that changes the feature, and whether it differs; false if it was not read.
	plan(obj *v1alpha1.S3Bucket, seen *bucketState, t target) (external.Action, bool)
	// safePaths is as external.SafePaths.
	safePaths(session *cloud.Session, seen *bucketState) []string
}

// features are in the order in which they are applied: closing access before opening it, versioning before the rules
// about versions.
var features = []feature{publicAccess, policyFeature, encryption, versioning, lifecycle, cors, notifications}

// setting describes a setting of a feature with a value of type V. One of several has no Have of its own, unless it is
// Safe: see typedFeature.whole.
type setting[V any] = external.Setting[*v1alpha1.S3Bucket, V]

// typedFeature is a feature with a value of type V, normalised so that equal values have equal texts. S3 returns and
// replaces the value as a whole, with parts that are not Portico's: all settings of a feature are compared at once, and
// what is written depends on what is there.
type typedFeature[V any] struct {
	path string // in the spec
	// settings are described like those of every kind. One call writes all of them.
	settings []setting[V]
	// whole describes the value of a feature with several settings, which are compared together; nil: Have of the only
	// setting does.
	whole func(V) string
	// want returns the value to set: the declared one, AWS's default for paths that were ours or are kept safe, else
	// the current one. It is called only if some path is declared, ours or kept safe.
	want func(t target, spec *v1alpha1.S3BucketSpec, ours func(path string) bool, have V) V
	get  func(context.Context, target) (V, error)
	call string // the name of put's call
	put  func(context.Context, target, V) error
	// references returns what the bucket would newly refer to; nil: nothing.
	references func(t target, have, want V) []external.Reference
	// refuse returns why Portico does not write the value; nil: it writes every value.
	refuse func(t target, have, want V) error
	// waits returns what is waited for if put fails with err, and nil if err is about the value; nil: every error is.
	waits func(v V, err error) error
	// parts are settings that one call writes and that can fail separately; nil: there are none.
	parts []part[V]
	// onlyKept says that AWS does not create buckets with the safe values: they are compared, and written to a new
	// bucket, only where Portico keeps them safe.
	onlyKept bool
	// diff describes a difference for people, if the two texts side by side do not; nil: they do.
	diff func(have, want V) string
}

// part is one of the settings that a call writes: set copies it from want.
type part[V any] struct {
	path string
	set  func(into *V, want V)
}

func (f typedFeature[V]) declared(obj *v1alpha1.S3Bucket) []string {
	return external.DeclaredPaths(f.settings, obj)
}

func (f typedFeature[V]) text(v V) string {
	if f.whole != nil {
		return f.whole(v)
	}
	return f.settings[0].Have(&v)
}

func (f typedFeature[V]) safePaths(session *cloud.Session, seen *bucketState) []string {
	if f.onlyKept && !standsForAWS(session) {
		return nil
	}
	if seen == nil {
		return external.SafePaths(f.settings, nil)
	}
	if have, read := seen.config[f.path].(V); read {
		return external.SafePaths(f.settings, &have)
	}
	return nil
}

// audited reports whether safe settings must be compared though nothing is declared.
func (f typedFeature[V]) audited(ctx context.Context, obj *v1alpha1.S3Bucket) bool {
	paths := external.SafePaths(f.settings, nil)
	if !f.onlyKept {
		return external.AuditsSafe(ctx, obj, paths)
	}
	kept := slices.ContainsFunc(paths, external.ManagedBy(obj).KeepsSafe)
	return kept && (engine.IsAudit(ctx) || obj.Status.FirstReadyTime == nil)
}

// without are the error codes of servers, other than AWS, that lack a feature.
var without = []string{"NotImplemented", "MethodNotAllowed"}

// observe implements feature. A feature that the server lacks needs no protection, and leaves nothing behind: it is an
// error only if it is declared.
func (f typedFeature[V]) observe(ctx context.Context, obj *v1alpha1.S3Bucket, t target, seen *bucketState) error {
	if !external.AnyInUse(f.settings, obj) && !f.audited(ctx, obj) {
		return nil
	}
	have, err := f.get(ctx, t)
	switch {
	case err == nil:
		seen.config[f.path] = have
	case !lacks(err) || len(f.declared(obj)) > 0:
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

func (f typedFeature[V]) plan(obj *v1alpha1.S3Bucket, seen *bucketState, t target) (external.Action, bool) {
	have, read := seen.config[f.path].(V)
	if !read {
		return external.Action{}, false
	}
	managed := external.ManagedBy(obj)
	from, declared, kept := f.text(have), f.declared(obj), f.kept(obj, managed)
	ours := func(path string) bool { // also for a member, because one call writes all of them
		return managed.Owns(path, from) || slices.Contains(kept, path)
	}
	anyOurs := slices.ContainsFunc(f.settings, func(s setting[V]) bool { return ours(s.Path) })
	if len(declared)+len(kept) == 0 && !anyOurs {
		return external.Action{}, false
	}
	want := f.want(t, &obj.Spec, ours, have)
	to := f.text(want)
	var sets []external.Change
	for _, path := range slices.Concat(declared, kept) {
		sets = append(sets, external.Change{
			Path: path, From: from, To: to,
			Guards: slices.Contains(external.SafePaths(f.settings, &want), path),
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
		action.References = f.references(t, *there, want)
	}
	if f.refuse != nil {
		action.Refusal = f.refuse(t, *there, want)
	}
	return action
}

// kept returns the settings that Portico keeps safe although the spec does not declare them.
func (f typedFeature[V]) kept(obj *v1alpha1.S3Bucket, managed external.Managed) []string {
	declared := f.declared(obj)
	return slices.DeleteFunc(external.SafePaths(f.settings, nil), func(path string) bool {
		return slices.Contains(declared, path) || !managed.KeepsSafe(path)
	})
}
