package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/test/campaign"
)

// act is an action of a user on one object.
type act struct {
	name   string
	weight int
	do     func(w *world, ctx context.Context, t *target) error
}

// acts are the actions of users, and of people with access to AWS.
var acts = []act{
	{"edit", 30, (*world).edit},
	{"invalid edit", 8, (*world).editInvalid},
	{"edit that leads astray", 6, (*world).editAstray},
	{"edit taken back", 6, (*world).mend},
	{"delete", 14, (*world).erase},
	{"pause", 3, annotate("portico.dev/paused", "true")},
	{"resume", 5, annotate("portico.dev/paused", "")},
	{"reconcile now", 6, annotate("portico.dev/reconcile-requested-at", "now")},
	{"keep", 6, (*world).keep},
	{"acknowledge", 4, (*world).acknowledge},
	{"drift", 8, (*world).drift},
	{"deleted behind our back", 4, (*world).destroy},
	{"object put into a bucket", 2, (*world).putObject},
	{"trial namespace", 2, (*world).trial},
}

// target is the object of an act.
type target struct {
	kind
	lot             *rand.Rand
	namespace, slot string
	user            client.Client
	now             *unstructured.Unstructured // its current state
}

// pause is the maximum time between two acts.
const pause = 600 * time.Millisecond

// actUntil acts until ctx ends.
func (w *world) actUntil(ctx context.Context) {
	for n := uint64(1); ctx.Err() == nil; n++ {
		lot := rand.New(rand.NewPCG(w.seed, n))
		w.actOnce(ctx, lot)
		_ = campaign.Pause(ctx, rand.N(pause)) // the loop condition checks for the end
	}
}

// actOnce chooses an act and its target at random, and counts the result.
func (w *world) actOnce(ctx context.Context, lot *rand.Rand) {
	k := kinds[weighted(lot, len(kinds), func(i int) int { return kinds[i].weight })]
	a := acts[weighted(lot, len(acts), func(i int) int { return acts[i].weight })]
	place := pick(lot, places)
	t := &target{
		kind: k, lot: lot, namespace: place.namespace, slot: pick(lot, k.slots),
		user: w.users[place.namespace],
	}
	if k.admin {
		t.namespace, t.user = "", w.admin
	}
	t.now = k.object(t.namespace, t.slot)
	name := a.name
	err := w.admin.Get(ctx, client.ObjectKeyFromObject(t.now), t.now)
	switch {
	case apierrors.IsNotFound(err):
		name, err = "create", w.create(ctx, t)
	case err == nil:
		err = a.do(w, ctx, t)
	}
	if ctx.Err() == nil {
		w.counts.add("acts", name)
		w.counts.add("outcomes", outcome(err))
	}
}

// weighted returns one of n at random, by their weights.
func weighted(lot *rand.Rand, n int, weight func(int) int) int {
	sum := 0
	for i := range n {
		sum += weight(i)
	}
	at := lot.IntN(sum)
	for i := range n {
		if at -= weight(i); at < 0 {
			return i
		}
	}
	return n - 1
}

// errIdle is the error of an act that has nothing to do.
var errIdle = errors.New("nothing to do")

// outcome classifies the result of an act for the counts.
func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, errIdle):
		return "nothing to do"
	case apierrors.IsInternalError(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err),
		apierrors.IsServiceUnavailable(err), apierrors.IsTooManyRequests(err):
		return "the API server was away"
	case isAWS(err):
		return "refused by AWS"
	case apierrors.ReasonForError(err) == "":
		return "no answer"
	}
	return "refused"
}

func isAWS(err error) bool {
	_, ok := errors.AsType[smithy.APIError](err)
	return ok
}

const (
	offered = "offered" // adopts a resource that is offered to it
	theirs  = "theirs"  // names a resource of another owner, which does not offer it
)

func (w *world) create(ctx context.Context, t *target) error {
	spec, err := specOf(fill(t.lot, t.spec, t.namespace, t.slot, w.account.zone))
	if err != nil || t.fixed {
		return err
	}
	switch t.slot {
	case theirs:
		spec[t.named] = controlName(t.kind)
		if t.lot.IntN(2) == 0 {
			spec["adoptionPolicy"] = "Adopt"
		}
	case offered:
		name := t.namespace + "-" + offered // the operator's policies allow this name
		spec[t.named], spec["adoptionPolicy"] = name, "Adopt"
		if err := w.offer(ctx, t.kind, t.namespace, t.slot, name); err != nil {
			return err
		}
	}
	o := t.object(t.namespace, t.slot)
	o.Object["spec"] = spec
	if t.name == "AccessBinding" { // a binding for a ServiceAccount that does not exist grants nothing
		hands := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()}}
		if err := w.admin.Create(ctx, hands); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return t.user.Create(ctx, o)
}

// offer creates a resource, if it does not exist, and offers it.
func (w *world) offer(ctx context.Context, k kind, namespace, name, id string) error {
	s := w.services[k.name]
	w.ledger.free(resource{kind: k.name, id: id})
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.id == id {
			return s.tag(ctx, id, map[string]string{"portico.dev/adopt": namespace + "/" + name})
		}
	}
	return s.make(ctx, id, map[string]string{"portico.dev/adopt": namespace + "/" + name})
}

// patchSpec merges a filled spec template into the object's spec.
func (w *world) patchSpec(ctx context.Context, t *target, template string) error {
	if template == "" {
		return errIdle
	}
	spec := fill(t.lot, template, t.namespace, t.slot, w.account.zone)
	return t.user.Patch(ctx, t.now, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)))
}

func (w *world) edit(ctx context.Context, t *target) error {
	if len(t.edits) == 0 {
		return errIdle
	}
	err := w.patchSpec(ctx, t, pick(t.lot, t.edits))
	if err == nil && t.id != "" && t.now.GetDeletionTimestamp() != nil {
		w.ledger.deleting(t.kind, t.now, false)
	}
	return err
}

func (w *world) editInvalid(ctx context.Context, t *target) error {
	if len(t.refused) == 0 {
		return errIdle
	}
	before, template := t.now.GetGeneration(), pick(t.lot, t.refused)
	err := w.patchSpec(ctx, t, template)
	if err == nil && t.now.GetGeneration() != before {
		w.note("%s %s/%s: an edit that is invalid was taken: %s", t.name, t.namespace, t.slot, template)
	}
	return err
}

func (w *world) editAstray(ctx context.Context, t *target) error {
	if len(t.astray) == 0 {
		return errIdle
	}
	return w.patchSpec(ctx, t, pick(t.lot, t.astray))
}

func (w *world) mend(ctx context.Context, t *target) error {
	return w.patchSpec(ctx, t, t.mend)
}
