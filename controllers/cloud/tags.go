package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// Tags returns all the tags that obj should have. Later ones win: the provider's defaults; those of the namespace's
// team; own, except keys that either forbids; the team's enforced tags; the provider's enforced tags; and the ownership
// tags.
func (s *Session) Tags(obj client.Object, own v1alpha1.Tags) map[string]string {
	all := map[string]string{}
	own = maps.Clone(own)
	maps.DeleteFunc(own, func(key string, _ v1alpha1.TagValue) bool { return s.forbidden(key) })
	for _, layer := range s.tagLayers(own) {
		for key, value := range layer {
			all[key] = string(value)
		}
	}
	maps.Copy(all, s.Identity.OwnershipTags(obj))
	return all
}

// TagMap returns a service's list of tags as a map.
func TagMap[T any](list []T, pair func(T) (key, value *string)) map[string]string {
	tags := make(map[string]string, len(list))
	for _, tag := range list {
		key, value := pair(tag)
		tags[aws.ToString(key)] = aws.ToString(value)
	}
	return tags
}

// TagList returns tags in a service's type, sorted, so that a repeated call has the same parameters.
func TagList[T any](tags map[string]string, tag func(key, value *string) T) []T {
	list := make([]T, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, tag(aws.String(key), aws.String(tags[key])))
	}
	return list
}

// tagPath plus a key is the managed path of one tag.
const tagPath = "tags."

// TagPaths returns the managed paths of obj's tags, one for each, including the provider's.
func (s *Session) TagPaths(obj client.Object, own v1alpha1.Tags) []string {
	var paths []string
	for key := range s.Tags(obj, own) {
		if !strings.HasPrefix(key, tagPrefix) {
			paths = append(paths, tagPath+key)
		}
	}
	return paths
}

// TagChange is the difference between a resource's tags and the wanted ones. Tags of others are kept.
type TagChange struct {
	Set    map[string]string // new, or with another value
	Remove []string          // sorted
	Why    string

	have map[string]string // tags before the change; nil: Why is fixed
}

// changes returns the declared paths that Set writes.
func (c TagChange) changes() []external.Change {
	var all []external.Change
	for _, key := range slices.Sorted(maps.Keys(c.Set)) {
		if !strings.HasPrefix(key, tagPrefix) {
			all = append(all, external.Change{Path: tagPath + key, From: c.have[key], To: c.Set[key]})
		}
	}
	return all
}

// Empty reports whether there is nothing to change.
func (c TagChange) Empty() bool { return len(c.Set) == 0 && len(c.Remove) == 0 }

// describe sets Why from the difference.
func (c TagChange) describe() TagChange {
	if c.have == nil {
		return c
	}
	var diff []string
	for _, key := range slices.Sorted(maps.Keys(c.Set)) {
		diff = append(diff, fmt.Sprintf("tag %s %s → %s", key, external.OrNone(c.have[key]), external.OrNone(
			c.Set[key])))
	}
	for _, key := range c.Remove {
		diff = append(diff, fmt.Sprintf("tag %s %s → none", key, external.OrNone(c.have[key])))
	}
	c.Why = strings.Join(diff, ", ")
	return c
}

// marks reports whether the change sets ownership tags.
func (c TagChange) marks() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(c.Set)), func(key string) bool {
		return strings.HasPrefix(key, tagPrefix)
	})
}

// some returns the part of the change for these keys.
func (c TagChange) some(keys []string) TagChange {
	part := TagChange{Set: map[string]string{}, Why: c.Why, have: c.have}
	for _, key := range keys {
		if value, set := c.Set[key]; set {
			part.Set[key] = value
		} else {
			part.Remove = append(part.Remove, key)
		}
	}
	return part.describe()
}

// Action returns the call that makes the whole change and can be divided: the ownership tags are set first, and the
// accepted offer is removed with them.
func (c TagChange) Action(name string, call func(ctx context.Context, change TagChange) error) external.Action {
	marks, others := []string{}, []string{}
	for _, key := range slices.Concat(c.Remove, slices.Sorted(maps.Keys(c.Set))) {
		if strings.HasPrefix(key, tagPrefix) {
			marks = append(marks, key)
		} else {
			others = append(others, key)
		}
	}
	return c.divide(name, call, marks, others)
}

func (c TagChange) divide(name string, call func(context.Context, TagChange) error,
	marks, others []string,
) external.Action {
	part := c.some(slices.Concat(marks, others))
	action := external.Action{
		Name: name, Why: part.Why, Changes: part.changes(), Marks: part.marks(),
		Do: func(ctx context.Context) error {
			return call(ctx, part)
		},
	}
	half := len(others) / 2
	switch {
	case len(marks) > 0 && len(others) > 0:
		action.Parts = func() []external.Action {
			return []external.Action{c.divide(name, call, marks, nil), c.divide(name, call, nil, others)}
		}
	case half > 0:
		action.Parts = func() []external.Action {
			return []external.Action{c.divide(name, call, nil, others[:half]), c.divide(name, call, nil, others[half:])}
		}
	}
	return action
}

// TagCalls are a service's calls to set and remove tags.
type TagCalls struct {
	SetName, RemoveName string
	Set                 func(ctx context.Context, tags map[string]string) error
	Remove              func(ctx context.Context, keys []string) error
}

// Actions returns the calls that make the change, for services with separate calls to set and remove tags.
func (c TagChange) Actions(calls TagCalls) []external.Action {
	var actions []external.Action
	if len(c.Set) > 0 {
		set := TagChange{Set: c.Set, Why: c.Why, have: c.have}
		actions = append(actions, set.Action(calls.SetName, func(ctx context.Context, part TagChange) error {
			return calls.Set(ctx, part.Set)
		}))
	}
	if len(c.Remove) > 0 {
		remove := TagChange{Remove: c.Remove, Why: c.Why, have: c.have}
		actions = append(actions, remove.Action(calls.RemoveName, func(ctx context.Context, part TagChange) error {
			return calls.Remove(ctx, part.Remove)
		}))
	}
	return actions
}

// Apply returns tags after the change, for services that replace the whole set.
func (c TagChange) Apply(tags map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, tags)
	maps.Copy(all, c.Set)
	for _, key := range c.Remove {
		delete(all, key)
	}
	return all
}

// PlanTags returns the change that sets our tags, and removes those that we set and are no longer declared.
func (s *Session) PlanTags(obj external.Object, own v1alpha1.Tags, have map[string]string) TagChange {
	want, change := s.Tags(obj, own), TagChange{Set: map[string]string{}, have: map[string]string{}}
	maps.Copy(change.have, have)
	for key, value := range want {
		if had, ok := have[key]; !ok || had != value {
			change.Set[key] = value
		}
	}
	for _, key := range unwanted(external.ManagedBy(obj), want, have) {
		if _, ok := have[key]; ok {
			change.Remove = append(change.Remove, key)
		}
	}
	slices.Sort(change.Remove)
	return change.describe()
}

// unwanted returns the tags to remove: those that we set and are no longer declared, and the accepted offer, which must
// not apply to the next object of this name.
func unwanted(managed external.Managed, want, have map[string]string) []string {
	keys := []string{TagAdopt}
	for _, path := range managed.Paths() {
		key, isTag := strings.CutPrefix(path, tagPath)
		if _, wanted := want[key]; isTag && !wanted && managed.Owns(path, have[key]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// OwnershipTagKeys returns the ownership tag keys among tags, sorted: what Disown removes.
func OwnershipTagKeys(tags map[string]string) []string {
	var keys []string
	for key := range tags {
		if strings.HasPrefix(key, tagPrefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
