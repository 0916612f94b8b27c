package team

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
)

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// Labels of namespaces that are not Portico's own.
const (
	labelPodSecurity = "pod-security.kubernetes.io/enforce"
	labelPodWarning  = "pod-security.kubernetes.io/warn"
)

// Labels and annotations that a team owns on its namespaces: admission lets the operator write these and no others.
var (
	teamLabels = []string{
		v1alpha1.LabelTeam, v1alpha1.LabelAWS, v1alpha1.LabelEnvironment,
		v1alpha1.LabelConfirmDeletion,
	}
	keptLabels      = slices.Concat(teamLabels, []string{labelPodSecurity, labelPodWarning})
	keptAnnotations = []string{
		v1alpha1.AnnotationTeamUID, v1alpha1.AnnotationDefaultProvider,
		v1alpha1.AnnotationGuardrails,
	}
)

// soon is the delay before another look at a namespace that was changed concurrently, or is being deleted.
const soon = 2 * time.Second

// namespaces creates or adopts the namespaces in the spec, and releases those no longer in it.
func (p *pass) namespaces(ctx context.Context) (string, error) {
	var failed firstError
	names := p.team.NamespaceNames()
	for _, name := range names {
		err := p.namespace(ctx, name)
		if err == nil {
			p.kept = append(p.kept, name)
		}
		failed.add(err)
	}
	have, err := p.namespacesOf(ctx, p.Client, p.team)
	failed.add(err)
	for i := range have {
		if !slices.Contains(names, have[i].Name) || have[i].Labels[v1alpha1.LabelTeam] != p.team.Name {
			failed.add(p.release(ctx, &have[i]))
		}
	}
	return "the team has " + strings.Join(names, ", "), failed.err()
}

// namespace creates or adopts one namespace for the team.
func (p *pass) namespace(ctx context.Context, name string) error {
	if slices.Contains(p.System, name) {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "%s is a namespace of the platform, and no team can have "+
			"it; choose another name in spec.namespaces", name)
	}
	ns, found, err := readNamespace(ctx, p.Client, name)
	if err != nil {
		return err
	}
	if !found { // or the cache is stale
		if ns, found, err = readNamespace(ctx, p.APIReader, name); err != nil {
			return err
		}
	}
	if !found {
		return p.create(ctx, name)
	}
	if err := p.whyNotOurs(ns); err != nil {
		return err
	}
	labels, notes := p.marks(name, ns.Labels)
	return p.mark(ctx, ns, labels, replaced(ns.Annotations, keptAnnotations, notes))
}

// whyNotOurs returns why an existing namespace must be left alone, or nil. Its label is the consent: only admins can
// write it.
func (p *pass) whyNotOurs(ns *metav1.PartialObjectMetadata) error {
	owner, labelled := ns.Labels[v1alpha1.LabelTeam]
	switch {
	case ns.DeletionTimestamp != nil:
		return engine.Wait(v1alpha1.ReasonWaitingForDeletion, soon, "the namespace %s is being deleted; it is "+
			"created again when it is gone", ns.Name)
	case owner == p.team.Name:
		return nil
	case labelled && owner != "":
		return engine.Blocked(v1alpha1.ReasonNamespaceOfAnotherTeam, "the namespace %s belongs to the team %s; "+
			"choose another name in spec.namespaces, or take it out of that team first", ns.Name, owner)
	}
	return engine.Blocked(v1alpha1.ReasonNamespaceNotGiven, "the namespace %s exists already, and Portico takes none "+
		"without consent; choose another name in spec.namespaces, or give it to the team: kubectl label namespace "+
		"%s %s=%s",
		ns.Name, ns.Name, v1alpha1.LabelTeam, p.team.Name)
}

// marks returns the labels of the team's namespace, including those that others set, and the annotations that the team
// sets.
func (p *pass) marks(name string, have map[string]string) (labels, notes map[string]string) {
	spec := &p.team.Spec
	level := strings.ToLower(string(spec.Isolation.PodSecurity))
	labels = map[string]string{v1alpha1.LabelTeam: p.team.Name, labelPodSecurity: level, labelPodWarning: level}
	notes = map[string]string{v1alpha1.AnnotationTeamUID: string(p.team.UID)}
	if len(spec.Providers) > 0 {
		labels[v1alpha1.LabelAWS] = v1alpha1.AWSAllowed
	}
	if spec.Defaults != nil && spec.Defaults.Provider != "" {
		notes[v1alpha1.AnnotationDefaultProvider] = spec.Defaults.Provider
	}
	for _, one := range spec.Namespaces {
		if one.Name != name {
			continue
		}
		if one.Environment != "" {
			labels[v1alpha1.LabelEnvironment] = string(one.Environment)
		}
		if one.ConfirmDeletion {
			labels[v1alpha1.LabelConfirmDeletion] = v1alpha1.ConfirmRequired
		}
	}
	labels = replaced(have, keptLabels, labels)
	notes[v1alpha1.AnnotationGuardrails] = guardrails.Note(p.team, p.usable(labels)...)
	return labels, notes
}

