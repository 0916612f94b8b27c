// Package databaseuser manages users of applications in databases: it creates them, maintains their rights and
// passwords, and drops them.
package databaseuser

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/databaseuser/server"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/steps"
)

const kind = v1alpha1.KindDatabaseUser

const (
	// workTimeout bounds the work of one pass in a database: a slow one must not block others.
	workTimeout = 45 * time.Second
	// rotationPause is the minimum time between two new passwords, however often one is requested: applications may
	// still use the previous one, which the next would replace.
	rotationPause = 15 * time.Minute
	// previousValid is how long the previous password stays valid.
	previousValid = 24 * time.Hour
)

// Secrets reads and writes the binding Secrets of objects; external.Secrets implements it.
type Secrets interface {
	Published(ctx context.Context, kind string, obj client.Object) (map[string]string, error)
	Publish(ctx context.Context, kind string, obj client.Object, details map[string]string) (*v1alpha1.Binding, error)
}

// Dialer connects to databases; server.Dialer implements it.
type Dialer interface {
	Connect(ctx context.Context, t server.Target) (server.Server, error)
	SignIn(ctx context.Context, t server.Target) error
}

// Reconciler implements engine.KindReconciler.
type Reconciler struct {
	// Database returns the RDSInstance with this name from the cache; nil if there is none.
	Database func(ctx context.Context, namespace, name string) (*v1alpha1.RDSInstance, error)
	Secrets  Secrets
	Dialer   Dialer
	// Delete deletes an expired object.
	Delete func(ctx context.Context, obj *v1alpha1.DatabaseUser) error
	Now    func() time.Time
	Scaled func(time.Duration) time.Duration
}

type reconciliation struct {
	Reconciler
	obj      *v1alpha1.DatabaseUser
	pass     *engine.Pass
	database *v1alpha1.RDSInstance
	details  map[string]string // from the binding Secret of the database
	target   server.Target     // with the credentials of the master user
	server   server.Server
}

// Reconcile implements engine.KindReconciler.
func (rec Reconciler) Reconcile(ctx context.Context, obj *v1alpha1.DatabaseUser, pass *engine.Pass) error {
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	r := &reconciliation{Reconciler: rec, obj: obj, pass: pass}
	defer r.close()
	if over, err := r.expire(ctx); over || err != nil {
		return err
	}
	return steps.List{
		{Name: v1alpha1.StepDatabaseReached, Do: r.reach},
		{Name: v1alpha1.StepUserReady, Do: r.ensureUser},
		{Name: v1alpha1.StepBindingReady, Do: r.ensureBinding},
	}.Reconcile(ctx, obj, pass)
}

// expire deletes an expired object, else it schedules a pass for its expiry.
func (r *reconciliation) expire(ctx context.Context) (over bool, err error) {
	at := r.obj.Spec.ExpiresAt
	if at == nil {
		return false, nil
	}
	if left := at.Sub(r.Now()); left > 0 {
		r.pass.LookAgain(left)
		return false, nil
	}
	r.pass.Normal(v1alpha1.ReasonExpired, "ExpireUser", "it was requested until %s, and is deleted",
		at.UTC().Format(time.RFC3339))
	return true, r.Delete(ctx, r.obj)
}

