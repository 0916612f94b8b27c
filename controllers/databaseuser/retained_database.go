package databaseuser

import (
	"context"
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

const (
	// vacateFor is how long the deletion of an RDSInstance with a retained database waits until people's own users are
	// dropped from it.
	vacateFor  = 5 * time.Minute
	vacatePoll = 2 * time.Second
)

// Vacate returns a function that drops people's own users from a database that is retained when its RDSInstance is
// deleted: afterwards Portico no longer knows its master password, and nobody would drop them. The function returns an
// engine.Wait until they are gone. If that takes too long, an event names those that remain.
func Vacate(c client.Client, now func() time.Time) func(context.Context, client.Object, *engine.Pass) error {
	return func(ctx context.Context, db client.Object, pass *engine.Pass) error {
		left, err := dropPeople(ctx, c, db)
		if err != nil || len(left) == 0 {
			return err
		}
		names := strings.Join(left, ", ")
		if since := db.GetDeletionTimestamp(); since != nil && now().Sub(since.Time) > vacateFor {
			pass.Warning(v1alpha1.ReasonUserRetained, "Vacate",
				"the database stays, and so may users of people in it that could not be dropped (%s): drop them as "+
					"the master user", names)
			return nil
		}
		return engine.Wait(v1alpha1.ReasonDroppingUsers, vacatePoll, "the database stays; the users of people in it "+
			"are dropped first: %s", names)
	}
}

// dropPeople deletes the DatabaseUsers that the database controls, and returns the names of those that still exist.
func dropPeople(ctx context.Context, c client.Client, db client.Object) (left []string, err error) {
	all := &v1alpha1.DatabaseUserList{}
	if err := c.List(ctx, all, client.InNamespace(db.GetNamespace())); err != nil {
		return nil, err
	}
	for i := range all.Items {
		user := &all.Items[i]
		if !metav1.IsControlledBy(user, db) {
			continue
		}
		left = append(left, user.Name)
		if user.DeletionTimestamp.IsZero() {
			err = errors.Join(err, deleteBy(c)(ctx, user))
		}
	}
	return left, err
}
