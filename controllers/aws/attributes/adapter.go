// Package attributes adapts services whose resources consist of a name, text attributes and tags.
package attributes

import (
	"cmp"
	"context"
	"slices"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// State is the observed state of one resource in AWS.
type State struct {
	ID         string // for calls: a queue's URL, a topic's ARN
	Tags       map[string]string
	Attributes map[string]string // nil: not read, because none is declared or managed
}

// Setting is a setting of a resource; its Name is that of the attribute.
type Setting[T external.Object] = external.Setting[T, State]

// Service makes a service's calls, and returns its errors unchanged. No call may succeed for a resource that does not
// exist.
type Service interface {
	ListTags(ctx context.Context, id string) (map[string]string, error)
	Tag(ctx context.Context, id string, tags map[string]string) error
	Untag(ctx context.Context, id string, keys []string) error
	Delete(ctx context.Context, id string) error
}

// Adapter implements external.Adapter except Reserve and Report, for one kind and one pass.
type Adapter[T external.Object] struct {
	Session *cloud.Session
	Service Service
	// TagCall and UntagCall are the names of the calls.
	TagCall, UntagCall string
	// TagCommand returns the command line that does the same as TagCall.
	TagCommand func(session *cloud.Session, id string, tags map[string]string) string
	// Settings describes the attributes of obj's resource. Have is only needed if the value that counts for an unlisted
	// attribute is not its default.
	Settings func(obj T) []Setting[T]
	// Find returns the ID of obj's resource, and "" if it is known not to exist.
	Find func(ctx context.Context, obj T) (id string, err error)
	// Read reads the attributes.
	Read func(ctx context.Context, obj T, id string) (map[string]string, error)
	// Create plans the call that creates the resource with these attributes and tags; the adapter adds the changes to
	// the action.
	Create func(obj T, attributes, tags map[string]string) external.Action
	// Set plans the calls that make these changes.
	Set func(obj T, seen *State, changes []external.Change) []external.Action
	// Rest says what is waited for in addition to the work on the resource itself; Plan returns it.
	Rest error
}

// FIFOSuffix ends the name of every FIFO queue and topic, and counts towards its length.
const FIFOSuffix = ".fifo"

// Name returns the resource's name: the known one, or a generated one of at most limit characters.
func (a *Adapter[T]) Name(obj T, known string, limit int, fifo bool) string {
	if known != "" {
		return known
	}
	return GeneratedName(a.Session, obj, limit, fifo)
}

// Observe reads the tags, which show existence and ownership in one call once the ID is known. It reads the attributes
// only if any is declared or managed.
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
	if !external.ReadsSettings(obj, a.Owner(obj, seen)) || !external.AnyInUse(a.settings(obj), obj) {
		return seen, nil
	}
	if seen.Attributes, err = a.Read(ctx, obj, id); cloud.IsNotFound(err) {
		return nil, nil
	}
	return seen, cloud.Explain(err)
}

// Owner determines ownership by the tags.
func (a *Adapter[T]) Owner(obj T, seen *State) external.Owner {
	return a.Session.Identity.Owner(obj, seen.Tags)
}

// RestoreCommand implements external.TagRestorer.
func (a *Adapter[T]) RestoreCommand(obj T, seen *State) string {
	marks := a.Session.Identity.LostMarks(obj, seen.Tags)
	if marks == nil {
		return ""
	}
	return a.TagCommand(a.Session, seen.ID, marks)
}

// Declared lists the spec paths in use.
func (a *Adapter[T]) Declared(obj T) []string {
	paths := append(external.DeclaredPaths(a.settings(obj), obj), a.Session.TagPaths(obj, obj.OwnTags())...)
	slices.Sort(paths)
	return paths
}

// Plan compares the spec with the observed state, and returns the actions and Rest.
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
	return append(actions, a.Set(obj, seen, external.Changes(a.settings(obj), obj, seen))...), a.Rest
}

// planTags plans the changes of tags. They come first: ownership is marked before anything else is changed.
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

// create plans the call that creates the resource with its attributes and tags, so that no resource of ours is ever
// without tags.
func (a *Adapter[T]) create(obj T) external.Action {
	action := a.Create(obj, a.Initial(obj), a.Session.Tags(obj, obj.OwnTags()))
	paths := a.Declared(obj)
	for _, s := range a.Settings(obj) {
		switch value, declared := s.Want(obj); {
		case s.Later:
			paths = slices.DeleteFunc(paths, func(path string) bool { return path == s.Path })
		case declared:
			action.Refusal = cmp.Or(action.Refusal, s.Refusal(value))
		}
	}
	action.Changes = external.InitialChanges(paths)
	return action
}

// Initial returns the attributes to create the resource with: the declared ones, except Later ones.
func (a *Adapter[T]) Initial(obj T) map[string]string {
	set := map[string]string{}
	for _, s := range a.Settings(obj) {
		if value, declared := s.Want(obj); declared && !s.Later {
			set[s.Name] = value
		}
	}
	return set
}

// Delete deletes the resource with its contents.
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

// InUse reports whether any setting is declared or still managed: of the Later ones, or of the others.
func (a *Adapter[T]) InUse(obj T, later bool) bool {
	others := func(s Setting[T]) bool { return s.Later != later }
	return external.AnyInUse(slices.DeleteFunc(a.settings(obj), others), obj)
}

// settings returns the settings of obj's resource, which are observed by their names. The value of one that the service
// does not list is the default.
func (a *Adapter[T]) settings(obj T) []Setting[T] {
	all := slices.Clone(a.Settings(obj))
	for n := range all {
		if all[n].Have == nil {
			all[n].Have = Listed(all[n].Name, all[n].Default)
		}
	}
	return all
}

// Listed returns a Setting's Have for the attribute with this name. A service may leave it out.
func Listed(name, otherwise string) func(*State) string {
	return func(seen *State) string {
		if value, listed := seen.Attributes[name]; listed {
			return value
		}
		return otherwise
	}
}

// Values returns the new values of the changes, by the names of their attributes.
func Values(changes ...external.Change) map[string]string {
	set := map[string]string{}
	for _, c := range changes {
		set[c.Name] = c.To
	}
	return set
}
