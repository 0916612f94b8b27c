package webapp

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// userOf returns whom the application signs in to a database as; empty for what has no users.
func userOf(b v1alpha1.WebAppBinding) v1alpha1.BindingUser {
	if b.Kind != v1alpha1.KindRDSInstance {
		return ""
	}
	return cmp.Or(b.User, v1alpha1.BindingUserMaster)
}

// userName returns the name of the DatabaseUser that a binding makes.
func userName(app *v1alpha1.WebApp, b v1alpha1.WebAppBinding) string { return app.Name + "-" + b.Name }

// bindUser gives the application a user of its own in a database, and returns the user's connection details. The first Pods with them wait until
// the user is Ready; those that run with others, such as the master user's, run on until then.
func (r *reconciliation) bindUser(ctx context.Context, b v1alpha1.WebAppBinding) (*v1alpha1.Binding, error) {
	user := &v1alpha1.DatabaseUser{}
	if err := r.objects.Apply(ctx, databaseUser(r.app, b), user); err != nil {
		return nil, err
	}
	s := &user.Status
	reason, said := "", "it is not checked yet"
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil {
		reason, said = c.Reason, c.Message
	}
	if user.Annotations[v1alpha1.AnnotationPaused] == "true" && !s.Ready {
		said = "it is paused by its annotation " + v1alpha1.AnnotationPaused
	}
	there := s.Binding != nil && len(s.Binding.Keys) > 0
	if there && (s.Ready && s.ObservedGeneration == user.Generation || r.usesSecret(s.Binding.Name)) {
		return s.Binding, nil
	}
	if slices.Contains(unreachable, reason) {
		said += ". With user: Master in this binding the application signs in as the database's master user, who can do everything in it"
	}
	return nil, engine.Wait(v1alpha1.ReasonWaitingForBinding, watchFallback, "waiting for the DatabaseUser %s to be Ready: %s", user.Name, said)
}

// unreachable are reasons why Portico makes no user in a database, which no waiting mends.
var unreachable = []string{
	v1alpha1.ReasonAddressNotAllowed, v1alpha1.ReasonCertificateNotTrusted, v1alpha1.ReasonEngineNotSupported, v1alpha1.ReasonMasterPasswordUnknown,
	v1alpha1.ReasonNoDatabase, v1alpha1.ReasonNoNetworkPath,
}

// usesSecret reports whether the Pods were given the details of this Secret already.
func (r *reconciliation) usesSecret(name string) bool {
	return slices.ContainsFunc(r.app.Status.Bindings, func(s v1alpha1.WebAppBound) bool { return s.Secret == name })
}

// dropUsers deletes the DatabaseUsers that no binding asks for any more, and whose details the Pods were not given last. It is called once no
// older Pod is left.
func (r *reconciliation) dropUsers(ctx context.Context) error {
	all := &v1alpha1.DatabaseUserList{}
	if err := r.Applier.Client.List(ctx, all, client.InNamespace(r.app.Namespace), client.MatchingLabels{v1alpha1.LabelWebApp: r.app.Name}); err != nil {
		return fmt.Errorf("list the application's DatabaseUsers: %w", err)
	}
	for i := range all.Items {
		name, details := all.Items[i].Name, all.Items[i].Status.Binding
		if details != nil && r.usesSecret(details.Name) {
			continue // the new bindings are waited for
		}
		if slices.ContainsFunc(r.app.Spec.Bindings, func(b v1alpha1.WebAppBinding) bool {
			return userOf(b) == v1alpha1.BindingUserOwn && userName(r.app, b) == name
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
func databaseUser(app *v1alpha1.WebApp, b v1alpha1.WebAppBinding) map[string]any {
	return request(app, v1alpha1.KindDatabaseUser, userName(app, b), map[string]any{
		"databaseRef": map[string]any{"name": b.Name}, "access": string(cmp.Or(b.Access, v1alpha1.AccessReadWrite)),
	})
}
