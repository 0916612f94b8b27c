package fair

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func namespace(name, team string) *metav1.PartialObjectMetadata {
	n := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if team != "" {
		n.Labels = map[string]string{v1alpha1.LabelTeam: team}
	}
	n.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	return n
}

func TestTeamsFollowTheLabelsOfNamespaces(t *testing.T) {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(corev1.SchemeGroupVersion.WithKind("Namespace"), &metav1.PartialObjectMetadata{})
	informers := &informertest.FakeInformers{Scheme: scheme}
	teams, err := WatchTeams(t.Context(), informers)
	if err != nil {
		t.Fatal(err)
	}
	var events *controllertest.FakeInformer
	for _, one := range informers.InformersByGVK {
		events = one.(*controllertest.FakeInformer)
	}
	shop, alone := namespace("shop-prod", "shop"), namespace("alone", "")
	expect := func(what string, want map[string]string) {
		t.Helper()
		for n, team := range want {
			if got := teams.Of(n); got != team {
				t.Errorf("%s: %q is of team %q, want %q", what, n, got, team)
			}
		}
	}
	expect("before anything is known", map[string]string{"shop-prod": "shop-prod", "": Platform})
	events.Add(shop)
	events.Add(alone)
	expect("known", map[string]string{"shop-prod": "shop", "alone": "alone", "unknown": "unknown"})
	events.Update(shop, namespace("shop-prod", "store"))
	events.Update(alone, namespace("alone", "shop"))
	expect("with other labels", map[string]string{"shop-prod": "store", "alone": "shop"})
	events.Update(alone, namespace("alone", ""))
	events.Delete(shop)
	expect("without", map[string]string{"shop-prod": "shop-prod", "alone": "alone"})
	teams.seen(shop)
	teams.gone(toolscache.DeletedFinalStateUnknown{Key: "shop-prod", Obj: shop})
	expect("gone while nobody watched", map[string]string{"shop-prod": "shop-prod"})
}

func TestAPassCountsAsItsTeams(t *testing.T) {
	if got := TeamOf(t.Context()); got != Platform {
		t.Errorf("nobody's work is %q", got)
	}
	ctx := WithTeam(t.Context(), "shop")
	if got := TeamOf(ctx); got != "shop" {
		t.Errorf("the team's work is %q", got)
	}
	for _, c := range [][3]string{{"a", "a", "a"}, {"a", "b", Several}, {Several, "a", Several}} {
		if got := Joint(c[0], c[1]); got != c[2] {
			t.Errorf("Joint(%s, %s) = %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
