package resource

import (
	"bytes"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// purposeOf returns, as text, what a user of a resource does with it in AWS; empty without rights.
func purposeOf(k catalog.Kind, user *unstructured.Unstructured, t catalog.Target) string {
	list := "resources" // of an AccessBinding
	if isApp(k) {
		list = "bindings"
	} else if k.ID() != v1alpha1.KindAccessBinding {
		return ""
	}
	all, _, _ := unstructured.NestedSlice(user.Object, "spec", list)
	for _, one := range all {
		b, _ := one.(map[string]any)
		if b["kind"] == t.Kind && b["name"] == t.Name {
			level, _ := b["access"].(string)
			return access.Words(t.Kind, v1alpha1.BindingAccess(level))
		}
	}
	return ""
}

// accessOf returns the AWS rights of the application's bindings, and their state in its status; nil while there is
// none.
func (p *Pages) accessOf(app *v1alpha1.WebApp) *views.Access {
	said := meta.FindStatusCondition(app.Status.Conditions, v1alpha1.ConditionAWSAccess)
	if said == nil || app.Status.AccessPolicy == "" {
		return nil
	}
	a := &views.Access{Look: accessLook(said), Policy: views.Command{
		ID: "access-policy", Title: "As an IAM policy",
		Text: prettyJSON(app.Status.AccessPolicy),
	}}
	for _, b := range app.Spec.Bindings {
		if words := access.Words(b.Kind, b.Access); words != "" {
			kind, _ := p.Cluster.Kinds.Now().ByName(b.Kind)
			a.Uses = append(a.Uses, views.Relation{
				Resource: views.Resource{Kind: kind.Title, Name: b.Name},
				Purpose:  words,
			})
		}
	}
	return a
}

// givenTo returns the rights that the Pods have by each binding, from the status.
func (p *Pages) givenTo(app *v1alpha1.WebApp) (all []views.Given) {
	for _, b := range app.Status.Bindings {
		kind, _ := p.Cluster.Kinds.Now().ByName(b.Kind)
		all = append(all, views.Given{
			Kind: kind.Title, Name: b.Name, Variables: b.Variables, Folder: b.Folder,
			Secret: b.Secret, User: signsInAs(app, b),
		})
	}
	return all
}

// signsInAs returns as whom the Pods sign in to a database; empty for a binding without users.
func signsInAs(app *v1alpha1.WebApp, given v1alpha1.WebAppBound) string {
	switch given.User {
	case v1alpha1.BindingUserOwn:
		i := slices.IndexFunc(app.Spec.Bindings, func(b v1alpha1.WebAppBinding) bool {
			return b.Kind == given.Kind && b.Name == given.Name && b.User == given.User
		})
		if i < 0 {
			return "The web app still signs in as a user of its own, which its bindings do not ask for any more."
		}
		return "The web app signs in as a user of its own, which may " + access.DatabaseWords(
			app.Spec.Bindings[i].Access) + "."
	case v1alpha1.BindingUserMaster:
		return "The web app signs in as the database's master user, who can do everything in it. With user: Own in " +
			"the binding it gets a user of its own."
	default:
		return ""
	}
}

func accessLook(said *metav1.Condition) views.Look {
	text := humanize.Sentence(said.Message)
	switch said.Status {
	case metav1.ConditionTrue:
		return views.Look{Word: "Granted", Icon: "check", Tone: "good", Text: text}
	case metav1.ConditionFalse:
		return views.Look{Word: "Not granted", Icon: "alert", Tone: "warn", Text: text}
	default:
		return views.Look{Word: "Not known", Icon: "wait", Tone: "idle", Text: text}
	}
}

// prettyJSON returns indented JSON; invalid JSON is returned unchanged.
func prettyJSON(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
