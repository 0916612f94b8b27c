package operatorapi

import (
	"context"
	"net/http"
	"time"

	"github.com/portico-platform/portico/api/expiring"
	"github.com/portico-platform/portico/api/operatorapi"
)

// Deleted lists what AWS still has of a namespace's deleted objects; deleted.Lists implements it.
type Deleted interface {
	List(ctx context.Context, namespace string) (operatorapi.DeletedList, error)
}

const (
	// deletedTimeout limits one list, over all AWS accounts and regions of a namespace.
	deletedTimeout = 30 * time.Second
	deletedKept    = 256
)

type namespaceKey string

func (k namespaceKey) String() string { return string(k) }

func newDeletedLooks(now func() time.Time) *looks[namespaceKey, operatorapi.DeletedList] {
	return &looks[namespaceKey, operatorapi.DeletedList]{
		timeout: deletedTimeout, recent: expiring.New[namespaceKey, operatorapi.DeletedList](deletedKept, now),
	}
}

func (h handlers) listDeleted(w http.ResponseWriter, r *http.Request) {
	namespace := r.PathValue("namespace")
	answer, answered := h.deletedLooks.get(r.Context(), namespaceKey(namespace),
		func(ctx context.Context) operatorapi.DeletedList {
			return h.deletedOf(ctx, namespace)
		})
	if !answered {
		answer.Pending = true
	}
	if answer.Items == nil {
		answer.Items = []operatorapi.Deleted{}
	}
	writeJSON(w, answer)
}

func (h handlers) deletedOf(ctx context.Context, namespace string) operatorapi.DeletedList {
	done, err := h.listSlots.Take(h.forTeam(ctx, namespace))
	if err != nil {
		return operatorapi.DeletedList{Problems: []string{listsBusy}}
	}
	defer done()
	list, err := h.deleted.List(ctx, namespace)
	if err != nil {
		return operatorapi.DeletedList{Problems: []string{truncate(err.Error())}}
	}
	for i, problem := range list.Problems {
		list.Problems[i] = truncate(problem)
	}
	return list
}
