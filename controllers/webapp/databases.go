package webapp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// userOf returns the kind of user with which the application signs in to a database; empty for resources without users.
func userOf(b v1alpha1.WebAppBinding) v1alpha1.BindingUser {
	if b.Kind != v1alpha1.KindRDSInstance {
		return ""
	}
	return cmp.Or(b.User, v1alpha1.BindingUserMaster)
}

// longestUserName bounds the name of a DatabaseUser, so that people can read it.
const longestUserName = 63

// userName returns the name of a binding's DatabaseUser. The hash distinguishes names that are equal when joined:
// application shop with database eu-orders, and shop-eu with orders.
func userName(app *v1alpha1.WebApp, b v1alpha1.WebAppBinding) string {
	sum := sha256.Sum256([]byte(app.Name + "/" + b.Name))
	hash := "-" + hex.EncodeToString(sum[:4])
	name := formerUserName(app, b)
	return strings.TrimRight(name[:min(len(name), longestUserName-len(hash))], "-.") + hash
}

// formerUserName returns the name that earlier versions used. An existing DatabaseUser keeps it: another name would be
// another user in the database.
func formerUserName(app *v1alpha1.WebApp, b v1alpha1.WebAppBinding) string {
	return app.Name + "-" + b.Name
}

// userNameOf returns the name of a binding's DatabaseUser, which an earlier version may have created.
func (r *reconciliation) userNameOf(ctx context.Context, b v1alpha1.WebAppBinding) (string, error) {
	user, former := &v1alpha1.DatabaseUser{}, formerUserName(r.app, b)
	found, err := engine.Find(ctx, r.Applier.Client, r.objects.Key(former), user)
	if found && metav1.IsControlledBy(user, r.app) && user.DeletionTimestamp.IsZero() &&
		user.Spec.DatabaseRef.Name == b.Name {
		return former, nil
	}
	return userName(r.app, b), err
}

// bindUser gives the application its own user in a database, and returns the user's connection details. The first Pods
// wait until the user is Ready; Pods with other details, such as the master user's, run on until then.
func (r *reconciliation) bindUser(ctx context.Context, b v1alpha1.WebAppBinding) (*v1alpha1.Binding, error) {
	name, err := r.userNameOf(ctx, b)
	if err != nil {
		return nil, err
	}
	user := &v1alpha1.DatabaseUser{}
	if err := r.objects.Apply(ctx, databaseUser(r.app, name, b), user); err != nil {
		return nil, err
	}
	s := &user.Status
	there := s.Binding != nil && len(s.Binding.Keys) > 0
	if there && (s.Ready && s.ObservedGeneration == user.Generation || r.usesSecret(s.Binding.Name)) {
		return s.Binding, nil
	}
	return nil, waitForUser(user)
}

// waitForUser says what a DatabaseUser waits for. The application is blocked whenever the user is, for the same reason.
func waitForUser(user *v1alpha1.DatabaseUser) error {
	said := "it is not checked yet"
	if c := meta.FindStatusCondition(user.Status.Conditions, v1alpha1.ConditionReady); c != nil {
		said = c.Message
	}
	stalled := meta.FindStatusCondition(user.Status.Conditions, v1alpha1.ConditionStalled)
	switch {
	case user.Annotations[v1alpha1.AnnotationPaused] == "true" && !user.Status.Ready:
		said = "it is paused by its annotation " + v1alpha1.AnnotationPaused
	case stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.ObservedGeneration == user.Generation:
		return engine.Blocked(stalled.Reason, "the DatabaseUser %s is not Ready: %s", user.Name, stalled.Message)
	}
	return engine.Wait(v1alpha1.ReasonWaitingForBinding, engine.WatchFallback,
		"waiting for the DatabaseUser %s to be Ready: %s", user.Name, said)
}

// usesSecret reports whether the Pods already have the details of this Secret.
func (r *reconciliation) usesSecret(name string) bool {
	return slices.ContainsFunc(r.app.Status.Bindings, func(s v1alpha1.WebAppBound) bool { return s.Secret == name })
}

// dropUsers deletes the DatabaseUsers that no binding needs any more, and whose details the current Pods do not use. It
// is called once no older Pod is left.
func (r *reconciliation) dropUsers(ctx context.Context) error {
	all := &v1alpha1.DatabaseUserList{}
	if err := r.Applier.Client.List(ctx, all, client.InNamespace(r.app.Namespace), client.MatchingLabels{
		v1alpha1.LabelWebApp: r.app.Name,
	}); err != nil {
		return fmt.Errorf("list the application's DatabaseUsers: %w", err)
	}
	for i := range all.Items {
		name, details := all.Items[i].Name, all.Items[i].Status.Binding
		if details != nil && r.usesSecret(details.Name) {
			continue // the new bindings are waited for
		}
		if slices.ContainsFunc(r.app.Spec.Bindings, func(b v1alpha1.WebAppBinding) bool {
			return userOf(b) == v1alpha1.BindingUserOwn && b.Name == all.Items[i].Spec.DatabaseRef.Name &&
				(name == userName(r.app, b) || name == formerUserName(r.app, b))
		}) {
			continue
		}
		gone := &v1alpha1.DatabaseUser{}
		gone.Name = name
		if err := r.objects.Delete(ctx, gone); err != nil {
			return err
		}
	}
	return nil
}

// databaseUser declares the application's user in a database.
func databaseUser(app *v1alpha1.WebApp, name string, b v1alpha1.WebAppBinding) map[string]any {
	return request(app, v1alpha1.KindDatabaseUser, name, map[string]any{
		"databaseRef": map[string]any{"name": b.Name}, "access": string(cmp.Or(b.Access, v1alpha1.AccessReadWrite)),
	})
}
