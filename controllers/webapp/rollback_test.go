package webapp_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/steps/stepstest"
)

func TestRollback(t *testing.T) {
	for name, row := range map[string]struct{ wish, reason, image, told string }{
		"to the version before": {"previous", "RollingBack", "old:1", "RolledBack: spec.image registry.example.com/shop:1.0.0 → old:1, which is that of revision 1"},
		"to what never served": {
			"3", "RollbackImpossible", "registry.example.com/shop:1.0.0",
			`RollbackImpossible: portico.dev/rollback "3": revision 3 never served: none of its replicas became available. To try its image again, set spec.image to bad:1; nothing was changed`,
		},
		"to an image that served as another version": {"4", "RollingBack", "old:1", "RolledBack: spec.image registry.example.com/shop:1.0.0 → old:1, which is that of revision 4"},
		"to nowhere": {
			"7", "RollbackImpossible", "registry.example.com/shop:1.0.0",
			`RollbackImpossible: portico.dev/rollback "7": there is no revision 7 any more; status.revisions lists those that can be gone back to; nothing was changed`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := shop(nil)
			a.Annotations = map[string]string{v1alpha1.AnnotationRollback: row.wish, "other": "stays"}
			l := begin(t, a)
			a.Status.Revisions = []v1alpha1.WebAppRevision{
				{Revision: 5, Image: a.Spec.Image},
				{Revision: 4, Image: "old:1", NeverAvailable: true},
				{Revision: 3, Image: "bad:1", NeverAvailable: true},
				{Revision: 2, Image: a.Spec.Image},
				{Revision: 1, Image: "old:1"},
			}
			err := l.sync()
			if wait, ok := engine.AsWait(err); !ok || wait.Reason != row.reason {
				t.Errorf("outcome %v", err)
			}
			now := &v1alpha1.WebApp{}
			if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(a), now); err != nil {
				t.Fatal(err)
			}
			if now.Spec.Image != row.image || len(now.Annotations) != 1 ||
				strings.Join(l.pass.Strings(), "") != row.told {
				t.Errorf("image %s, annotations %v, told %q", now.Spec.Image, now.Annotations, l.pass.Strings())
			}
		})
	}
}

func TestARollbackThatTheClusterRefusesIsTold(t *testing.T) {
	object := schema.GroupResource{Resource: "webapps"}
	for name, refusal := range map[string]error{
		"by a rule of the API": apierrors.NewInvalid(schema.GroupKind{Kind: "WebApp"}, "shop", nil),
		"by a policy":          apierrors.NewForbidden(object, "shop", errors.New("images of old are not allowed")),
	} {
		t.Run(name, func(t *testing.T) {
			a := shop(nil)
			a.Annotations = map[string]string{v1alpha1.AnnotationRollback: "previous"}
			l := begin(t, a)
			a.Status.Revisions = []v1alpha1.WebAppRevision{{Revision: 1, Image: "old:latest"}}
			first := true
			l.Before = func(c stepstest.Call) error {
				if c.Kind == "WebApp" && c.Write() && first {
					first = false
					return refusal
				}
				return nil
			}
			err := l.sync()
			if wait, ok := engine.AsWait(err); !ok || wait.Reason != "RollbackImpossible" || !errors.Is(err, refusal) {
				t.Errorf("outcome %v", err)
			}
			now := &v1alpha1.WebApp{}
			if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(a), now); err != nil {
				t.Fatal(err)
			}
			if now.Spec.Image != a.Spec.Image || len(now.Annotations) > 0 {
				t.Errorf("image %s, annotations %v", now.Spec.Image, now.Annotations)
			}
			if told := l.pass.Strings(); len(told) != 1 ||
				!strings.HasPrefix(told[0], "RollbackImpossible: portico.dev/rollback \"previous\": the cluster "+
					"refuses the image of revision 1: ") {
				t.Errorf("told %q", told)
			}
		})
	}
}

func TestARollbackOfAnOldPictureFails(t *testing.T) {
	a := shop(nil)
	a.Annotations = map[string]string{v1alpha1.AnnotationRollback: "previous"}
	l := begin(t, a)
	a.Status.Revisions = []v1alpha1.WebAppRevision{{Revision: 1, Image: "old:1"}}
	newer := a.DeepCopy()
	newer.Labels = map[string]string{"newer": "yes"}
	if err := l.Others.Patch(t.Context(), newer, client.MergeFrom(a)); err != nil {
		t.Fatal(err)
	}
	if err := l.sync(); err == nil || len(l.Writes()) > 0 || len(l.pass.Strings()) > 0 {
		t.Errorf("%v, writes %v, told %q", err, l.Writes(), l.pass.Strings())
	}
}
