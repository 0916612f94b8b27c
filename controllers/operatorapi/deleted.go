package operatorapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

// Deleted lists what AWS still has of a namespace's deleted objects.
type Deleted func(ctx context.Context, namespace string) (operatorapi.DeletedList, error)

// deletedTimeout limits one list, over all AWS accounts and regions of a namespace.
const deletedTimeout = 30 * time.Second

func deletedRead(cache *readCache, d Deleted) *awsRead[string, operatorapi.DeletedList] {
	return &awsRead[string, operatorapi.DeletedList]{
		cache: cache, timeout: deletedTimeout, life: liveFor, name: operatorapi.NamespaceDeletedPath,
		namespace: func(namespace string) string { return namespace }, open: always(d),
	}
}

// listDeleted returns what AWS still has of a namespace's deleted objects. An error is a problem of the list.
func (h *handlers) listDeleted(r *http.Request) (any, error) {
	list, err := h.deleted.get(r.Context(), r.PathValue("namespace"))
	out := operatorapi.DeletedList{Items: list.Items, Pending: errors.Is(err, errNotYet)}
	if err != nil && !out.Pending {
		list.Problems = []string{err.Error()}
	}
	for _, problem := range list.Problems {
		out.Problems = append(out.Problems, truncate(problem))
	}
	if out.Items == nil {
		out.Items = []operatorapi.Deleted{}
	}
	return out, nil
}
