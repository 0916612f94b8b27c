//go:build integration

package integration

import (
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestAStolenOperatorGivesNoRights tries what a thief of the operator's token could do to AccessBindings, which belong
// to WebApps or to people.
func TestAStolenOperatorGivesNoRights(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	spec := v1alpha1.AccessBindingSpec{
		ProviderRef: v1alpha1.LocalRef{Name: "stolen"}, ServiceAccountName: "stolen",
		Resources: []v1alpha1.AccessBindingResource{
			{Kind: "S3Bucket", Name: "files", Access: v1alpha1.AccessReadWrite},
		},
	}
	rights := &v1alpha1.AccessBinding{ObjectMeta: marked(ns, "stolen", "WebApp", "stolen"), Spec: spec}
	theirs := &v1alpha1.AccessBinding{ObjectMeta: meta1(ns, "theirs"), Spec: spec}
	theirs.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	apps := &v1alpha1.AccessBinding{ObjectMeta: marked(ns, "app", "WebApp", "app"), Spec: spec}
	apps.OwnerReferences[0] = ownerOf(t, c, ns, "app")
	apps.Annotations = theirs.Annotations
	create(t, c, theirs)
	create(t, c, apps)
	people := "that is for people"
	more := `{"spec":{"resources":[]}}`
	judge(t, c, map[string]attempt{
		"as the operator makes them":    {creates(rights), ""},
		"changed, as the operator does": {patches(apps, more), ""},
		"deleted, as the operator does": {deletes(apps), ""},
		"its finalizer on somebody's":   {patches(theirs, `{"metadata":{"finalizers":["portico.dev/release"]}}`), ""},
		"without an owner":              {creates(changed(rights, func(r *v1alpha1.AccessBinding) { r.OwnerReferences = nil })), people},
		"of a bucket":                   {creates(changed(rights, func(r *v1alpha1.AccessBinding) { r.OwnerReferences[0].Kind = "S3Bucket" })), people},
		"of another name":               {creates(changed(rights, func(r *v1alpha1.AccessBinding) { r.Name = "other" })), people},
		"without the label":             {creates(changed(rights, func(r *v1alpha1.AccessBinding) { r.Labels = nil })), "needs the label"},
		"in a namespace of the system":  {creates(changed(rights, func(r *v1alpha1.AccessBinding) { r.Namespace = "kube-public" })), "which is a namespace of the system"},
		"somebody's, widened":           {patches(theirs, more), "does not change the spec"},
		"somebody's, deleted":           {deletes(theirs), people},
		"somebody's, with ours as owner": {
			patches(
				theirs,
				`{"metadata":{"ownerReferences":[{"apiVersion":"portico.dev/v1alpha1","kind":"WebApp","name":"theirs","uid":"x","controller":true}]}}`), "changes only its own finalizer",
		},
		"an app's, given to another": {
			patches(
				apps,
				`{"metadata":{"ownerReferences":[{"apiVersion":"portico.dev/v1alpha1","kind":"WebApp","name":"app","uid":"x","controller":true}]}}`), "belongs to no object of Portico",
		},
	})
}

// TestAStolenOperatorMakesNoDatabaseUsers tries the same with DatabaseUsers; a WebApp has one for each of its
// databases.
func TestAStolenOperatorMakesNoDatabaseUsers(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	spec := v1alpha1.DatabaseUserSpec{DatabaseRef: v1alpha1.LocalRef{Name: "ledger"}, Access: v1alpha1.AccessRead}
	user := &v1alpha1.DatabaseUser{ObjectMeta: marked(ns, "stolen-ledger", "WebApp", "stolen"), Spec: spec}
	theirs := &v1alpha1.DatabaseUser{ObjectMeta: meta1(ns, "theirs"), Spec: spec}
	theirs.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	apps := &v1alpha1.DatabaseUser{ObjectMeta: marked(ns, "app-ledger", "WebApp", "app"), Spec: spec}
	apps.OwnerReferences[0] = ownerOf(t, c, ns, "app")
	apps.Annotations = theirs.Annotations
	create(t, c, theirs)
	create(t, c, apps)
	people := "that is for people"
	more := `{"spec":{"access":"ReadWrite"}}`
	judge(t, c, map[string]attempt{
		"as the operator makes them":    {creates(user), ""},
		"changed, as the operator does": {patches(apps, more), ""},
		"deleted, as the operator does": {deletes(apps), ""},
		"without an owner":              {creates(changed(user, func(u *v1alpha1.DatabaseUser) { u.OwnerReferences = nil })), people},
		"of a bucket":                   {creates(changed(user, func(u *v1alpha1.DatabaseUser) { u.OwnerReferences[0].Kind = "S3Bucket" })), people},
		"of another app's name":         {creates(changed(user, func(u *v1alpha1.DatabaseUser) { u.Name = "other-ledger" })), people},
		"without the label":             {creates(changed(user, func(u *v1alpha1.DatabaseUser) { u.Labels = nil })), "needs the label"},
		"in a namespace of the system":  {creates(changed(user, func(u *v1alpha1.DatabaseUser) { u.Namespace = "kube-public" })), "which is a namespace of the system"},
		"somebody's, widened":           {patches(theirs, more), "does not change the spec"},
		"somebody's, deleted":           {deletes(theirs), people},
	})
}
