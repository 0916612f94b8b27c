// Package attributes adapts services whose resources are a name, attributes as text, and tags.
package attributes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// State is what AWS has of one resource.
type State struct {
	ID         string // by which calls go: a queue's URL, a topic's ARN
	Tags       map[string]string
	Attributes map[string]string // nil: not read, because nothing of them is declared or managed
}

// Service makes a service's calls, and returns its errors as they are. None of them may take absence for success.
type Service interface {
	ListTags(ctx context.Context, id string) (map[string]string, error)
	Tag(ctx context.Context, id string, tags map[string]string) error
	Untag(ctx context.Context, id string, keys []string) error
	Delete(ctx context.Context, id string) error
}

// Adapter implements all of external.Adapter but Reserve and Report for one kind; made for one pass.
type Adapter[T external.Object] struct {
	Session *cloud.Session
	Service Service
	// TagCall and UntagCall are the names of the calls.
	TagCall, UntagCall string
	// TagCommand returns the command line that makes TagCall.
	TagCommand func(session *cloud.Session, id string, tags map[string]string) string
	// All lists the attributes of obj's resource.
	All func(obj T) []Attribute[T]
	// Find returns the ID of obj's resource, and "" if it is known not to be there.
	Find func(ctx context.Context, obj T) (id string, err error)
	// Read reads the attributes.
	Read func(ctx context.Context, obj T, id string) (map[string]string, error)
	// Create plans the call that makes the resource with these attributes and tags; what it changes is added to the
	// action.
	Create func(obj T, attributes, tags map[string]string) external.Action
	// Set plans the calls that make these changes; at least one.
	Set func(obj T, seen *State, changes []external.Change) []external.Action
	// Rest is what is waited for beside the work on the resource itself; Plan returns it.
	Rest error
}

// FIFOSuffix ends the name of every FIFO queue and topic, and counts.
const FIFOSuffix = ".fifo"

// Name returns the resource's name: the one that is known, or a generated one of at most limit characters.
func (a *Adapter[T]) Name(obj T, known string, limit int, fifo bool) string {
	if known != "" {
		return known
	}
	return GeneratedName(a.Session, obj, limit, fifo)
}

// Observe reads the tags, which show existence and ownership in one call once the ID is known, and the attributes only
// if any is declared or managed.
func (a *Adapter[T]) Observe(ctx context.Context, obj T) (*State, error) {
	id, err := a.Find(ctx, obj)
	if err != nil || id == "" {
		return nil, err
	}
	tags, err := a.Service.ListTags(ctx, id)
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cloud.Explain(err)
	}
	seen := &State{ID: id, Tags: tags}
	if !external.ReadsSettings(obj, a.Owner(obj, seen)) || !external.AnyInUse(a.fields(obj), obj) {
		return seen, nil
	}
	if seen.Attributes, err = a.Read(ctx, obj, id); cloud.IsNotFound(err) {
		return nil, nil
	}
	return seen, cloud.Explain(err)
}

// Owner reads ownership off the tags.
func (a *Adapter[T]) Owner(obj T, seen *State) external.Owner {
	return a.Session.Identity.Owner(obj, seen.Tags)
}

// Remark implements external.Remarker.
func (a *Adapter[T]) Remark(obj T, seen *State) string {
	marks := a.Session.Identity.LostMarks(obj, seen.Tags)
	if marks == nil {
		return ""
	}
	return a.TagCommand(a.Session, seen.ID, marks)
}

// Declared lists the spec paths in use.
func (a *Adapter[T]) Declared(obj T) []string {
	paths := append(external.DeclaredPaths(a.fields(obj), obj), a.Session.TagPaths(obj, obj.OwnTags())...)
	slices.Sort(paths)
	return paths
}

// Plan compares, and adds what is waited for to its error.
func (a *Adapter[T]) Plan(obj T, seen *State) ([]external.Action, error) {
	if seen == nil {
		return []external.Action{a.create(obj)}, nil
	}
	var actions []external.Action
	if !external.ObserveOnly(obj) {
		actions = a.planTags(obj, seen)
	}
	if seen.Attributes == nil {
		return actions, a.Rest
	}
	if changes := external.Changes(a.fields(obj), obj, seen); len(changes) > 0 {
		actions = append(actions, a.set(obj, seen, changes)...)
	}
	return actions, a.Rest
}

