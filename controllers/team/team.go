// Package team reconciles Teams: their namespaces, roles and quotas.
package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps"
)

// Reconciler implements engine.KindReconciler for Team.
type Reconciler struct {
	Client    client.Client // cached
	APIReader client.Reader // uncached
	// System are the namespaces of the platform, which no team can have.
	System []string
	// ClusterNetworks are excluded from the addresses that the Pods of a team can reach.
	ClusterNetworks []netip.Prefix
	Now             func() time.Time
	// Count counts the requested objects in a namespace, by kind.
	Count func(ctx context.Context, namespace string) (map[string]int, error)
}

// Reconcile implements engine.KindReconciler. It runs every step, even after one fails.
func (r Reconciler) Reconcile(ctx context.Context, t *v1alpha1.Team, pass *engine.Pass) error {
	work, err := r.begin(ctx, t, pass)
	if err != nil {
		return err
	}
	list := steps.List{
		{Name: v1alpha1.ConditionNamespaces, Do: work.namespaces},
		{Name: v1alpha1.ConditionAccess, Do: work.access},
		{Name: v1alpha1.ConditionQuotas, Do: work.quotas},
		{Name: v1alpha1.ConditionIsolation, Do: work.isolation},
		{Name: v1alpha1.ConditionHostnames, Do: work.hostnames, Unwanted: t.Spec.Hostnames == nil},
		{Name: v1alpha1.ConditionProviders, Do: work.providers, Unwanted: len(t.Spec.Providers) == 0},
		{Name: v1alpha1.ConditionDeployers, Do: work.accounts, Unwanted: len(t.Spec.Deployers) == 0},
	}
	err = list.ReconcileAll(ctx, pass)
	return errors.Join(err, r.count(ctx, t, work.kept))
}

// pass is one reconciliation of one Team.
type pass struct {
	Reconciler
	team    *v1alpha1.Team
	pass    *engine.Pass
	objects *apply.Objects
	// kept are the namespaces that belong to the team.
	kept []string
	// offered are the AWSProviders that the team lists.
	offered []v1alpha1.AWSProvider
	// deployers are those that the DeployPolicy allows, and refusal is why it does not allow another one.
	deployers  []*v1alpha1.TeamDeployer
	conditions map[string]string // of each, as the annotation of its account has them
	refusal    error
}

func (r Reconciler) begin(ctx context.Context, t *v1alpha1.Team, p *engine.Pass) (*pass, error) {
	objects, err := apply.Applier{Client: r.Client, APIReader: r.APIReader}.For(t, p)
	if err != nil {
		return nil, err
	}
	work := &pass{Reconciler: r, team: t, pass: p, objects: objects}
	return work, errors.Join(work.readProviders(ctx), work.readDeployers(ctx))
}

// count writes the number of members, and of resources in each namespace, into the status.
func (r Reconciler) count(ctx context.Context, t *v1alpha1.Team, kept []string) error {
	all := make([]v1alpha1.TeamNamespaceStatus, 0, len(kept))
	total := 0
	for _, name := range slices.Sorted(slices.Values(kept)) {
		kinds, err := r.Count(ctx, name)
		if err != nil {
			return fmt.Errorf("count the resources of %s: %w", name, err)
		}
		held := 0
		for _, n := range kinds {
			held += n
		}
		total += held
		all = append(all, v1alpha1.TeamNamespaceStatus{Name: name, Resources: int32(held)})
	}
	t.Status.Namespaces, t.Status.Resources = all, int32(total)
	t.Status.Members = int32(len(t.Spec.Members)) //nolint:gosec // at most 200
	return nil
}

// Finalize implements engine.KindReconciler. It blocks while the team has resources. The namespaces stay: Kubernetes
// would delete everything in them, much of which Portico does not know.
func (r Reconciler) Finalize(ctx context.Context, t *v1alpha1.Team, p *engine.Pass) error {
	work, err := r.begin(ctx, t, p)
	if err != nil {
		return err
	}
	metas, err := r.namespacesOf(ctx, r.APIReader, t)
	if err != nil {
		return err
	}
	var held []string
	for i := range metas {
		kinds, err := r.Count(ctx, metas[i].Name)
		if err != nil {
			return fmt.Errorf("count the resources of %s: %w", metas[i].Name, err)
		}
		held = append(held, listed(metas[i].Name, kinds)...)
	}
	if len(held) > 0 {
		return engine.Blocked(v1alpha1.ReasonInUse, "the team still has resources, and stays with its namespaces "+
			"until they are deleted: %s", strings.Join(held, ", "))
	}
	for i := range metas {
		if err := work.release(ctx, &metas[i]); err != nil {
			return err
		}
	}
	work.deployers = nil
	return errors.Join(work.unbindTeam(ctx), work.removeAccounts(ctx))
}

// listed returns the resources in a namespace as text, for example "2 S3Bucket in growth".
func listed(namespace string, kinds map[string]int) []string {
	var all []string
	for kind, n := range kinds {
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s in %s", n, kind, namespace))
		}
	}
	slices.Sort(all)
	return all
}

// firstError keeps the first of several errors about different namespaces, and counts the others.
type firstError struct {
	first error
	more  int
}

func (f *firstError) add(err error) {
	switch {
	case err == nil:
	case f.first == nil:
		f.first = err
	default:
		f.more++
	}
}

func (f *firstError) err() error {
	if f.more == 0 {
		return f.first
	}
	if wait, ok := engine.AsWait(f.first); ok {
		again := *wait
		again.Err = fmt.Errorf("%w (and %d more)", wait.Err, f.more)
		return &again
	}
	return f.first
}

// each calls do for each namespace of the team, and continues after an error.
func (p *pass) each(ctx context.Context, do func(ctx context.Context, namespace string) error) error {
	var failed firstError
	for _, name := range p.kept {
		failed.add(do(ctx, name))
	}
	return failed.err()
}

// in returns "in growth", or "in 3 namespaces".
func (p *pass) in() string {
	if len(p.kept) == 1 {
		return "in " + p.kept[0]
	}
	return fmt.Sprintf("in %d namespaces", len(p.kept))
}

// namespacesOf returns the namespaces that belong to the team according to the annotation that admission guards.
func (r Reconciler) namespacesOf(ctx context.Context, from client.Reader, t *v1alpha1.Team) (
	[]metav1.PartialObjectMetadata, error,
) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(namespaceKind.GroupVersion().WithKind("NamespaceList"))
	if err := from.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list the namespaces of the team: %w", err)
	}
	kept := slices.DeleteFunc(list.Items, func(ns metav1.PartialObjectMetadata) bool {
		return ns.Annotations[v1alpha1.AnnotationTeamUID] != string(t.UID)
	})
	slices.SortFunc(kept, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(a.Name, b.Name) })
	return kept, nil
}
