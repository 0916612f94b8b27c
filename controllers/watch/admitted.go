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

// Admitter is an object that lets others of its namespace in, such as a queue the topics that may send to it. It works
// without them: unlike a Referrer it does not use them.
type Admitter interface {
	client.Object
	Admitted() []v1alpha1.ObjectRef
}

// admittedIndex finds the objects of a kind in the cache by what they let in, as ReferenceKey writes it.
const admittedIndex = "admitted"

// IndexAdmitted makes the objects of a kind findable by what they let in.
func IndexAdmitted(ctx context.Context, mgr ctrl.Manager, proto Admitter) error {
	return Index(ctx, mgr, proto, admittedIndex, func(obj client.Object) (all []string) {
		for _, r := range obj.(Admitter).Admitted() {
			all = append(all, ReferenceKey(r.Kind, r.Name))
		}
		return all
	})
}

// AdmittedRef says that objects of one kind follow those of another that they let in; see Admitter.
type AdmittedRef struct {
	From Admitter            // of the kind that lets in
	To   client.Object       // of the kind that is let in
	When predicate.Predicate // updates of what is let in that wake those that do
}

// Watch wakes the objects that let in what has changed, come or gone.
func (r AdmittedRef) Watch(b *builder.Builder, mgr ctrl.Manager) {
	kind := KindOf(mgr, r.To)
	b.Watches(r.To, EnqueueMatching(mgr, r.From, func(changed client.Object) client.ListOption {
		return &client.ListOptions{
			Namespace: changed.GetNamespace(), FieldSelector: fields.OneTermEqualSelector(admittedIndex,
				ReferenceKey(kind, changed.GetName())),
		}
	}), builder.WithPredicates(r.When))
}
