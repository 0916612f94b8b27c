package chaos

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/keep"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

// settle ends all faults, acts on what waits for a person, and waits until the rest has settled.
func (w *world) settle(ctx context.Context) (took time.Duration, unsettled []string, err error) {
	began := time.Now()
	w.calm()
	w.revive(ctx)
	// If an object was deleted and created again while the garbage collector could not watch, the collector takes the
	// new object for the old one and keeps its dependents until it restarts.
	if err := w.Part("kube-controller-manager").Restart(ctx); err != nil {
		return 0, nil, err
	}
	// an API server that has just started refuses requests until it has what its policies need
	for err = w.putRight(ctx); err != nil; err = w.putRight(ctx) {
		if time.Since(began) > w.settleIn || campaign.Pause(ctx, time.Second) != nil {
			return 0, nil, fmt.Errorf("put right what users did: %w", err)
		}
	}
	for time.Since(began) < w.settleIn {
		if unsettled, err = w.unsettled(ctx); err != nil || len(unsettled) > 0 {
			took = time.Since(began)
		} else if time.Since(
			began) > auditInterval { // an audit has since covered everything, including the last deletions
			return took, nil, nil
		}
		// A kept object is created again as it was: it can be paused or have an edit that cannot be fulfilled.
		if err := cmp.Or(w.putRight(ctx), w.answer(ctx)); err != nil {
			w.counts.add("answers", err.Error())
		}
		if err := campaign.Pause(ctx, time.Second); err != nil {
			return 0, nil, err
		}
	}
	return time.Since(began), unsettled, err
}

// putRight reverts edits that cannot be fulfilled, and resumes paused objects.
func (w *world) putRight(ctx context.Context) error {
	for _, k := range slices.Backward(kinds) { // the provider and the team first
		all, err := w.objects(ctx, k)
		if err != nil {
			return err
		}
		for i := range all {
			o := &all[i]
			if k.admin || isAstray(o) {
				err = patch(ctx, w.admin, o, k.mend)
			}
			if err == nil {
				err = setAnnotation(ctx, w.admin, o, v1alpha1.AnnotationPaused, "")
			}
			if client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}

// isAstray reports whether an object names something that does not exist, as the edits in kind.astray do.
func isAstray(o *unstructured.Unstructured) bool {
	spec := text(o.Object["spec"])
	return slices.ContainsFunc([]string{"nowhere", "broken-crash", "0123456789abcdef0"}, func(mark string) bool {
		return strings.Contains(spec, mark)
	})
}

// unsettled lists the objects that are not in their final state, with the reason.
func (w *world) unsettled(ctx context.Context) (all []string, err error) {
	for _, k := range append([]kind{{name: "HostnameGrant"}, {name: "PoolGateway"}}, kinds...) {
		some, err := w.objects(ctx, k)
		if err != nil {
			return nil, err
		}
		for i := range some {
			if why := notSettled(&some[i]); why != "" {
				all = append(all, k.name+" "+some[i].GetNamespace()+"/"+some[i].GetName()+": "+why)
			}
		}
	}
	kept := &corev1.ConfigMapList{}
	if err := w.admin.List(ctx, kept, client.InNamespace(stack.Namespace), client.MatchingLabels{
		keep.Label: "true",
	}); err != nil {
		return nil, err
	}
	for i := range kept.Items {
		all = append(all, "the record "+kept.Items[i].Name+" of what is kept")
	}
	spaces := &corev1.NamespaceList{}
	if err := w.admin.List(ctx, spaces); err != nil {
		return nil, err
	}
	for i := range spaces.Items {
		if spaces.Items[i].DeletionTimestamp != nil {
			all = append(all, "the namespace "+spaces.Items[i].Name+" is still being deleted")
		}
	}
	return all, nil
}

// notSettled returns why the object is not in its final state, or "". An object that requests another owner's resource
// must wait permanently.
func notSettled(o *unstructured.Unstructured) string {
	c := ready(o)
	why := fmt.Sprintf("%s: %s", c.Reason, c.Message)
	switch {
	case o.GetDeletionTimestamp() != nil:
		return "is being deleted, " + why
	case c.ObservedGeneration != o.GetGeneration():
		return fmt.Sprintf("generation %d, seen %d, %s", o.GetGeneration(), c.ObservedGeneration, why)
	case o.GetName() == theirs && !slices.Contains(refusedToThem, c.Reason):
		return "asks for what is somebody else's, and is " + why
	case o.GetName() != theirs && c.Status != "True":
		return why
	}
	return ""
}

// atRest waits until an audit has covered everything, then checks that nothing is written for restFor. It returns the
// writes.
func (w *world) atRest(ctx context.Context, out io.Writer) (wrong []string, err error) {
	if err := campaign.Pause(ctx, auditInterval*3/2); err != nil {
		return nil, err
	}
	mark := w.Proxy.Mark()
	before, err := w.kubernetesWrites(ctx)
	if err != nil {
		return nil, err
	}
	if err := campaign.Pause(ctx, w.restFor); err != nil {
		return nil, err
	}
	after, err := w.kubernetesWrites(ctx)
	if err != nil {
		return nil, err
	}
	calls := w.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator))
	for _, c := range calls {
		if c.Write {
			wrong = append(wrong, fmt.Sprintf("at rest: %s %s %s", c.Service, c.Operation, c.Resource))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(after)) {
		if n := after[what] - before[what]; n > 0 {
			wrong = append(wrong, fmt.Sprintf("at rest: Kubernetes wrote %d times: %s", n, what))
		}
	}
	_, _ = fmt.Fprintf(out, "at rest for                   %s: %d calls of AWS, %d writes of any sort\n", w.restFor,
		len(calls), len(wrong))
	return wrong, nil
}

// byItself are the resources that are written even when nothing happens.
var byItself = []string{
	"leases", "nodes", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews",
	"serviceaccounts",
}

// kubernetesWrites counts the writes that the API server has accepted, by verb, resource and subresource.
func (w *world) kubernetesWrites(ctx context.Context) (map[string]int, error) {
	samples, err := w.APIServer(ctx)
	return samples.By("apiserver_request_total", func(l map[string]string) string {
		if !slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, l["verb"]) ||
			slices.Contains(byItself, l["resource"]) {
			return ""
		}
		return l["verb"] + " " + l["resource"] + "/" + l["subresource"]
	}), err
}
