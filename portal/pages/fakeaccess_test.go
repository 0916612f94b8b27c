package pages

import (
	"errors"
	"maps"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
)

// allows decides about a right: "list payments" in denied is for every kind, "list s3buckets payments" for one,
// "* payments" for every verb. verbs are rights to single Teams, by their names. Only admins have rights in all
// namespaces, and to our kinds in the default one.
func allows(denied []string, verbs map[string][]string, asked authorizationv1.SubjectAccessReviewSpec) bool {
	at := asked.ResourceAttributes
	if slices.Contains(verbs[at.Name], at.Verb) {
		return true
	}
	noTeams := at.Namespace == "" || at.Namespace == metav1.NamespaceDefault && at.Group != ""
	if noTeams && !slices.Contains(asked.Groups, "admins") {
		return false
	}
	resource := at.Resource
	if at.Subresource != "" {
		resource += "/" + at.Subresource
	}
	return !slices.ContainsFunc(denied, func(d string) bool {
		return d == at.Verb+" "+at.Namespace || d == "* "+at.Namespace || d == at.Verb+" "+resource+" "+at.Namespace
	})
}

// show lets callers see the fake's objects and events, and what is denied.
func (f *fakeCluster) show() {
	f.mu.Lock()
	defer f.mu.Unlock()
	denied, verbs, down := slices.Clone(f.denied), maps.Clone(f.verbs), error(nil)
	if f.down {
		down = errAway
	}
	f.Judge.Change(func(asked authorizationv1.SubjectAccessReviewSpec) bool {
		return allows(denied, verbs, asked)
	}, down)
	f.Spaces.Change(func() {
		f.Spaces.Broken = f.broken
		f.Spaces.Events, f.Spaces.Pods, f.Spaces.Labels = f.events, f.pods, map[string]map[string]string{}
		for _, name := range f.Spaces.Names {
			if name != "default" {
				f.Spaces.Labels[name] = map[string]string{v1alpha1.LabelTeam: ""}
			}
		}
	})
	f.Show(f.objects)
}

// publish shows the fake's objects to subscribers.
func (f *fakeCluster) publish(c feed.Change) {
	f.show()
	f.Feed.Changes.Publish(c)
}

var errAway = errors.New("dial tcp 192.0.2.1:6443: refused")

// refOf returns the reference to an object.
func refOf(kinds catalog.Catalog, obj *unstructured.Unstructured) catalog.Ref {
	k, _ := kinds.ByName(obj.GetKind())
	return catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
}
