// Package fair shares common resources among teams in turns: the workers of a kind, and the rate of calls to AWS. A
// team with few requests waits for at most one turn of each other waiting team, however many requests those have, and a
// single team can use all capacity that no other team needs.
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

// Platform is the team of work that belongs to no team: cluster-scoped objects, sweeps.
const Platform = ""

// Several is the team of work that is done once for several teams. No real team has this name: a label value has no
// slash.
const Several = "/several"

type teamKey struct{}

// WithTeam returns a context whose work is counted for the team.
func WithTeam(ctx context.Context, team string) context.Context {
	return context.WithValue(ctx, teamKey{}, team)
}

// TeamOf returns the team set by WithTeam, or Platform without one.
func TeamOf(ctx context.Context) string {
	team, _ := ctx.Value(teamKey{}).(string)
	return team
}

// Joint returns the team of work that is done for both teams: the team if they are the same, else Several.
func Joint(one, other string) string {
	if one == other {
		return one
	}
	return Several
}

// Teams maps namespaces to teams, by an informer. It never waits: a namespace that the informer has not delivered
// counts as a team of its own. Safe for concurrent use; a nil Teams maps every namespace to itself.
type Teams struct {
	mu          sync.RWMutex
	byNamespace map[string]string
}

// WatchTeams returns Teams that follow the namespaces in the cache. The cache need not be started yet.
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

// Of returns the team of a namespace; Platform for an empty namespace.
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

// seen records the namespace's team if it differs from the namespace's own name, the default.
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
