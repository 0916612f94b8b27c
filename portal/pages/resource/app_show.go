package resource

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

func isApp(k catalog.Kind) bool { return k.ID() == catalog.AppKind }

// addApp adds the parts for applications: Pods, versions and size.
func (p *Pages) addApp(ctx context.Context, l objectRequest, obj *unstructured.Unstructured, d *views.Detail) error {
	if !isApp(l.ref.Kind) {
		return nil
	}
	d.Runs = true
	d.MayRestart = d.MayUpdate && !d.Resource.Leaving && !d.Paused // the operator would do nothing
	if l.tab != views.TabOverview {
		return nil
	}
	app, err := appOf(obj)
	if err != nil {
		return err
	}
	d.App = &views.App{
		Size: sizeOf(app, l.ref.Kind), Versions: p.versionsOf(app, d.MayRestart),
		URL:     views.Fact{Label: "URL", Value: d.Resource.Endpoint, Code: true, Link: webLink(d.Resource.Endpoint), Due: true},
		Version: versionFact(app),
	}
	d.App.Size.Asked = d.MayRestart
	d.App.Access, d.App.Given, d.App.Secrets = p.accessOf(app), p.givenTo(app), namedSecrets(app, l.space.Team.ID)
	return p.addPods(ctx, l, obj, app, d.App)
}

// versionFact returns which version is requested, and whether it is the running one.
func versionFact(app *v1alpha1.WebApp) views.Fact {
	f := views.Fact{Label: "Version", Value: tagOf(app.Spec.Image)}
	if app.Status.Image != "" && app.Status.Image != app.Spec.Image {
		f.Note = "asked for; " + tagOf(app.Status.Image) + " still runs"
	}
	return f
}

func appOf(obj *unstructured.Unstructured) (*v1alpha1.WebApp, error) {
	app := &v1alpha1.WebApp{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, app); err != nil {
		return nil, fmt.Errorf("reading WebApp %s: %w", obj.GetName(), err)
	}
	return app, nil
}

// sizeOf returns the progress of the rollout. With autoscaling the wanted number is the one in the status.
func sizeOf(app *v1alpha1.WebApp, k catalog.Kind) views.Size {
	replicas := 1
	if app.Spec.Replicas != nil {
		replicas = int(*app.Spec.Replicas)
	}
	s := views.Size{
		Wanted: replicas, Updated: int(app.Status.UpdatedReplicas), Available: int(app.Status.AvailableReplicas),
		Value: strconv.Itoa(replicas),
	}
	s.Min, s.Max = bounds(k, "replicas")
	if a := app.Spec.Autoscaling; a != nil {
		s.Wanted = int(max(a.Min, 1))
		if _, of, ok := strings.Cut(app.Status.Availability, "/"); ok {
			if n, err := strconv.Atoi(of); err == nil {
				s.Wanted = n
			}
		}
		s.Value = strconv.Itoa(s.Wanted)
		s.Min, s.Max = int(min(a.Min, 1)), int(max(a.Max, app.Status.Replicas))
		s.Locked = fmt.Sprintf("Autoscaling decides: from %d to %d Pods by their CPU, now %d. Edit autoscaling to "+
			"change that.", max(a.Min, 1), a.Max, s.Wanted)
	}
	return s
}

// bounds returns the minimum and the maximum of a number in the schema of the kind's spec.
func bounds(k catalog.Kind, name string) (low, high int) {
	fields := k.Fields()
	i := slices.IndexFunc(fields, func(f catalog.Field) bool { return f.Name == name })
	if i < 0 || fields[i].Limits.Min == nil || fields[i].Limits.Max == nil {
		return 0, 0
	}
	return int(*fields[i].Limits.Min), int(*fields[i].Limits.Max)
}

// versionsOf returns the revisions, newest first. The newest with the requested image is the wanted one; rolling back
// to a version with the same image would change nothing.
func (p *Pages) versionsOf(app *v1alpha1.WebApp, may bool) []views.Version {
	wanted := slices.IndexFunc(app.Status.Revisions, func(r v1alpha1.WebAppRevision) bool {
		return r.Image == app.Spec.Image
	})
	out := make([]views.Version, 0, len(app.Status.Revisions))
	for i, r := range app.Status.Revisions {
		out = append(out, views.Version{
			Revision: strconv.FormatInt(r.Revision, 10), Tag: tagOf(r.Image), Image: r.Image,
			Created:   p.Moment(r.Created.Time),
			Available: int(r.Available), Wanted: i == wanted, Back: may && r.Image != app.Spec.Image &&
				!app.Status.NeverServed(r.Image), Never: r.NeverAvailable,
		})
	}
	return out
}
