package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/objects"
)

// Version is an earlier spec of an object, and who changed it.
type Version struct {
	Generation int64
	By         string    // the username; "" if unknown
	With       string    // the field manager, as the client names itself; "" if unknown
	Run        string    // of the pipeline that changed it; "" if none did
	At         time.Time // when it was changed, or if unknown when it was recorded
	Spec       map[string]any

	recorded time.Time
	noted    bool // admission saw the change; With is the field manager that it saw
}

// History returns the versions of obj that the operator recorded, newest first. The caller needs the right to get the
// object, and none to the ControllerRevisions that hold the versions: they contain nothing that the object did not.
// They are read from the API server and not cached, because few callers need them.
func (o *operatorPart) History(ctx context.Context, id auth.Identity, ref catalog.Ref, obj *unstructured.Unstructured) (
	[]Version, error,
) {
	if err := o.rights.RequireOne(ctx, id, "get", ref); err != nil || ref.Namespace == "" {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, objects.ReadTimeout)
	defer cancel()
	list, err := o.client.AppsV1().ControllerRevisions(ref.Namespace).List(ctx, metav1.ListOptions{
		// from the API server's own cache
		LabelSelector: v1alpha1.LabelHistoryOf + "=" + string(obj.GetUID()), ResourceVersion: "0",
	})
	if err != nil {
		return nil, &failure.UnavailableError{
			Doing: "reading the history of " + ref.Kind.Name + " " + ref.Name,
			Cause: err,
		}
	}
	var all []Version
	for i := range list.Items {
		r := &list.Items[i]
		if owner := metav1.GetControllerOf(r); owner == nil || owner.UID != obj.GetUID() {
			continue
		}
		v, err := versionOf(r)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b Version) int { return cmp.Compare(b.Generation, a.Generation) })
	for i := len(all) - 2; i >= 0; i-- {
		if v := &all[i]; !v.At.After(all[i+1].At) { // a removed field: Kubernetes records neither manager nor time
			v.At = v.recorded
			if !v.noted {
				v.With = ""
			}
		}
	}
	return all, nil
}

func versionOf(r *appsv1.ControllerRevision) (Version, error) {
	v := Version{
		Generation: r.Revision, By: r.Annotations[v1alpha1.AnnotationChangedBy],
		With: r.Annotations[v1alpha1.AnnotationChangedWith], Run: r.Annotations[v1alpha1.AnnotationChangedRun],
		At: r.CreationTimestamp.Time, recorded: r.CreationTimestamp.Time,
		noted: r.Annotations[v1alpha1.AnnotationChangedGeneration] == strconv.FormatInt(r.Revision, 10),
	}
	if at, err := time.Parse(time.RFC3339, r.Annotations[v1alpha1.AnnotationChangedAt]); err == nil {
		v.At = at
	}
	if v.At.After(v.recorded.Add(time.Second)) { // a client that sends managed fields can set any time, and any manager
		v.At = v.recorded
		if !v.noted {
			v.With = ""
		}
	}
	var data struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(r.Data.Raw, &data); err != nil {
		return v, fmt.Errorf("reading the ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	v.Spec = data.Spec
	return v, nil
}
