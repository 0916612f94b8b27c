// Package stepstest holds the laws that every list of steps over Kubernetes objects must keep, and the fake cluster
// that they are tried on.
package stepstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Call is one request of the operator.
type Call struct {
	Verb string // get, list, create, apply, patch, status or delete
	Kind string
	Name string // empty for a list
	Live bool   // a read past the cache
}

// Write reports whether the call changes something.
func (c Call) Write() bool { return c.Verb != "get" && c.Verb != "list" }

func (c Call) String() string { return c.Verb + " " + c.Kind + " " + c.Name }

// Cluster is a fake API server with what the fake client lacks: UIDs and their preconditions, a cache that may hold
// less than there is, a journal, and faults.
type Cluster struct {
	// Others is how everybody else reads and writes; none of it is in the journal, and nothing of it fails.
	Others client.WithWatch
	// Cached tells what the operator's cache holds; nil: everything.
	Cached func(client.Object) bool
	// Before may answer a call with an error; then it has no effect. After does so when it had its effect.
	Before, After func(Call) error

	store   *tracker
	journal []Call
	uids    atomic.Int64
}

// NewCluster returns one that knows the scheme's types; build may add indexes and objects, or be nil.
func NewCluster(of *runtime.Scheme, build func(*fake.ClientBuilder)) *Cluster {
	store := newTracker(of)
	b := fake.NewClientBuilder().WithScheme(of).WithObjectTracker(store).WithReturnManagedFields().WithGlobalResourceVersionCounter()
	if build != nil {
		build(b)
	}
	return &Cluster{Others: b.Build(), store: store}
}

// Client returns the operator's: it reads from the cache.
func (c *Cluster) Client() client.WithWatch { return c.client(false) }

// APIReader reads past the cache.
func (c *Cluster) APIReader() client.Reader { return c.client(true) }

func (c *Cluster) client(live bool) client.WithWatch {
	return interceptor.NewClient(c.Others, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return c.do(Call{"get", c.kind(obj), key.Name, live}, func() error { return c.get(ctx, key, obj, live, opts...) })
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return c.do(Call{"list", c.kind(list), "", live}, func() error { return c.Others.List(ctx, list, opts...) })
		},
		Apply: c.apply,
		Patch: func(ctx context.Context, _ client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
			return c.do(Call{"patch", c.kind(obj), obj.GetName(), live}, func() error { return c.Others.Patch(ctx, obj, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, _ client.Client, sub string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return c.do(Call{sub, c.kind(obj), obj.GetName(), live}, func() error { return c.Others.SubResource(sub).Patch(ctx, obj, p, opts...) })
		},
		Delete: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return c.do(Call{"delete", c.kind(obj), obj.GetName(), live}, func() error { return c.delete(ctx, obj, opts...) })
		},
		Create: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return c.do(Call{"create", c.kind(obj), obj.GetName(), live}, func() error {
				obj.SetUID(c.uid())
				return c.Others.Create(ctx, obj, opts...)
			})
		},
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return errNotSupported
		},
		DeleteAllOf: func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
			return errNotSupported
		},
	})
}

// errNotSupported answers the verbs that no operator of ours uses: it creates, applies, patches and deletes one by one.
var errNotSupported = errors.New("not a verb of the operator")

// do journals the call, unless it is answered before it has an effect.
func (c *Cluster) do(call Call, effect func() error) error {
	if c.Before != nil {
		if err := c.Before(call); err != nil {
			return err
		}
	}
	err := effect()
	if err == nil {
		c.journal = append(c.journal, call)
	}
	if c.After != nil && err == nil {
		return c.After(call)
	}
	return err
}

// Writes returns those that had an effect since the last Forget, in order.
func (c *Cluster) Writes() []Call {
	var all []Call
	for _, call := range c.journal {
		if call.Write() {
			all = append(all, call)
		}
	}
	return all
}

// Forget empties the journal.
func (c *Cluster) Forget() { c.journal = nil }

func (c *Cluster) kind(obj runtime.Object) string {
	gvk, err := apiutil.GVKForObject(obj, c.Others.Scheme())
	if err != nil {
		return fmt.Sprintf("%T", obj)
	}
	return gvk.Kind
}

func (c *Cluster) get(ctx context.Context, key client.ObjectKey, obj client.Object, live bool, opts ...client.GetOption) error {
	if err := c.Others.Get(ctx, key, obj, opts...); err != nil {
		return err
	}
	if !live && c.Cached != nil && !c.Cached(obj) {
		return apierrors.NewNotFound(schema.GroupResource{Resource: c.kind(obj)}, key.Name)
	}
	return nil
}

// apply gives what is created a UID, and holds the one that is asked for against that which is there.
func (c *Cluster) apply(ctx context.Context, _ client.WithWatch, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	asked, err := decode(config)
	if err != nil {
		return err
	}
	is := asked.DeepCopy()
	err = c.Others.Get(ctx, client.ObjectKeyFromObject(asked), is)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	call := Call{Verb: "apply", Kind: asked.GetKind(), Name: asked.GetName()}
	fresh := apierrors.IsNotFound(err)
	if fresh {
		call.Verb = "create"
	}
	return c.do(call, func() error { return c.applied(ctx, config, asked, opts...) })
}

// applied looks again: between the operator's look and its write somebody may have been here.
func (c *Cluster) applied(ctx context.Context, config runtime.ApplyConfiguration, asked *unstructured.Unstructured, opts ...client.ApplyOption) error {
	is := asked.DeepCopy()
	err := c.Others.Get(ctx, client.ObjectKeyFromObject(asked), is)
	if err == nil && asked.GetUID() != "" && asked.GetUID() != is.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Resource: asked.GetKind()}, asked.GetName(), errors.New("uid mismatch"))
	}
	c.store.asked = asked
	again := c.Others.Apply(ctx, config, opts...)
	c.store.asked = nil
	if again != nil || err == nil {
		return again
	}
	made, err := decode(config)
	if err != nil {
		return err
	}
	if err := c.name(ctx, made); err != nil {
		return err
	}
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, config)
}

// Create makes obj as somebody else; it gets a UID.
func (c *Cluster) Create(ctx context.Context, obj client.Object) error {
	if obj.GetUID() == "" {
		obj.SetUID(c.uid())
	}
	return c.Others.Create(ctx, obj, client.FieldOwner("somebody"))
}

func (c *Cluster) uid() types.UID { return types.UID(fmt.Sprintf("uid-%d", c.uids.Add(1))) }

func (c *Cluster) name(ctx context.Context, made *unstructured.Unstructured) error {
	before := made.DeepCopy()
	made.SetUID(c.uid())
	return c.Others.Patch(ctx, made, client.MergeFrom(before), client.FieldOwner("server"))
}

func (c *Cluster) delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	is := obj.DeepCopyObject().(client.Object)
	if err := c.Others.Get(ctx, client.ObjectKeyFromObject(obj), is); err != nil {
		return err
	}
	if p := o.Preconditions; p != nil && p.UID != nil && *p.UID != is.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Resource: c.kind(obj)}, obj.GetName(), errors.New("uid mismatch"))
	}
	return c.Others.Delete(ctx, obj)
}

// decode returns an apply configuration as plain fields.
func decode(config runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(text)
}
