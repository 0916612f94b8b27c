// Package deletion describes what happens to a resource and its data when its object is deleted.
package deletion

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// Effects returns what deleting does to the resource in AWS and to its data.
func Effects(obj *unstructured.Unstructured, k catalog.Kind) []views.Effect {
	return append(outcomes(obj, k), views.Effect{Icon: "info", Tone: "idle", Text: "The resource disappears from " +
		"Portico when this is done."})
}

// outcomes returns what happens to the resource in AWS, and to the resources created for it.
func outcomes(obj *unstructured.Unstructured, k catalog.Kind) []views.Effect {
	target := targetOf(obj, k)
	list := policyEffects(obj, k, target)
	if k.Has("deletionPolicy") && unmade(obj) {
		return nothing
	}
	if status.FactsOf(obj).Lost() {
		list = []views.Effect{{Icon: "info", Tone: "idle", Text: target + " is gone from AWS already: it was deleted " +
			"outside Portico."}}
	}
	if k.Controller != nil && k.Deletion.Effect == "" {
		list = []views.Effect{{Icon: "bin", Tone: "bad", Text: "Kubernetes deletes it, and " + k.Controller.Name +
			" decides what happens to what belongs to it. Portico does not know whether data is lost."}}
	}
	if !k.Has("deletionPolicy") && k.Deletion.Effect != "" {
		list = []views.Effect{{Icon: "bin", Tone: "bad", Text: k.Deletion.Effect}}
	}
	if observed(obj) {
		list = []views.Effect{{Icon: "check", Tone: "good", Text: "Nothing changes in AWS: Portico only observes " +
			target + "."}}
	}
	if secret := catalog.TextAt(obj, "status", "binding", "name"); secret != "" {
		list = append(list, views.Effect{
			Icon: "alert", Tone: "warn",
			Text: "The Secret " + secret + " with the connection details goes too: applications that use it stop " +
				"working when they restart.",
		})
	}
	return list
}

// targetOf returns the name of the object's resource in AWS.
func targetOf(obj *unstructured.Unstructured, k catalog.Kind) string {
	return cmp.Or(catalog.TextAt(obj, "status", "arn"), "what was created in AWS for this "+k.Title)
}

// nothing is the effect of deleting an object without a resource in AWS.
var nothing = []views.Effect{
	{Icon: "info", Tone: "idle", Text: "Nothing is deleted in AWS: Portico knows of nothing there for it."},
}

// unmade reports whether the operator has reconciled the object without creating anything: it had to wait, or AWS
// refused.
func unmade(obj *unstructured.Unstructured) bool {
	return status.FactsOf(obj).Observed >= 0 && catalog.TextAt(obj, "status", "accountID") == "" &&
		catalog.TextAt(obj, "status", "arn") == ""
}

func observed(obj *unstructured.Unstructured) bool {
	return catalog.TextAt(obj, "spec", "managementPolicy") == string(v1alpha1.ManagementObserve)
}

func policyEffects(obj *unstructured.Unstructured, k catalog.Kind, target string) []views.Effect {
	d := k.Deletion
	switch v1alpha1.DeletionPolicy(catalog.TextAt(obj, "spec", "deletionPolicy")) {
	case v1alpha1.DeletionRetain:
		return []views.Effect{{Icon: "check", Tone: "good", Text: target + " and its data stay. The same request can " +
			"manage it again later."}}
	case v1alpha1.DeletionOrphan:
		return []views.Effect{{Icon: "check", Tone: "good", Text: target + " and its data stay, without Portico's " +
			"tags: nobody looks after it any more."}}
	case v1alpha1.DeletionStop:
		return []views.Effect{{Icon: "check", Tone: "good", Text: target + " is stopped and stays, with its data. " +
			"The same request can manage it again later."}}
	case v1alpha1.DeletionDelete:
		if on, set := setting(obj, d.Protects); on && set {
			return []views.Effect{{Icon: "lock", Tone: "warn", Text: "Nothing is deleted while " + d.Protects +
				" is on: AWS refuses it. The deletion waits until you switch that off."}}
		}
		data := views.Effect{Icon: "check", Tone: "good", Text: k.EffectOn(obj)}
		if lossy(obj, d) {
			data = views.Effect{Icon: "alert", Tone: "bad", Text: d.LossyEffect}
		}
		return append([]views.Effect{
			{Icon: "bin", Tone: "bad", Text: "Permanently deleted from AWS: " + target + "."},
			data,
		}, staying(obj)...)
	}
	return nil
}

// staying returns what remains in AWS of a deleted resource.
func staying(obj *unstructured.Unstructured) []views.Effect {
	all, _, _ := unstructured.NestedStringSlice(obj.Object, "status", "staysAfterDeletion")
	if len(all) == 0 {
		return nil
	}
	return []views.Effect{{Icon: "alert", Tone: "warn", Text: "What stays in AWS, with its data, and costs money " +
		"until somebody deletes it there: " + strings.Join(all, ", ") + "."}}
}

// setting returns a boolean of spec, and whether it is set at all.
func setting(obj *unstructured.Unstructured, name string) (on, set bool) {
	on, set, _ = unstructured.NestedBool(obj.Object, "spec", name)
	return on, set
}

// PolicyWords returns the deletion policy in words, "" for kinds that have none.
func PolicyWords(obj *unstructured.Unstructured, d catalog.Deletion) string {
	switch v1alpha1.DeletionPolicy(catalog.TextAt(obj, "spec", "deletionPolicy")) {
	case v1alpha1.DeletionRetain:
		return "stays in AWS, and can be managed again"
	case v1alpha1.DeletionOrphan:
		return "stays in AWS, no longer managed"
	case v1alpha1.DeletionStop:
		return "stopped, and stays in AWS"
	case v1alpha1.DeletionDelete:
		if lossy(obj, d) {
			return "deleted from AWS with all data"
		}
		return d.Deleted
	}
	return ""
}

// lossy reports whether deletion loses stored data.
func lossy(obj *unstructured.Unstructured, d catalog.Deletion) bool {
	if d.Effect == "" {
		return true
	}
	force, _ := setting(obj, d.Lossy)
	return force
}