// create uses Create instead of an apply, which would adopt a namespace that somebody created at the same moment.
func (p *pass) create(ctx context.Context, name string) error {
	labels, notes := p.marks(name, nil)
	notes[v1alpha1.AnnotationCreatedForTeam] = p.team.Name
	if err := p.pass.SaveStatus(ctx); err != nil {
		return err
	}
	p.pass.RecordPlan(engine.PlannedAction{Name: "Create Namespace", Why: "there is no " + name})
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: notes}}
	err := p.Client.Create(ctx, ns, client.FieldOwner(apply.FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return engine.Wait(v1alpha1.ReasonMadeAtTheSameTime, soon, "the namespace %s was created by somebody else at "+
			"the same time", name)
	}
	if err != nil {
		return refused(err, "create the namespace %s", name)
	}
	p.pass.Normal(v1alpha1.ReasonCreated, "CreateNamespace", "the namespace %s", name)
	return nil
}

// mark writes these labels and annotations to the namespace if they differ.
func (p *pass) mark(ctx context.Context, ns *metav1.PartialObjectMetadata, labels, notes map[string]string) error {
	if maps.Equal(ns.Labels, labels) && maps.Equal(ns.Annotations, notes) {
		return nil
	}
	before := ns.DeepCopy()
	ns.Labels, ns.Annotations = labels, notes
	if err := p.pass.SaveStatus(ctx); err != nil {
		return err
	}
	diffs := strings.Join(append(differing(before.Labels, ns.Labels), differing(before.Annotations, ns.Annotations)...),
		", ")
	p.pass.RecordPlan(engine.PlannedAction{Name: "Update Namespace", Why: ns.Name + ": " + diffs})
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Patch(ctx, ns, patch, client.FieldOwner(apply.FieldManager)); err != nil {
		return refused(err, "label the namespace %s", before.Name)
	}
	p.pass.Normal(v1alpha1.ReasonUpdated, "UpdateNamespace", "the namespace %s: %s", before.Name, diffs)
	return nil
}

// replaced returns a copy of all in which keys have the values of want, and keys that want lacks are removed.
func replaced(all map[string]string, keys []string, want map[string]string) map[string]string {
	out := maps.Clone(all)
	if out == nil {
		out = map[string]string{}
	}
	maps.DeleteFunc(out, func(k, _ string) bool { return slices.Contains(keys, k) })
	maps.Copy(out, want)
	return out
}

// differing returns the keys whose values differ, sorted.
func differing(a, b map[string]string) []string {
	keys := map[string]bool{}
	for k, v := range a {
		if other, ok := b[k]; !ok || other != v {
			keys[k] = true
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			keys[k] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// release removes the team's labels, annotations and objects from a namespace. Everything else in it stays.
func (p *pass) release(ctx context.Context, ns *metav1.PartialObjectMetadata) error {
	for _, obj := range made(ns.Name) {
		if err := p.objects.Delete(ctx, obj); err != nil {
			return err
		}
	}
	labels := ns.Labels
	// If the label names another team, the labels are that team's now.
	if owner := labels[v1alpha1.LabelTeam]; owner == "" || owner == p.team.Name {
		labels = replaced(labels, teamLabels, nil)
	}
	if err := p.mark(ctx, ns, labels, replaced(ns.Annotations, keptAnnotations, nil)); err != nil {
		return err
	}
	p.pass.Normal(v1alpha1.ReasonNamespaceReleased, "ReleaseNamespace", "the namespace %s belongs to the team no "+
		"more; everything that was requested in it stays", ns.Name)
	return nil
}

func readNamespace(ctx context.Context, from client.Reader, name string) (*metav1.PartialObjectMetadata, bool, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(namespaceKind)
	err := from.Get(ctx, client.ObjectKey{Name: name}, ns)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the namespace %s: %w", name, err)
	}
	return ns, true, nil
}

// refused turns a rejection by the API server into a WaitError.
func refused(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return engine.Wait(v1alpha1.ReasonChangedAtTheSameTime, soon, "%s: it was changed by somebody else at the "+
			"same time", what)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err):
		return engine.Blocked(v1alpha1.ReasonRefused, "the cluster refuses to %s: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
