package watch

import (
	"context"

	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Admitter is an object that admits others of its namespace, such as a queue that admits topics which send to it.
// Unlike a Referrer it works without them.
type Admitter interface {
	client.Object
	Admitted() []v1alpha1.ObjectRef
}

// admittedIndex is the cache index of objects by what they admit, with ReferenceKey values.
const admittedIndex = "admitted"

// IndexAdmitted indexes the objects of a kind by what they admit.
func IndexAdmitted(ctx context.Context, mgr ctrl.Manager, proto Admitter) error {
	return Index(ctx, mgr, proto, admittedIndex, func(obj client.Object) (all []string) {
		for _, r := range obj.(Admitter).Admitted() {
			all = append(all, ReferenceKey(r.Kind, r.Name))
		}
		return all
	})
}

// AdmittedRef watches objects of one kind for those of another that admit them; see Admitter.
type AdmittedRef struct {
	From Admitter            // the kind that admits
	To   client.Object       // the kind that is admitted
	When predicate.Predicate // which changes of To enqueue the objects that admit it
}

// Watch enqueues the objects that admit the changed object.
func (r AdmittedRef) Watch(b *builder.Builder, mgr ctrl.Manager) {
	kind := KindOf(mgr, r.To)
	b.Watches(r.To, EnqueueMatching(mgr, r.From, func(changed client.Object) client.ListOption {
		return &client.ListOptions{
			Namespace: changed.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(admittedIndex,
				ReferenceKey(kind, changed.GetName())),
		}
	}), builder.WithPredicates(r.When))
}
