package page

import (
	"cmp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// ResourceOf returns the part of an object's view that every page has.
func ResourceOf(s Space, k catalog.Kind, obj *unstructured.Unstructured, now time.Time) views.Resource {
	is, why := status.PhaseIn(k, obj)
	brief, _ := humanize.FirstSentence(why)
	id := "r-" + k.Plural + "-" + ElementID(obj.GetName())
	if s.Everywhere() {
		s.Team = views.Team{ID: obj.GetNamespace(), Name: obj.GetNamespace()}
		id = "r-" + k.Plural + "-" + s.Team.ID + "__" + ElementID(obj.GetName())
	}
	return views.Resource{
		ID: id, Name: obj.GetName(), Team: s.Team.ID,
		Href: views.ResourcePath(s.Team.ID, k.Plural, obj.GetName()),
		Kind: k.Title, Plural: k.Plural, Icon: k.Icon, Phase: is, Why: why, Brief: brief, Endpoint: k.EndpointOf(obj),
		Provider:  catalog.TextAt(obj, "spec", "providerRef", "name"),
		Requester: obj.GetAnnotations()[v1alpha1.AnnotationRequestedBy],
		RequestedBy: InRun(s.people.called(obj.GetAnnotations()[v1alpha1.AnnotationRequestedBy]),
			catalog.TextAt(obj, "status", "requestedRun")),
		Leaving: obj.GetDeletionTimestamp() != nil,
		Created: views.Moment{At: obj.GetCreationTimestamp().Time, Now: now},
	}
}

// InRun returns who did something, with the run of a pipeline that they are, if they are one.
func InRun(who, run string) string {
	if run == "" {
		return who
	}
	return who + " (" + run + ")"
}

// ElementID makes an object's name usable in a CSS selector, where dots separate classes. It is unique: names cannot
// contain underscores, and two underscores separate a namespace from a name.
func ElementID(name string) string { return strings.ReplaceAll(name, ".", "_") }

// ResourceNamed returns the view of an object of the kind, in any namespace.
func (b *Base) ResourceNamed(kind string, obj *unstructured.Unstructured) views.Resource {
	k, _ := b.Cluster.Kinds.Now().ByName(kind)
	return ResourceOf(b.SpaceNamed(cmp.Or(obj.GetNamespace(), PlatformTeam)), k, obj, b.Now())
}

// Slug makes a name usable as an id attribute.
func Slug(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, name)
}

// HolderLink returns a link to the holder of a hostname; empty if there is none.
func (b *Base) HolderLink(h availability.Holder) views.Choice {
	k, ok := b.Cluster.Kinds.Now().ByName(HostnameKind)
	if h == (availability.Holder{}) || !ok {
		return views.Choice{}
	}
	return views.Choice{Value: views.ResourcePath(h.Namespace, k.Plural, h.Name), Label: h.Name + " of " + h.Namespace}
}
