package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	fieldManager = "portico"
	// servedWithin bounds the wait for a CRD to be served: it takes a second.
	servedWithin = 30 * time.Second
)

// Step is something that a fix does.
type Step struct {
	Does string // such as create ClusterRole portico-operator
	do   func(context.Context) error
}

// Plan returns the steps that bring the cluster to this version, in order; nothing if it is up to date. It changes
// nothing, and returns an error if a step would lose data that somebody has written.
func (c *Cluster) Plan(ctx context.Context) ([]Step, error) {
	wanted, err := c.installed()
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, o := range wanted {
		step, err := c.step(ctx, o)
		if err != nil {
			return nil, err
		}
		if step != nil {
			steps = append(steps, *step)
		}
	}
	crds, err := c.inStores(ctx)
	if err != nil {
		return nil, err
	}
	for i := range crds {
		one := &crds[i]
		if lost, err := c.losing(ctx, one); err != nil {
			return nil, err
		} else if lost != "" {
			return nil, errors.New(lost + "; use the portico of that version. Nothing was changed")
		}
		if len(one.outdated()) > 0 {
			steps = append(steps, Step{
				"store all " + one.want.Spec.Names.Plural + " as " + storage(&one.want).Name,
				func(ctx context.Context) error {
					return c.storeAnew(ctx, one)
				},
			})
		}
	}
	return steps, nil
}

// Apply executes the plan, and reports each step once it is done.
func (c *Cluster) Apply(ctx context.Context, steps []Step, done func(Step)) error {
	for _, s := range steps {
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.Does, err)
		}
		done(s)
	}
	return nil
}

// rank sorts objects by the order in which they are applied: kinds that are not named come last.
func rank(o *object) int {
	first := []string{"Namespace", "CustomResourceDefinition", "ServiceAccount", "Secret", "ClusterRole", "Role"}
	if at := slices.Index(first, o.GetKind()); at >= 0 {
		return at
	}
	return len(first)
}

// installed returns all objects of this version, in the order in which they are applied.
func (c *Cluster) installed() ([]*object, error) {
	all, err := c.names.rights()
	if err != nil {
		return nil, err
	}
	crds, err := c.names.crds()
	if err != nil {
		return nil, err
	}
	policies, err := c.names.policies()
	if err != nil {
		return nil, err
	}
	all = append(append(all, crds...), policies...)
	own := &object{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{
		"name": c.names.namespace(),
	}}}
	all = append(all, own)
	slices.SortStableFunc(all, func(a, b *object) int { return rank(a) - rank(b) })
	return all, nil
}

// step returns what must be done about one object, or nil if it is up to date.
func (c *Cluster) step(ctx context.Context, want *object) (*Step, error) {
	name := want.GetKind() + " " + want.GetName()
	if want.GetNamespace() != "" {
		name += " in " + want.GetNamespace()
	}
	apply := func(ctx context.Context) error { return c.apply(ctx, want) }
	have, err := c.within(want).Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		if err := c.join(ctx, want); err != nil {
			return nil, err
		}
		if want.GetName() == optionalBinding && want.GetKind() == "ClusterRoleBinding" {
			return c.optional(ctx, apply)
		}
		return &Step{"create " + name, apply}, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	would, err := c.write(ctx, want, have, metav1.DryRunAll)
	if err != nil {
		return nil, fmt.Errorf("try to change %s: %w", name, err)
	}
	if reflect.DeepEqual(settled(have), settled(would)) {
		return nil, nil //nolint:nilnil // it is as it should be
	}
	return &Step{"change " + name, apply}, nil
}

// optional returns the step for the binding that admins may have removed on purpose: it is created by a first
// installation only.
func (c *Cluster) optional(ctx context.Context, apply func(context.Context) error) (*Step, error) {
	operator := &object{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
	}}
	_, err := c.within(operator).Get(ctx, "portico-operator", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &Step{"create ClusterRoleBinding " + optionalBinding, apply}, nil
	}
	return nil, err
}

// settled returns an object without the fields that say who wrote it, and when.
func settled(o *object) map[string]any {
	o = o.DeepCopy()
	for _, key := range []string{"managedFields", "resourceVersion", "generation"} {
		delete(o.Object["metadata"].(map[string]any), key)
	}
	return o.Object
}

// write makes an object what it should be, or with dryRun only says what would become of it. Of a policy nothing of
// others stays, which server-side apply would keep: a selector that leaves namespaces out, or a second action.
func (c *Cluster) write(ctx context.Context, want, have *object, dryRun ...string) (*object, error) {
	if have != nil {
		want = want.DeepCopy()
		sameRelease(want, have)
	}
	if have == nil || want.GroupVersionKind().Group != "admissionregistration.k8s.io" {
		return c.within(want).Apply(ctx, want.GetName(), want, metav1.ApplyOptions{
			FieldManager: fieldManager, Force: true, DryRun: dryRun,
		})
	}
	whole := have.DeepCopy()
	whole.Object["spec"] = want.DeepCopy().Object["spec"]
	labels := whole.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, want.GetLabels())
	whole.SetLabels(labels)
	return c.within(want).Update(ctx, whole, metav1.UpdateOptions{FieldManager: fieldManager, DryRun: dryRun})
}

// apply writes one object. A CRD is waited for, and so are policies that know no schema yet.
func (c *Cluster) apply(ctx context.Context, o *object) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, servedWithin, true,
		func(ctx context.Context) (bool, error) {
			have, err := c.within(o).Get(ctx, o.GetName(), metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return false, err
			}
			got, err := c.write(ctx, o, have)
			if apierrors.IsServiceUnavailable(err) || apierrors.IsConflict(err) {
				return false, nil // a policy that patches a kind does not know its schema yet; or somebody else wrote
			}
			if err != nil || o.GetKind() != "CustomResourceDefinition" {
				return err == nil, err
			}
			served, _ := condition(got, "Established")
			return served, nil
		})
}
