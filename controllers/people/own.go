package people

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/rds"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
)

const (
	// ownLives is how long a person's own database user lives after its password was last shown.
	ownLives = 24 * time.Hour
	// ownWait is how long a request waits for the user to become Ready; some seconds are usual. The portal waits 9 s
	// for any answer of the operator.
	ownWait = 6 * time.Second
	ownPoll = 200 * time.Millisecond
	// ownManager is the field manager of such users.
	ownManager = "portico-people"
)

// OwnUsers returns a function that creates DatabaseUsers for people; they are deleted with their database. It reads
// from the cache of c.
func OwnUsers(c client.Client, now func() time.Time) MakeOwn {
	return func(ctx context.Context, person string, of types.NamespacedName, access v1alpha1.BindingAccess) (
		Own, error,
	) {
		db := &v1alpha1.RDSInstance{}
		if found, err := engine.Find(ctx, c, of, db); err != nil {
			return Own{}, unavailable(err)
		} else if !found || !db.DeletionTimestamp.IsZero() {
			return Own{}, problem(http.StatusConflict, "the database %s is being deleted", of.Name)
		}
		if why := rds.NoOwnUsers(&db.Spec); why != "" {
			return Own{}, problem(http.StatusConflict, "people have no users of their own in the database %s: %s. "+
				"Owners of the team can see the master password", of.Name, why)
		}
		own := Own{
			DatabaseUser: types.NamespacedName{Namespace: of.Namespace, Name: ownName(db.Name, person)},
			Access:       access, ExpiresAt: now().Add(ownLives).UTC().Truncate(time.Second),
		}
		user := &v1alpha1.DatabaseUser{}
		if found, err := engine.Find(ctx, c, own.DatabaseUser, user); err != nil {
			return own, unavailable(err)
		} else if found && (!metav1.IsControlledBy(user, db) ||
			user.Annotations[v1alpha1.AnnotationRequestedBy] != person) {
			return own, problem(http.StatusConflict, "the DatabaseUser %s is not yours and stays: delete it", user.Name)
		}
		declared := ownUser(db, person, own)
		config := client.ApplyConfigurationFromUnstructured(declared)
		if err := c.Apply(ctx, config, client.FieldOwner(ownManager), client.ForceOwnership); err != nil {
			return own, problem(http.StatusConflict, "your user in %s cannot be created: %s", of.Name, err)
		}
		return own, awaitOwn(ctx, c, own, declared)
	}
}

// ownName returns the name of the DatabaseUser of a person in a database. It contains a hash, since usernames can have
// characters that object names cannot. The admission policy for the operator's writes relies on its prefix.
func ownName(database, person string) string {
	sum := sha256.Sum256([]byte(database + "\x00" + person))
	const longest = 50 // of the part from the database's name; the whole has at most 63
	return strings.TrimSuffix(database[:min(len(database), longest)], ".") + "-" + hex.EncodeToString(sum[:6])
}

func ownUser(db *v1alpha1.RDSInstance, person string, own Own) *unstructured.Unstructured {
	owner := metav1.NewControllerRef(db, v1alpha1.GroupVersion.WithKind(v1alpha1.KindRDSInstance))
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindDatabaseUser,
		"metadata": map[string]any{
			"namespace": own.DatabaseUser.Namespace, "name": own.DatabaseUser.Name,
			"labels":      map[string]any{apply.Label: apply.LabelValue},
			"annotations": map[string]any{v1alpha1.AnnotationRequestedBy: person},
			"ownerReferences": []any{map[string]any{
				"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name, "uid": string(owner.UID),
				"controller":         true,
				"blockOwnerDeletion": true,
			}},
		},
		"spec": map[string]any{
			"databaseRef": map[string]any{"name": db.Name}, "access": string(own.Access),
			"deletionPolicy": string(v1alpha1.DeletionDelete),
			"expiresAt":      own.ExpiresAt.Format(time.RFC3339),
		},
	}}
}

// awaitOwn waits until the user is Ready, and returns an *Error if it is not after ownWait.
func awaitOwn(ctx context.Context, c client.Client, own Own, declared *unstructured.Unstructured) error {
	said := "it is not checked yet"
	err := wait.PollUntilContextTimeout(ctx, ownPoll, ownWait, true, func(ctx context.Context) (bool, error) {
		user := &v1alpha1.DatabaseUser{}
		if err := c.Get(ctx, own.DatabaseUser, user); err != nil {
			return false, client.IgnoreNotFound(err) // the cache is stale
		}
		if user.UID != declared.GetUID() || user.Generation < declared.GetGeneration() {
			return false, nil // the cache is stale
		}
		if !user.DeletionTimestamp.IsZero() {
			return false, problem(http.StatusConflict, "your user %s is being dropped: try again in a moment",
				user.Name)
		}
		ready := meta.FindStatusCondition(user.Status.Conditions, v1alpha1.ConditionReady)
		if ready != nil {
			said = ready.Message
		}
		stalled := meta.IsStatusConditionTrue(user.Status.Conditions, v1alpha1.ConditionStalled)
		if user.Status.ObservedGeneration != user.Generation {
			return false, nil
		}
		return user.Status.Ready || stalled, nil
	})
	user := &v1alpha1.DatabaseUser{}
	if err == nil {
		err = c.Get(ctx, own.DatabaseUser, user)
	}
	switch {
	case wait.Interrupted(err), err == nil && !user.Status.Ready:
		return problem(http.StatusConflict, "your user %s is not in the database yet: %s", own.DatabaseUser.Name, said)
	case isProblem(err):
		return err
	case err != nil:
		return unavailable(fmt.Errorf("wait for the user: %w", err))
	}
	return nil
}

func isProblem(err error) bool {
	_, is := errors.AsType[*Error](err)
	return is
}
