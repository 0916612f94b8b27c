// Package stepstest holds the laws that every list of steps over Kubernetes objects must satisfy, and the fake cluster
// in which they are tested.
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
	Live bool   // an uncached read
}

// Write reports whether the call changes something.
func (c Call) Write() bool { return c.Verb != "get" && c.Verb != "list" }

func (c Call) String() string { return c.Verb + " " + c.Kind + " " + c.Name }

// Cluster is a fake API server that adds to the fake client: UIDs and their preconditions, an incomplete cache, a
// journal of calls, and faults.
type Cluster struct {
	// Others reads and writes as anybody but the operator. Its calls are not in the journal and never fail on purpose.
	Others client.WithWatch
	// Cached reports whether the operator's cache holds the object; nil: it holds every object.
	Cached func(client.Object) bool
	// Before can fail a call before it has an effect, After once it had its effect.
	Before, After func(Call) error

	store   *tracker
	journal []Call
	uids    atomic.Int64
}

// NewCluster returns a Cluster with the types of a scheme. build may add indexes and objects; it may be nil.
func NewCluster(of *runtime.Scheme, build func(*fake.ClientBuilder)) *Cluster {
	store := newTracker(of)
	b := fake.NewClientBuilder().WithScheme(of).WithObjectTracker(
		store).WithReturnManagedFields().WithGlobalResourceVersionCounter()
	if build != nil {
		build(b)
	}
	return &Cluster{Others: b.Build(), store: store}
}

// Client returns the operator's client, which reads from the cache.
func (c *Cluster) Client() client.WithWatch { return c.client(false) }

// APIReader returns the operator's uncached reader.
func (c *Cluster) APIReader() client.Reader { return c.client(true) }

func (c *Cluster) client(live bool) client.WithWatch {
	return interceptor.NewClient(c.Others, interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object,
			opts ...client.GetOption,
		) error {
			return c.do(Call{"get", c.kind(obj), key.Name, live}, func() error {
				return c.get(ctx, key, obj, live, opts...)
			})
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return c.do(Call{"list", c.kind(list), "", live}, func() error { return c.Others.List(ctx, list, opts...) })
		},
		Apply: c.apply,
		Patch: func(ctx context.Context, _ client.WithWatch, obj client.Object, p client.Patch,
			opts ...client.PatchOption,
		) error {
			return c.do(Call{"patch", c.kind(obj), obj.GetName(), live}, func() error {
				return c.Others.Patch(ctx, obj, p, opts...)
			})
		},
		SubResourcePatch: func(ctx context.Context, _ client.Client, sub string, obj client.Object, p client.Patch,
			opts ...client.SubResourcePatchOption,
		) error {
			return c.do(Call{sub, c.kind(obj), obj.GetName(), live}, func() error {
				return c.Others.SubResource(sub).Patch(ctx, obj, p, opts...)
			})
		},
		Delete: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return c.do(Call{"delete", c.kind(obj), obj.GetName(), live}, func() error {
				return c.delete(ctx, obj, opts...)
			})
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

// errNotSupported is returned for verbs that the operator does not use: it creates, applies, patches and deletes
// objects one by one.
var errNotSupported = errors.New("not a verb of the operator")

// do runs effect and records the call in the journal if it succeeds, unless Before fails it first.
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

// Writes returns the calls that had an effect since the last Forget, in order.
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

func (c *Cluster) get(ctx context.Context, key client.ObjectKey, obj client.Object, live bool,
	opts ...client.GetOption,
) error {
	if err := c.Others.Get(ctx, key, obj, opts...); err != nil {
		return err
	}
	if !live && c.Cached != nil && !c.Cached(obj) {
		return apierrors.NewNotFound(schema.GroupResource{Resource: c.kind(obj)}, key.Name)
	}
	return nil
}

// apply runs an apply call, recorded as "create" if the object does not exist.
func (c *Cluster) apply(ctx context.Context, _ client.WithWatch, config runtime.ApplyConfiguration,
	opts ...client.ApplyOption,
) error {
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

// applied reads the object again, since Before may have changed it, checks the UID, applies, and gives a new object a
// UID.
func (c *Cluster) applied(ctx context.Context, config runtime.ApplyConfiguration, asked *unstructured.Unstructured,
	opts ...client.ApplyOption,
) error {
	is := asked.DeepCopy()
	err := c.Others.Get(ctx, client.ObjectKeyFromObject(asked), is)
	if err == nil && asked.GetUID() != "" && asked.GetUID() != is.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{Resource: asked.GetKind()}, asked.GetName(),
			errors.New("uid mismatch"))
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

// Create creates obj as another client; it gets a UID.
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
		return apierrors.NewConflict(schema.GroupResource{Resource: c.kind(obj)}, obj.GetName(),
			errors.New("uid mismatch"))
	}
	return c.Others.Delete(ctx, obj)
}

// decode returns an apply configuration as unstructured fields.
func decode(config runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(text)
}