// set plans what takes longer to show by itself: else each thing that shows would make another action of what does not
// yet.
func (a *Adapter[T]) set(obj T, seen *State, changes []external.Change) []external.Action {
	byTime := map[time.Duration][]external.Change{}
	var actions []external.Action
	for _, c := range changes {
		attribute := a.attribute(obj, c.Path)
		if err := attribute.refusal(c.To); err != nil {
			for _, action := range a.Set(obj, seen, []external.Change{c}) {
				action.Refusal = err
				actions = append(actions, action)
			}
			continue
		}
		byTime[attribute.Settles] = append(byTime[attribute.Settles], c)
	}
	for _, settles := range slices.Sorted(maps.Keys(byTime)) {
		for _, action := range a.Set(obj, seen, byTime[settles]) {
			actions = append(actions, action.SettlingIn(settles))
		}
	}
	return actions
}

// attribute returns the attribute at the path of the spec.
func (a *Adapter[T]) attribute(obj T, path string) Attribute[T] {
	for _, attribute := range a.All(obj) {
		if attribute.Path == path {
			return attribute
		}
	}
	return Attribute[T]{}
}

// planTags comes first in a plan: ownership is marked before anything else is changed.
func (a *Adapter[T]) planTags(obj T, seen *State) []external.Action {
	return a.Session.PlanTags(obj, obj.OwnTags(), seen.Tags).Actions(cloud.TagCalls{
		SetName: a.TagCall, RemoveName: a.UntagCall,
		Set: func(ctx context.Context, tags map[string]string) error {
			return cloud.Explain(a.Service.Tag(ctx, seen.ID, tags))
		},
		Remove: func(ctx context.Context, keys []string) error {
			return cloud.Explain(a.Service.Untag(ctx, seen.ID, keys))
		},
	})
}

// create makes the resource with its attributes and tags in one call, so that none of ours is ever without.
func (a *Adapter[T]) create(obj T) external.Action {
	initial := a.Initial(obj)
	action := a.Create(obj, maps.Clone(initial), a.Session.Tags(obj, obj.OwnTags()))
	for _, attribute := range a.All(obj) {
		if value, set := initial[attribute.Name]; set {
			action.Refusal = cmp.Or(action.Refusal, attribute.refusal(value))
		}
	}
	action.Changes = external.InitialChanges(slices.DeleteFunc(a.Declared(obj), func(path string) bool {
		return slices.ContainsFunc(a.All(obj), func(attribute Attribute[T]) bool { return attribute.Later && attribute.Path == path })
	}))
	return action
}

// Initial returns the attributes to create the resource with: those declared.
func (a *Adapter[T]) Initial(obj T) map[string]string {
	set := map[string]string{}
	for _, attribute := range a.All(obj) {
		if value, declared := attribute.Want(obj); declared && !attribute.Later {
			set[attribute.Name] = value
		}
	}
	return set
}

// Delete removes the resource and whatever is in it.
func (a *Adapter[T]) Delete(ctx context.Context, _ T, seen *State) (bool, error) {
	err := a.Service.Delete(ctx, seen.ID)
	if cloud.IsNotFound(err) {
		return false, nil
	}
	return err == nil, cloud.Explain(err)
}

// Disown removes our tags and leaves all others.
func (a *Adapter[T]) Disown(ctx context.Context, _ T, seen *State) error {
	return cloud.Explain(a.Service.Untag(ctx, seen.ID, cloud.OwnershipTagKeys(seen.Tags)))
}

// InUse reports whether any attribute is declared, or managed until now: of those that come later, or of the others.
func (a *Adapter[T]) InUse(obj T, later bool) bool {
	return slices.ContainsFunc(a.All(obj), func(attribute Attribute[T]) bool {
		return attribute.Later == later && external.AnyInUse([]external.Field[T, State]{attribute.field()}, obj)
	})
}

func (a *Adapter[T]) fields(obj T) []external.Field[T, State] {
	var fields []external.Field[T, State]
	for _, attribute := range a.All(obj) {
		fields = append(fields, attribute.field())
	}
	return fields
}

// NamesOf returns the changes by the names of their attributes: what to set.
func (a *Adapter[T]) NamesOf(obj T, changes []external.Change) map[string]string {
	set := map[string]string{}
	for _, attribute := range a.All(obj) {
		for _, c := range changes {
			if c.Path == attribute.Path {
				set[attribute.Name] = c.To
			}
		}
	}
	return set
}
