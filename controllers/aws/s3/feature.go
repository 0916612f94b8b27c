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
	path     string // in the spec, and the head of its paths in status.managedFields
	declared func(*v1alpha1.S3BucketSpec) []string
	read     func(context.Context, target) (any, error)
	plan     func(spec *v1alpha1.S3BucketSpec, managed external.Managed, have any, t target) (external.Action, bool)
	safe     func(have any) []string // as external.SafePaths
}

// features of a bucket, in the order in which they are applied: closing before opening, versioning before the rules
// that speak of versions.
var features = []feature{
	publicAccess.feature(), encryption.feature(), versioning.feature(), lifecycle.feature(), cors.feature(),
}

// wanted reports whether the feature is declared now, or was and has to go back.
func (f feature) wanted(obj *v1alpha1.S3Bucket) bool {
	return len(f.declared(&obj.Spec)) > 0 || len(external.ManagedBy(obj).Below(f.path)) > 0
}

// without are the answers of servers that are not AWS and do not have a feature.
var without = []string{"NotImplemented", "MethodNotAllowed"}

// observe reads the feature if it is wanted, or an audit compares it. What a server does not have at all is safe from nobody, and nothing
// of it is left there: it is no reason to fail, unless it is declared.
func (f feature) observe(ctx context.Context, obj *v1alpha1.S3Bucket, t target, seen *bucketState) error {
	wanted := f.wanted(obj)
	if !wanted && !external.AuditsSafe(ctx, obj, f.safe(nil)) {
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

// lacks reports whether the server does not have what it was asked for.
func lacks(err error) bool { return slices.Contains(without, cloud.Code(err)) }

// explain says of which setting a server that is not AWS has nothing.
func explain(err error, path string) error {
	if !lacks(err) {
		return cloud.Explain(err)
	}
	return engine.Blocked(v1alpha1.ReasonInvalidSpec, "the S3 server of the provider does not have %s (it answers %s): leave it out of the spec, or use a provider whose server has it; Portico tries again at once after an edit",
		path, cloud.Code(err))
}

// typedFeature is a feature with its own type of value V, normalised so that equal values have equal texts.
type typedFeature[V any] struct {
	path string
	// paths that the spec declares: path itself, or members of it; none means unmanaged, but for what is safe.
	paths func(*v1alpha1.S3BucketSpec) []string
	// want is what should be: the spec's where it speaks, AWS's default for paths that are ours until now or kept safe, else what
	// is. It is called only if some path is declared, ours or kept safe.
	want func(spec *v1alpha1.S3BucketSpec, ours func(path string) bool, have V) V
	get  func(context.Context, target) (V, error)
	call string // the name of the call that put makes
	put  func(context.Context, target, V) error
	text func(V) string
	// references are what the bucket is to refer to and does not yet; nil: nothing.
	references func(have, want V) []external.Reference
	// safe are the settings of which the default keeps others out.
	safe []external.Field[*v1alpha1.S3BucketSpec, V]
	// diff tells people what differs, where the two texts side by side would not; nil: they do.
	diff func(have, want V) string
}

func (f typedFeature[V]) feature() feature {
	return feature{
		path:     f.path,
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

func (f typedFeature[V]) plan(spec *v1alpha1.S3BucketSpec, managed external.Managed, have V, t target) (external.Action, bool) {
	from, declared, kept := f.text(have), f.paths(spec), f.kept(spec, managed)
	ours := func(path string) bool { // of a member, too: one call writes all of them
		return managed.Owns(path, from) || slices.Contains(kept, path)
	}
	if len(declared)+len(kept) == 0 && !slices.ContainsFunc(managed.Below(f.path), ours) {
		return external.Action{}, false
	}
	want := f.want(spec, ours, have)
	to := f.text(want)
	var sets []external.Change
	for _, path := range slices.Concat(declared, kept) {
		sets = append(sets, external.Change{Path: path, From: from, To: to, Guards: slices.Contains(external.SafePaths(f.safe, &want), path)})
	}
	why := from + " → " + to
	if f.diff != nil {
		why = f.diff(have, want)
	}
	action := external.Action{Name: f.call, Why: f.path + " " + why, Changes: sets, Do: func(ctx context.Context) error {
		return explain(f.put(ctx, t, want), f.path)
	}}
	if f.references != nil {
		action.References = f.references(have, want)
	}
	return action, from != to
}

// kept returns the settings that the spec does not declare and Portico keeps safe.
func (f typedFeature[V]) kept(spec *v1alpha1.S3BucketSpec, managed external.Managed) []string {
	declared := f.paths(spec)
	return slices.DeleteFunc(external.SafePaths(f.safe, nil), func(path string) bool {
		return slices.Contains(declared, path) || !managed.KeepsSafe(path)
	})
}

// wholePath declares a feature by its path alone.
func wholePath(path string, set func(*v1alpha1.S3BucketSpec) bool) func(*v1alpha1.S3BucketSpec) []string {
	return func(spec *v1alpha1.S3BucketSpec) []string {
		if set(spec) {
			return []string{path}
		}
		return nil
	}
}
