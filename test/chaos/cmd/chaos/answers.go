package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// answers are what people do about what waits for them, by the reason.
var answers = map[string]func(*world, context.Context, kind, *unstructured.Unstructured) error{
	v1alpha1.ReasonExternallyDeleted: func(w *world, ctx context.Context, _ kind, o *unstructured.Unstructured) error {
		return acknowledge(ctx, w.admin, o)
	},
	v1alpha1.ReasonAlreadyExists: func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error {
		if k.named == "" {
			return nil
		}
		id, err := w.nameOf(ctx, k, o)
		if err == nil {
			err = w.offer(ctx, k, o.GetNamespace(), o.GetName(), id)
		}
		if err != nil {
			return err
		}
		return patch(ctx, w.admin, o, `{"adoptionPolicy":"Adopt"}`)
	},
	// Somebody made one while the one before was to be kept, whose Secret is nobody's now.
	v1alpha1.ReasonBindingConflict: func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: o.GetNamespace(), Name: external.BindingName(k.name, o)}
		if err := w.admin.Get(ctx, key, secret); err != nil || secret.Annotations[v1alpha1.AnnotationKeptFor] == "" {
			return err
		}
		return w.admin.Delete(ctx, secret)
	},
	"DeadLetterQueueMismatch": patching(`{"deadLetterQueue":null}`), // its own
	// It was stopped as its deletion policy said, and found again.
	v1alpha1.ReasonStopped: patching(`{"state":"Running"}`),
	"SubscribedTo": func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error { // by whoever names it no more
		err := patch(ctx, w.admin, o, `{"deletionPolicy":"Retain"}`)
		w.ledger.deleting(k, o, false)
		return err
	},
	"DeletionProtected": func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error { // by its spec
		return patch(ctx, w.admin, o, map[string]string{
			v1alpha1.KindEC2Instance: `{"disableApiTermination":false}`, v1alpha1.KindRDSInstance: `{"deletionProtection":false}`,
		}[k.name])
	},
	"TerminationProtected":      patching(`{"disableApiTermination":false}`),
	"HostnameNotFound":          (*world).makeMissing,
	"BindingNotFound":           (*world).makeMissing,
	"WaitingForDeadLetterQueue": (*world).makeMissing,
	"WaitingForQueues":          (*world).makeMissing,
	v1alpha1.ReasonNotLetIn:     (*world).letIn,
}

// letIn has the queues and topics of a namespace let in all that can send to them.
func (w *world) letIn(ctx context.Context, _ kind, o *unstructured.Unstructured) error {
	for _, k := range kinds {
		spec := map[string]string{v1alpha1.KindSQSQueue: everybody, v1alpha1.KindSNSTopic: allBuckets}[k.name]
		if spec == "" {
			continue
		}
		all, err := w.objects(ctx, k)
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].GetNamespace() != o.GetNamespace() {
				continue
			}
			if err := patch(ctx, w.admin, &all[i], spec); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// nameOf returns the name in AWS that an object asks for: what it has, or what Portico picks for it.
func (w *world) nameOf(ctx context.Context, k kind, o *unstructured.Unstructured) (string, error) {
	if id := cmp.Or(field(o, "status", k.id), field(o, "spec", k.named)); id != "" {
		return id, nil
	}
	all, err := w.services[k.name].list(ctx)
	for _, r := range all {
		if strings.Contains("-"+r.id, "-"+o.GetNamespace()+"-"+o.GetName()+"-") { // buckets have the prefix of their team in front
			return r.id, nil
		}
	}
	return "", cmp.Or(err, errIdle)
}

// makeMissing makes what others may name in a namespace, where it is not there.
func (w *world) makeMissing(ctx context.Context, _ kind, o *unstructured.Unstructured) error {
	lot := rand.New(rand.NewPCG(w.seed, 1<<42))
	for _, k := range kinds {
		for _, slot := range k.slots {
			t := &target{kind: k, lot: lot, namespace: o.GetNamespace(), slot: slot, user: w.admin}
			if k.admin || slot == theirs || slot == offered {
				continue
			}
			if err := w.create(ctx, t); err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("%s %s: %w", k.name, slot, err)
			}
		}
	}
	return nil
}

func patching(spec string) func(*world, context.Context, kind, *unstructured.Unstructured) error {
	return func(w *world, ctx context.Context, _ kind, o *unstructured.Unstructured) error {
		return patch(ctx, w.admin, o, spec)
	}
}

func patch(ctx context.Context, c client.Client, o *unstructured.Unstructured, spec string) error {
	return c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)))
}

// refusedToThem are the reasons for ever of what asks for a resource of somebody else.
var refusedToThem = []string{v1alpha1.ReasonAlreadyExists, "NameTakenOrDenied"}

// answer does what people do.
func (w *world) answer(ctx context.Context) error {
	for _, k := range kinds {
		all, err := w.objects(ctx, k)
		if err != nil {
			return err
		}
		for i := range all {
			reason := ready(&all[i]).Reason
			do := answers[reason]
			if do == nil || all[i].GetName() == theirs && slices.Contains(refusedToThem, reason) {
				continue
			}
			if err := do(w, ctx, k, &all[i]); client.IgnoreNotFound(err) != nil {
				reason = fmt.Sprintf("%s (failed: %v)", reason, err)
			}
			w.counts.add("answers", reason)
		}
	}
	return nil
}
