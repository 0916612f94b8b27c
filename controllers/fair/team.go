// Package fair shares what all teams use, the workers of a kind and the rate of calls to AWS, in turns: a team that
// asks for little waits for one turn of each other team that waits, however much those ask for, and what nobody else
// wants a single team may use up.
package fair

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Platform is the share of what belongs to no team: cluster-scoped objects, sweeps.
const Platform = ""

// Several is the share of work that is done once for several teams. No team has this name: a label has no slash.
const Several = "/several"

type teamKey struct{}

// WithTeam returns a context whose work counts as the team's.
func WithTeam(ctx context.Context, team string) context.Context {
	return context.WithValue(ctx, teamKey{}, team)
}

// TeamOf returns what WithTeam said; without it, Platform.
func TeamOf(ctx context.Context) string {
	team, _ := ctx.Value(teamKey{}).(string)
	return team
}

// Joint returns whose work it is that is done for both: a team's if both are the same, else Several.
func Joint(one, other string) string {
	if one == other {
		return one
	}
	return Several
}

// Teams knows which team each namespace belongs to, by an informer. It never waits: a namespace that it does not know
// yet is a team of its own. Safe for concurrent use; a nil Teams knows none.
type Teams struct {
	mu          sync.RWMutex
	byNamespace map[string]string
}

// WatchTeams returns Teams that follow the namespaces in the cache, which need not run yet.
func WatchTeams(ctx context.Context, informers cache.Informers) (*Teams, error) {
	namespaces := &metav1.PartialObjectMetadata{}
	namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	informer, err := informers.GetInformer(ctx, namespaces, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch namespaces for their teams: %w", err)
	}
	t := &Teams{}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    t.seen,
		UpdateFunc: func(_, is any) { t.seen(is) },
		DeleteFunc: t.gone,
	})
	if err != nil {
		return nil, fmt.Errorf("watch namespaces for their teams: %w", err)
	}
	return t, nil
}

// Of returns the team of a namespace; of none, Platform.
func (t *Teams) Of(namespace string) string {
	if t == nil || namespace == "" {
		return namespace
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if team, ok := t.byNamespace[namespace]; ok {
		return team
	}
	return namespace
}

// seen keeps what differs from the rule for those that are not known.
func (t *Teams) seen(obj any) {
	namespace, ok := obj.(metav1.Object)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byNamespace == nil {
		t.byNamespace = map[string]string{}
	}
	if team := v1alpha1.TeamOf(namespace); team != namespace.GetName() {
		t.byNamespace[namespace.GetName()] = team
		return
	}
	delete(t.byNamespace, namespace.GetName())
}

func (t *Teams) gone(obj any) {
	if missed, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = missed.Obj
	}
	if namespace, ok := obj.(metav1.Object); ok {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.byNamespace, namespace.GetName())
	}
}
