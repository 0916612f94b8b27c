package pages

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

// resourceOf is what every page says of an object.
func resourceOf(s space, k catalog.Kind, obj *unstructured.Unstructured, now time.Time) views.Resource {
	is, why := phase.Of(obj)
	brief, _ := firstSentence(why)
	id := "r-" + k.Plural + "-" + elementID(obj.GetName())
	if s.everywhere() {
		s.team = views.Team{ID: obj.GetNamespace(), Name: obj.GetNamespace()}
		id = "r-" + k.Plural + "-" + s.team.ID + "__" + elementID(obj.GetName())
	}
	return views.Resource{
		ID: id, Name: obj.GetName(), Team: s.team.ID,
		Href: views.ResourcePath(s.team.ID, k.Plural, obj.GetName()),
		Kind: k.Title, Plural: k.Plural, Icon: k.Icon, Phase: is, Why: why, Brief: brief, Endpoint: k.EndpointOf(obj),
		Provider:    nested(obj, "spec", "providerRef", "name"),
		Requester:   obj.GetAnnotations()[v1alpha1.AnnotationRequestedBy],
		RequestedBy: s.people.called(obj.GetAnnotations()[v1alpha1.AnnotationRequestedBy]),
		Leaving:     obj.GetDeletionTimestamp() != nil,
		Created:     views.Moment{At: obj.GetCreationTimestamp().Time, Now: now},
	}
}

// elementID makes an object's name fit for a CSS selector: dots separate classes there, and cannot be in a name twice
// over, so that no two names become one, and two underscores part a namespace from a name.
func elementID(name string) string { return strings.ReplaceAll(name, ".", "_") }
