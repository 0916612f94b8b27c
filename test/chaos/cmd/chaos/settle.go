package main

import (
	"bytes"
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
	"github.com/portico-platform/portico/test/bench/measure"
	"github.com/portico-platform/portico/test/stack"
)

// settle ends everything that is wrong from outside, answers what waits for a person, and waits for the rest.
func (w *world) settle(ctx context.Context) (took time.Duration, unsettled []string, err error) {
	began := time.Now()
	w.calm()
	w.revive(ctx)
	// Where an object was deleted and made again while nobody could watch, the garbage collector of Kubernetes takes
	// the new one for the old, and keeps what belonged to that, until it begins again.
	if err := w.stack.Part("kube-controller-manager").Restart(ctx); err != nil {
		return 0, nil, err
	}
	for err = w.putRight(ctx); err != nil; err = w.putRight(ctx) { // an API server that has just begun refuses for want of what policies need
		if time.Since(began) > w.settleIn || measure.Pause(ctx, time.Second) != nil {
			return 0, nil, fmt.Errorf("put right what users did: %w", err)
		}
	}
	for time.Since(began) < w.settleIn {
		if unsettled, err = w.unsettled(ctx); err != nil || len(unsettled) > 0 {
			took = time.Since(began)
		} else if time.Since(began) > auditInterval { // all has been looked at since, what was deleted in the last moment too
			return took, nil, nil
		}
		// What is kept is made again as it was: paused, or astray.
		if err := cmp.Or(w.putRight(ctx), w.answer(ctx)); err != nil {
			w.counts.add("answers", err.Error())
		}
		if err := measure.Pause(ctx, time.Second); err != nil {
			return 0, nil, err
		}
	}
	return time.Since(began), unsettled, err
}

// putRight takes back what leads astray, and goes on with what is paused.
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

// isAstray reports whether an object names what is nowhere, as those of kind.astray do.
func isAstray(o *unstructured.Unstructured) bool {
	spec := text(o.Object["spec"])
	return slices.ContainsFunc([]string{"nowhere", "broken-crash", "0123456789abcdef0"}, func(mark string) bool { return strings.Contains(spec, mark) })
}

// unsettled lists what is not as it should be, with why.
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
	if err := w.admin.List(ctx, kept, client.InNamespace(stack.Namespace), client.MatchingLabels{keep.Label: "true"}); err != nil {
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

// notSettled says what is not as it should be, "" if nothing is. What asks for a resource of somebody else is to wait
// for ever.
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

// atRest watches that nothing is written any more, once an audit has been over everything, and returns what was.
func (w *world) atRest(ctx context.Context, out io.Writer) (wrong []string, err error) {
	if err := measure.Pause(ctx, auditInterval*3/2); err != nil {
		return nil, err
	}
	mark := w.stack.Proxy.Mark()
	before, err := w.kubernetesWrites(ctx)
	if err != nil {
		return nil, err
	}
	if err := measure.Pause(ctx, w.restFor); err != nil {
		return nil, err
	}
	after, err := w.kubernetesWrites(ctx)
	if err != nil {
		return nil, err
	}
	calls := w.stack.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator))
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
	_, _ = fmt.Fprintf(out, "at rest for                   %s: %d calls of AWS, %d writes of any sort\n", w.restFor, len(calls), len(wrong))
	return wrong, nil
}

// byItself are what is written though nothing happens.
var byItself = []string{"leases", "nodes", "tokenreviews", "subjectaccessreviews", "selfsubjectaccessreviews", "serviceaccounts"}

// kubernetesWrites counts the writes that the API server has taken, by what they are of.
func (w *world) kubernetesWrites(ctx context.Context) (map[string]int, error) {
	text, err := w.raw.Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the API server's metrics: %w", err)
	}
	samples, err := measure.Parse(bytes.NewReader(text))
	all := map[string]int{}
	for _, one := range samples {
		l := one.Labels
		if one.Name == "apiserver_request_total" && slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE"}, l["verb"]) && !slices.Contains(byItself, l["resource"]) {
			all[l["verb"]+" "+l["resource"]+"/"+l["subresource"]] += int(one.Value)
		}
	}
	return all, err
}