// Finalize implements engine.KindReconciler: the user is dropped, unless its database is deleted too.
func (rec Reconciler) Finalize(ctx context.Context, obj *v1alpha1.DatabaseUser, pass *engine.Pass) error {
	if obj.Status.Name == "" { // nothing was ever created
		return nil
	}
	if obj.Spec.DeletionPolicy == v1alpha1.DeletionRetain {
		pass.Normal(v1alpha1.ReasonUserRetained, "RetainUser", "the user %s stays in the database with its password, "+
			"as deletionPolicy says", obj.Status.Name)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	r := &reconciliation{Reconciler: rec, obj: obj, pass: pass}
	defer r.close()
	var err error
	if r.database, err = rec.Database(ctx, obj.Namespace, obj.Spec.DatabaseRef.Name); err != nil {
		return err
	}
	if r.database == nil {
		pass.Warning(v1alpha1.ReasonUserRetained, "RetainUser", "there is no RDSInstance %s any more: if its "+
			"database is still there, the user %s is, too. Drop it as the master user",
			obj.Spec.DatabaseRef.Name, obj.Status.Name)
		return nil
	}
	if goes(r.database) {
		return nil
	}
	if _, err = r.connect(ctx); err == nil {
		err = r.server.Drop(ctx, r.account())
	}
	if err != nil && !r.database.DeletionTimestamp.IsZero() && outOfReach(err) {
		pass.Warning(v1alpha1.ReasonUserRetained, "RetainUser", "the RDSInstance %s is being deleted and its "+
			"database stays, with the user %s and its password: it could not be dropped (%s). Drop it as the "+
			"master user",
			r.database.Name, obj.Status.Name, err)
		return nil
	}
	if err != nil {
		return r.heldUp(err)
	}
	pass.Normal(v1alpha1.ReasonUserDropped, "DropUser", "the user %s is dropped; what it owned is left",
		obj.Status.Name)
	return nil
}

// goes reports whether the database itself is being deleted, not only its object.
func goes(db *v1alpha1.RDSInstance) bool {
	return !db.DeletionTimestamp.IsZero() && db.Spec.DeletionPolicy == v1alpha1.DeletionDelete &&
		!external.ObserveOnly(db) &&
		db.Annotations[v1alpha1.AnnotationKeep] != "true"
}

// outOfReach reports whether the database can no longer be reached, permanently for an object being deleted: no network
// path, or no password, because its Secret is deleted with the namespace.
func outOfReach(err error) bool {
	wait, ok := engine.AsWait(err)
	return ok && slices.Contains([]string{
		v1alpha1.ReasonNoNetworkPath, v1alpha1.ReasonWaitingForDatabase,
		v1alpha1.ReasonMasterPasswordUnknown,
	}, wait.Reason)
}

// heldUp returns an error that says what a deletion waits for, and how to skip it.
func (r *reconciliation) heldUp(err error) error {
	wait, ok := engine.AsWait(err)
	if !ok || !wait.Stalled && wait.Reason != v1alpha1.ReasonDatabaseRefused {
		return err
	}
	return engine.Blocked(wait.Reason, "the user %s is not dropped from the database yet: %w. To delete this object "+
		"without that, set deletionPolicy: Retain; the user stays there then", r.obj.Status.Name, err)
}

func (r *reconciliation) close() {
	if r.server != nil {
		r.server.Close()
	}
}

// account returns the object's account in the database. Its name was saved before anything with that name was created.
func (r *reconciliation) account() server.Account {
	s := &r.obj.Status
	return server.Account{
		Name:   cmp.Or(s.Name, server.Name(r.database.Spec.Engine, r.obj.Namespace, r.obj.Name)),
		Mark:   server.Mark(r.obj.Namespace, r.obj.Name),
		Access: cmp.Or(r.obj.Spec.Access, v1alpha1.AccessReadWrite),
		IAM:    r.obj.Spec.Authentication == v1alpha1.AuthenticationIAM, Known: s.Name != "",
	}
}

// ensureUser creates the user and maintains its rights.
func (r *reconciliation) ensureUser(ctx context.Context) (string, error) {
	s := &r.obj.Status
	if s.Name == "" {
		if err := r.reserve(ctx); err != nil {
			return "", err
		}
	}
	a := r.account()
	done, err := r.server.Ensure(ctx, a)
	if err != nil {
		return "", err
	}
	s.Name, s.Database = a.Name, r.target.Database
	if len(done) > 0 {
		reason := v1alpha1.ReasonUpdated
		if r.obj.Status.Username == "" {
			reason = v1alpha1.ReasonCreated
		}
		r.pass.Normal(reason, "EnsureUser", "%s: %s", a.Name, summary(done))
	}
	return a.Name + " may " + access.DatabaseWords(a.Access) + " in the database " + s.Database, nil
}

// reserve saves the user's name before anything with that name is created, if the name is free. An existing user is
// ours only if it has our mark.
func (r *reconciliation) reserve(ctx context.Context) error {
	a := r.account()
	there, err := r.server.Exists(ctx, a)
	if err != nil || there {
		return err
	}
	r.obj.Status.Name = a.Name
	return r.pass.SaveStatus(ctx)
}
