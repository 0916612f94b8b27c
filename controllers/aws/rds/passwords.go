package rds

import (
	"cmp"
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/password"
)

const (
	kind    = v1alpha1.KindRDSInstance
	purpose = external.PurposeMaster
)

// vault stores an object's own secret; external.Secrets implements it.
type vault interface {
	Store(ctx context.Context, kind string, obj client.Object, purpose string, values map[string]string) error
	Load(ctx context.Context, kind string, obj client.Object, purpose string) (map[string]string, error)
}

// record is what Portico stores about the master password. next is saved before it is sent to RDS, and becomes password
// afterwards: whatever happens in between, the database's password is one of the two.
type record struct {
	password string // in force
	next     string // decided on, perhaps in force; empty: none
	rotation string // the annotation's value for which next, or else password, was chosen
	resource string // RDS's own ID of the database in which password is in force: another one has another password
}

// String returns a placeholder instead of the record.
func (record) String() string { return "(secret)" }

// GoString does the same for %#v.
func (record) GoString() string { return "(secret)" }

// credentials are what one pass knows about the password.
type credentials struct {
	record
	given string // from the user's Secret
}

// Resolve reads the password that the spec refers to, and the record.
func (i *instance) Resolve(ctx context.Context, obj *v1alpha1.RDSInstance) error {
	i.creds = credentials{}
	if obj.Spec.ManageMasterUserPassword {
		return nil
	}
	values, err := i.vault.Load(ctx, kind, obj, purpose)
	if err != nil {
		return err
	}
	i.creds.record = record{values["password"], values["next"], values["rotation"], values["resource"]}
	ref := obj.Spec.MasterUserPasswordSecretRef
	if ref == nil {
		return nil
	}
	given, err := i.kube.SecretValue(ctx, obj.Namespace, *ref)
	if err != nil {
		return err
	}
	if problem := passwordProblem(obj.Spec.Engine, given); problem != "" {
		return engine.Blocked(v1alpha1.ReasonInvalidPassword, "the password in the Secret %s cannot be used: %s; "+
			"correct it, and nothing else will change. Nothing was sent to AWS", ref.Name, problem)
	}
	i.creds.given = given
	return nil
}

func (i *instance) storeRecord(ctx context.Context, obj *v1alpha1.RDSInstance, r record) error {
	err := i.vault.Store(ctx, kind, obj, purpose, map[string]string{
		"password": r.password, "next": r.next, "rotation": r.rotation, "resource": r.resource,
	})
	if err == nil {
		i.creds.record = r
	}
	return err
}

// nextPassword returns the password to send to RDS, after saving it. fresh requires another one than the password in
// force.
func (i *instance) nextPassword(ctx context.Context, obj *v1alpha1.RDSInstance, fresh bool) (string, error) {
	r, asked := i.creds.record, rotationOf(obj)
	switch {
	case i.creds.given != "":
		r.next = i.creds.given
	case r.next != "" && (asked == "" || asked == r.rotation):
	case !fresh && r.password != "":
		r.next = r.password
	default:
		generated, err := password.New(generates)
		if err != nil {
			return "", err
		}
		r.next = generated
	}
	r.rotation = cmp.Or(asked, r.rotation)
	toSend := r.next
	if r.next == r.password {
		r.next = "" // already saved
	}
	if r == i.creds.record {
		return toSend, nil
	}
	return toSend, i.storeRecord(ctx, obj, r)
}

// confirmPassword records that RDS has accepted the next password, for the database with the ID resource.
func (i *instance) confirmPassword(ctx context.Context, obj *v1alpha1.RDSInstance, resource string) error {
	r := i.creds.record
	r.password, r.next, r.resource = cmp.Or(r.next, r.password), "", resource
	if r != i.creds.record {
		if err := i.storeRecord(ctx, obj, r); err != nil {
			return err
		}
	}
	obj.Status.PasswordRotation = rotationOf(obj)
	return nil
}

// invalidatePassword records that the record's password is not in force: the instance is another one, or will be
// restored from a snapshot, and has the password of that time.
func (i *instance) invalidatePassword(ctx context.Context, obj *v1alpha1.RDSInstance) error {
	r := i.creds.record
	if r.password == "" {
		return nil
	}
	r.password, r.next, r.resource = "", cmp.Or(r.next, r.password), ""
	return i.storeRecord(ctx, obj, r)
}

// rotationOf returns the owner's latest request for a rotation.
func rotationOf(obj *v1alpha1.RDSInstance) string {
	return obj.Annotations[v1alpha1.AnnotationRotatePassword]
}

// rotationRequested reports whether the owner requests a rotation that was not done yet.
func (i *instance) rotationRequested(obj *v1alpha1.RDSInstance) bool {
	asked := rotationOf(obj)
	return asked != "" && asked != obj.Status.PasswordRotation && asked != i.creds.rotation
}
