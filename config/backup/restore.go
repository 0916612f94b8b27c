package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
)

const fieldManager = "portico"

// Step is something that a restoration does.
type Step struct {
	Does string // such as create Namespace payments
	do   func(context.Context) error
}

// Plan is what brings the backup into a cluster.
type Plan struct {
	Steps []Step
	// Kept are objects that are there and differ from the backup: they are newer, and stay.
	Kept []string
}

// ErrOperatorRuns is why nothing is restored: the operator would give places and hostnames away before all is there.
var ErrOperatorRuns = errors.New("the operator runs in this cluster, and would act on half of what is restored")

// Plan compares the backup with the cluster and changes nothing. With overwrite, objects that differ get the backup's
// content.
func (c *Cluster) Plan(ctx context.Context, b *Backup, overwrite bool) (*Plan, error) {
	known, err := kinds()
	if err != nil {
		return nil, err
	}
	plan := &Plan{}
	for _, want := range b.Objects {
		k, _ := find(known, want) // Read has looked
		all := c.within(k, want)
		have, err := all.Get(ctx, want.GetName(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			plan.add("create", want, func(ctx context.Context) error {
				_, err := all.Create(ctx, want, metav1.CreateOptions{
					FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict,
				})
				return err
			})
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", nameOf(want), err)
		default:
			plan.compare(all, want, have, overwrite)
		}
	}
	if len(plan.Steps) == 0 {
		return plan, nil
	}
	return plan, c.atRest(ctx)
}

func (c *Cluster) within(k kind, o *object) dynamic.ResourceInterface {
	if k.namespaced {
		return c.objects.Resource(k.GroupVersionResource).Namespace(o.GetNamespace())
	}
	return c.objects.Resource(k.GroupVersionResource)
}

// atRest returns ErrOperatorRuns unless there is no operator, or its Deployment has no replicas.
func (c *Cluster) atRest(ctx context.Context) error {
	found, err := c.deployment(ctx)
	if err != nil || found == nil {
		return err
	}
	if replicas, set, _ := unstructured.NestedInt64(found.Object, "spec", "replicas"); set && replicas == 0 {
		return nil
	}
	return ErrOperatorRuns
}

func (p *Plan) add(verb string, o *object, do func(context.Context) error) {
	p.Steps = append(p.Steps, Step{verb + " " + nameOf(o), patient(do)})
}

// settling is how long the API server may need until it takes objects of a kind that was brought a moment ago.
const settling = 30 * time.Second

// patient repeats what the API server says it cannot do yet.
func patient(do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		var last error
		err := wait.PollUntilContextTimeout(ctx, time.Second, settling, true, func(ctx context.Context) (bool, error) {
			last = do(ctx)
			return !apierrors.IsServiceUnavailable(last), nil
		})
		if last != nil {
			return last
		}
		return err
	}
}

// compare plans for an existing object: it stays unchanged, except for the annotation with its former identity if that
// is missing.
func (p *Plan) compare(all dynamic.ResourceInterface, want, have *object, overwrite bool) {
	former := missing(want, have)
	if same(want, have) {
		if former != "" {
			p.add("name the former UID of", want, annotating(all, want, former))
		}
		return
	}
	if overwrite {
		p.add("overwrite", want, func(ctx context.Context) error {
			made := want.DeepCopy()
			made.SetResourceVersion(have.GetResourceVersion()) // as it was compared
			made.SetFinalizers(have.GetFinalizers())
			made.SetOwnerReferences(have.GetOwnerReferences())
			if spec, ok := have.Object["spec"]; ok && want.Object["spec"] == nil {
				made.Object["spec"] = spec
			}
			_, err := all.Update(ctx, made, metav1.UpdateOptions{
				FieldManager: fieldManager, FieldValidation: metav1.FieldValidationStrict,
			})
			return err
		})
		return
	}
	p.Kept = append(p.Kept, nameOf(want))
	if former != "" {
		p.add("name the former UID of", want, annotating(all, want, former))
	}
}

func annotating(all dynamic.ResourceInterface, o *object, former string) func(context.Context) error {
	return func(ctx context.Context) error {
		patch, err := json.Marshal(
			map[string]any{"metadata": map[string]any{
				"annotations": map[string]any{v1alpha1.AnnotationFormerUID: former},
			}})
		if err != nil {
			return err
		}
		_, err = all.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{
			FieldManager: fieldManager,
		})
		return err
	}
}

// missing returns the former UID that the object still needs, or "" if it has one, or is the very object that was
// saved.
func missing(want, have *object) string {
	former := want.GetAnnotations()[v1alpha1.AnnotationFormerUID]
	if have.GetAnnotations()[v1alpha1.AnnotationFormerUID] != "" ||
		slices.Contains(strings.Split(former, ","), string(have.GetUID())) {
		return ""
	}
	return former
}

// same reports whether the object equals the one in the backup. Fields that the API server adds are ignored, and so are
// the requester and the last editor, which admission sets.
func same(want, have *object) bool {
	one, other := cleaned(want), cleaned(have)
	for _, o := range []*object{one, other} {
		notes := o.GetAnnotations()
		delete(notes, v1alpha1.AnnotationFormerUID)
		maps.DeleteFunc(notes, func(key, _ string) bool { return v1alpha1.WrittenByAdmission(key) })
		if len(notes) == 0 {
			notes = nil
		}
		o.SetAnnotations(notes)
	}
	return reflect.DeepEqual(one.Object, other.Object)
}

// Apply executes the plan, and reports each step once it is done.
func (c *Cluster) Apply(ctx context.Context, plan *Plan, done func(Step)) error {
	for _, s := range plan.Steps {
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.Does, err)
		}
		done(s)
	}
	return nil
}
