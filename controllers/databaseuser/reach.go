package databaseuser

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/portico-platform/portico/api/rds"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// reach signs in to the database as its master user.
func (r *reconciliation) reach(ctx context.Context) (string, error) {
	name := r.obj.Spec.DatabaseRef.Name
	var err error
	if r.database, err = r.Database(ctx, r.obj.Namespace, name); err != nil {
		return "", err
	}
	switch db := r.database; {
	case db == nil:
		return "", engine.Blocked(v1alpha1.ReasonNotFound, "there is no RDSInstance %s in this namespace; request it",
			name)
	case !db.DeletionTimestamp.IsZero():
		return "", engine.Blocked(v1alpha1.ReasonNotFound, "the RDSInstance %s is being deleted; delete this "+
			"object, too", name)
	}
	return r.connect(ctx)
}

// connect signs in to r.database as its master user.
func (r *reconciliation) connect(ctx context.Context) (_ string, err error) {
	name := r.database.Name
	switch db := r.database; {
	case !rds.EngineHasUsers(db.Spec.Engine):
		return "", engine.Blocked(v1alpha1.ReasonEngineNotSupported, "the RDSInstance %s has the engine %s: database "+
			"users are possible in postgres, mysql and mariadb only", name, db.Spec.Engine)
	case db.Status.Endpoint == "" || db.Status.Binding == nil:
		return "", waiting(db)
	}
	if err := r.readDetails(ctx); err != nil {
		return "", err
	}
	r.server, err = r.Dialer.Connect(ctx, r.target)
	if errors.Is(err, server.ErrSignIn) {
		return "", engine.Blocked(v1alpha1.ReasonMasterPasswordRefused, "the database refuses the master user %s or "+
			"its password, which somebody may have changed; the annotation %s of the RDSInstance %s gives it a new one",
			r.target.Username, v1alpha1.AnnotationRotatePassword, name)
	}
	if wait, ok := engine.AsWait(err); ok && wait.Reason == v1alpha1.ReasonNoNetworkPath && !r.database.Status.Ready {
		return "", waiting(r.database) // it is restarting, or stopped
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("signed in at %s as the master user", r.target.Host), nil
}

// waiting returns the error for a database that is not available.
func waiting(db *v1alpha1.RDSInstance) error {
	state := "it is not checked yet"
	if ready := meta.FindStatusCondition(db.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		state = ready.Message
	}
	return engine.Wait(v1alpha1.ReasonWaitingForDatabase, engine.WatchFallback,
		"waiting for the RDSInstance %s to be Ready: %s", db.Name, state)
}

// readDetails sets the target to sign in to. Its address is from the status, as AWS reports it: somebody who can write
// Secrets must not choose where the master password is sent.
func (r *reconciliation) readDetails(ctx context.Context) (err error) {
	db := r.database
	if external.ObserveOnly(db) {
		return engine.Blocked(v1alpha1.ReasonMasterPasswordUnknown,
			"the RDSInstance %s is only looked at (managementPolicy Observe), and nobody knows its master password "+
				"here; make this object where the database is managed", db.Name)
	}
	if db.Spec.ManageMasterUserPassword {
		return engine.Blocked(v1alpha1.ReasonMasterPasswordUnknown,
			"RDS keeps the master password of the RDSInstance %s in AWS Secrets Manager (manageMasterUserPassword), "+
				"where Portico does not read it; let Portico keep it, or make the user by hand", db.Name)
	}
	if r.details, err = r.Secrets.Published(ctx, v1alpha1.KindRDSInstance, db); err != nil {
		return err
	}
	if r.details["password"] == "" {
		return waiting(db)
	}
	r.target = server.Target{
		Engine: db.Spec.Engine, Host: db.Status.Endpoint, Port: db.Status.Port, Database: r.details["database"],
		Username: r.details["username"], Password: server.Password(r.details["password"]),
	}
	return nil
}
