package form

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/web/views"
)

// accessEffects describes which rights in AWS an application's bindings add and remove. was is nil for a request.
func (s subject) accessEffects(was, will *unstructured.Unstructured) []views.Effect {
	if s.kind.ID() != v1alpha1.KindWebApp {
		return nil
	}
	before, after := bindingsOf(was), bindingsOf(will)
	var all []views.Effect
	for _, b := range after {
		for _, right := range access.Rights(b.Kind, b.Access) {
			if !slices.Contains(rightsTo(before, b), right) {
				all = append(all, views.Effect{
					Icon: "lock", Tone: "busy",
					Text: fmt.Sprintf("In AWS its Pods get rights to the %s %s: %s.", s.called(b.Kind), b.Name, right),
				})
			}
		}
	}
	for _, b := range before {
		for _, right := range access.Rights(b.Kind, b.Access) {
			if !slices.Contains(rightsTo(after, b), right) {
				all = append(all, views.Effect{
					Icon: "lock", Tone: "warn",
					Text: fmt.Sprintf("In AWS its Pods lose rights to the %s %s: %s.", s.called(b.Kind), b.Name,
						right),
				})
			}
		}
	}
	if len(all) > 0 && was != nil && s.onlyAccess(was, will) {
		all = append(all, views.Effect{Icon: "info", Tone: "busy", Text: "Pods that have their rights by EKS Pod " +
			"Identity are replaced: their credentials hold the rights of the time when they were created."})
	}
	return append(all, userEffects(before, after)...)
}

// userEffects describes the database users as which the application signs in, where they are new or change.
func userEffects(before, after []v1alpha1.WebAppBinding) (all []views.Effect) {
	for _, b := range after {
		is, was := signsInAs(b), ""
		if i := slices.IndexFunc(before, func(o v1alpha1.WebAppBinding) bool {
			return o.Kind == b.Kind && o.Name == b.Name
		}); i >= 0 {
			was = signsInAs(before[i])
		}
		switch {
		case is == was:
		case b.User == v1alpha1.BindingUserOwn:
			all = append(all, views.Effect{
				Icon: "lock", Tone: "busy", Text: fmt.Sprintf("The web app signs in to the database %s as %s.", b.Name,
					is),
			})
		default:
			all = append(all, views.Effect{
				Icon: "alert", Tone: "warn",
				Text: fmt.Sprintf("The web app signs in to the database %s as %s. With user: Own it gets a user of "+
					"its own.", b.Name, is),
			})
		}
	}
	for _, b := range before {
		if b.User == v1alpha1.BindingUserOwn && !slices.ContainsFunc(after, func(o v1alpha1.WebAppBinding) bool {
			return o.Kind == b.Kind && o.Name == b.Name && o.User == b.User
		}) {
			all = append(all, views.Effect{
				Icon: "lock", Tone: "warn",
				Text: fmt.Sprintf("The web app's own user of the database %s is dropped once no Pod uses it; tables "+
					"that it has made stay.", b.Name),
			})
		}
	}
	return all
}

// signsInAs describes as whom an application signs in to a database; empty for a binding without users.
func signsInAs(b v1alpha1.WebAppBinding) string {
	switch {
	case b.Kind != v1alpha1.KindRDSInstance:
		return ""
	case b.User == v1alpha1.BindingUserOwn:
		return "a user of its own, which may " + access.DatabaseWords(b.Access)
	default:
		return "its master user, who can do everything in it"
	}
}

// rightsTo returns the rights that bindings grant to the object of the binding of.
func rightsTo(bindings []v1alpha1.WebAppBinding, of v1alpha1.WebAppBinding) []string {
	for _, b := range bindings {
		if b.Kind == of.Kind && b.Name == of.Name {
			return access.Rights(b.Kind, b.Access)
		}
	}
	return nil
}

// bindingsOf returns the bindings of an application as far as they can be parsed; none for nil.
func bindingsOf(obj *unstructured.Unstructured) []v1alpha1.WebAppBinding {
	app := &v1alpha1.WebApp{}
	if obj == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, app) != nil {
		return nil
	}
	return app.Spec.Bindings
}

// onlyAccess reports whether only the access of an application's bindings differs: then its Pods' configuration does
// not change.
func (s subject) onlyAccess(was, will *unstructured.Unstructured) bool {
	if s.kind.ID() != v1alpha1.KindWebApp {
		return false
	}
	before, after := bindingsOf(was), bindingsOf(will)
	if len(before) == 0 {
		return false
	}
	for i := range before {
		before[i].Access = ""
	}
	for i := range after {
		after[i].Access = ""
	}
	return reflect.DeepEqual(before, after)
}
