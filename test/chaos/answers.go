package chaos

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

// answers are the actions that a person takes on an object that is not Ready, by the reason of its Ready condition.
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
	// The object was created again while its predecessor was kept, so the predecessor's Secret has no owner.
	v1alpha1.ReasonBindingConflict: func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error {
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: o.GetNamespace(), Name: external.BindingName(k.name, o)}
		if err := w.admin.Get(ctx, key, secret); err != nil || secret.Annotations[v1alpha1.AnnotationKeptFor] == "" {
			return err
		}
		return w.admin.Delete(ctx, secret)
	},
	"DeadLetterQueueMismatch": patching(`{"deadLetterQueue":null}`), // the queue's own setting
	// The deletion policy stopped the instance, and a new object adopted it.
	v1alpha1.ReasonStopped: patching(`{"state":"Running"}`),
	// objects that no longer name this queue
	"SubscribedTo": func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error {
		err := patch(ctx, w.admin, o, `{"deletionPolicy":"Retain"}`)
		w.ledger.deleting(k, o, false)
		return err
	},
	// by the spec
	"DeletionProtected": func(w *world, ctx context.Context, k kind, o *unstructured.Unstructured) error {
		return patch(ctx, w.admin, o, map[string]string{
			v1alpha1.KindEC2Instance: `{"disableApiTermination":false}`,
			v1alpha1.KindRDSInstance: `{"deletionProtection":false}`,
		}[k.name])
	},
	"TerminationProtected":      patching(`{"disableApiTermination":false}`),
	"HostnameNotFound":          (*world).makeMissing,
	"BindingNotFound":           (*world).makeMissing,
	"WaitingForDeadLetterQueue": (*world).makeMissing,
	"WaitingForQueues":          (*world).makeMissing,
	v1alpha1.ReasonNotLetIn:     (*world).letIn,
}

// letIn makes all queues and topics of the object's namespace accept messages from every possible sender there.
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

// nameOf returns the AWS name of an object's resource: from the status, the spec, or a resource with the generated
// name.
func (w *world) nameOf(ctx context.Context, k kind, o *unstructured.Unstructured) (string, error) {
	if id := cmp.Or(field(o, "status", k.id), field(o, "spec", k.named)); id != "" {
		return id, nil
	}
	all, err := w.services[k.name].list(ctx)
	for _, r := range all {
		// bucket names begin with the team's prefix
		if strings.Contains("-"+r.id, "-"+o.GetNamespace()+"-"+o.GetName()+"-") {
			return r.id, nil
		}
	}
	return "", cmp.Or(err, errIdle)
}

// makeMissing creates the objects in a namespace that others can refer to and that do not exist.
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

// refusedToThem are the permanent reasons of an object that requests a resource of another owner.
var refusedToThem = []string{v1alpha1.ReasonAlreadyExists, "NameTakenOrDenied"}

// answer takes the action in answers for each object that waits for a person.
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
