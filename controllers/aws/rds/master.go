package rds

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// planMaster compares the source of the password, and the password as far as it can be known: RDS never shows it.
func (i *instance) planMaster(obj *v1alpha1.RDSInstance, seen *instanceState) ([]external.Action, error) {
	if seen.pending().MasterUserPassword != nil {
		return nil, engine.Wait(v1alpha1.ReasonPasswordChanging, modifyingPoll,
			"RDS has taken a new master password and does not apply it yet; it is published when it is in force")
	}
	switch {
	case obj.Spec.ManageMasterUserPassword:
		return i.planManaged(obj, seen)
	case obj.Spec.MasterUserPasswordSecretRef != nil:
		return i.planGiven(obj, seen), nil
	}
	var why string
	switch c := i.creds; {
	case i.rotationRequested(obj):
		why = "a new one, as the annotation " + v1alpha1.AnnotationRotatePassword + " asks"
	case seen.db.MasterUserSecret != nil:
		why = "a new one; RDS does not manage it any more"
	case i.takenOver(obj, seen):
		why = "a new one, as the database is taken over"
	case c.next != "":
		why = "the one that was decided on before"
	case c.password == "":
		why = "a new one, as none is known"
	default:
		return nil, nil
	}
	return []external.Action{i.changePassword(obj, seen, why)}, nil
}

// takenOver reports whether the instance is, or may be, another one than the record's.
func (i *instance) takenOver(obj *v1alpha1.RDSInstance, seen *instanceState) bool {
	return i.replaced(seen) || i.Owner(obj, seen) == external.Offered
}

// replaced reports whether the record belongs to another database with that name: one restored from a snapshot has our
// tags from the start, and its own password.
func (i *instance) replaced(seen *instanceState) bool {
	r, is := i.creds.record, seen.resource()
	return r.resource != "" && is != "" && r.resource != is
}

// planRecord saves which database the record belongs to. If it belongs to another one, that is saved before the
// instance is tagged as ours: afterwards this would be unknown, and an invalid password would be published.
func (i *instance) planRecord(obj *v1alpha1.RDSInstance, seen *instanceState) []external.Action {
	r := i.creds.record
	silent := func(*engine.Events) {} // neither step changes anything in AWS
	switch {
	case r.password == "":
		return nil
	case i.takenOver(obj, seen):
		return []external.Action{{
			Name: "DoubtMasterPassword", Details: true, Why: "the database is another one than that of the password " +
				"that is known",
			Do: func(ctx context.Context) error { return i.invalidatePassword(ctx, obj) }, Event: silent,
		}}
	case r.resource == "" && seen.resource() != "":
		r.resource = seen.resource()
		return []external.Action{{
			Name: "KeepMasterPassword", Details: true, Why: "the password that is known is of the database " +
				r.resource,
			Do: func(ctx context.Context) error { return i.storeRecord(ctx, obj, r) }, Event: silent,
		}}
	}
	return nil
}

func (i *instance) planGiven(obj *v1alpha1.RDSInstance, seen *instanceState) []external.Action {
	name := obj.Spec.MasterUserPasswordSecretRef.Name
	var actions []external.Action
	if c := i.creds; c.next != "" || c.given != c.password || seen.db.MasterUserSecret != nil ||
		i.takenOver(obj, seen) {
		actions = append(actions, i.changePassword(obj, seen, "that of the Secret "+name))
	}
	if asked := rotationOf(obj); asked != "" && asked != obj.Status.PasswordRotation {
		actions = append(actions, external.Action{
			Name: "RotatePassword", Why: "nothing is rotated: the password is that of the Secret " + name +
				"; change the Secret",
			Do: func(context.Context) error { obj.Status.PasswordRotation = asked; return nil },
			Event: func(e *engine.Events) {
				e.Warning(v1alpha1.ReasonRotationIgnored, "RotatePassword",
					"the password comes from the Secret %s: change it there, and Portico applies it; nothing was "+
						"rotated", name)
			},
		})
	}
	return actions
}

// changePassword sends a password to RDS. RDS always applies it at once; changes that wait for the window keep waiting.
func (i *instance) changePassword(obj *v1alpha1.RDSInstance, seen *instanceState, why string) external.Action {
	managed := seen.db.MasterUserSecret != nil
	fresh := i.rotationRequested(obj) || managed || i.takenOver(obj, seen)
	return external.Action{
		Name: "ChangeMasterPassword", Why: "master password: " + why, Details: true, Secretive: true,
		Do: func(ctx context.Context) error {
			password, err := i.nextPassword(ctx, obj, fresh)
			if err != nil {
				return err
			}
			in := &rds.ModifyDBInstanceInput{
				DBInstanceIdentifier: aws.String(seen.identifier()), MasterUserPassword: &password,
				ApplyImmediately: aws.Bool(obj.Spec.ApplyImmediately),
			}
			if managed {
				in.ManageMasterUserPassword = aws.Bool(false)
			}
			if _, err := i.svc.ModifyDBInstance(ctx, in); err != nil {
				return withoutPassword(explain(err), password)
			}
			return i.confirmPassword(ctx, obj, seen.resource())
		},
		Event: func(e *engine.Events) {
			e.Normal(v1alpha1.ReasonPasswordChanged, "ChangeMasterPassword", "master password: %s", why)
		},
	}
}

// rotationPoll is the interval for checking whether a rotation would still interrupt.
const rotationPoll = 5 * time.Minute

// planManaged lets RDS manage the password, and rotate it on request. RDS rotates only together with everything that
// waits for the maintenance window, so a rotation waits for that too.
func (i *instance) planManaged(obj *v1alpha1.RDSInstance, seen *instanceState) ([]external.Action, error) {
	asked := rotationOf(obj)
	in := &rds.ModifyDBInstanceInput{DBInstanceIdentifier: aws.String(seen.identifier())}
	action := external.Action{Name: "ChangeMasterPassword", Details: true}
	switch {
	case seen.db.MasterUserSecret == nil:
		in.ManageMasterUserPassword, in.ApplyImmediately = aws.Bool(true), aws.Bool(obj.Spec.ApplyImmediately)
		in.MasterUserSecretKmsKeyId = external.NonEmpty(obj.Spec.MasterUserSecretKmsKeyID)
		action.Why = "master password: RDS manages it from now on, in AWS Secrets Manager"
		action.References = []external.Reference{{Kind: reference.KMSKey, Name: obj.Spec.MasterUserSecretKmsKeyID}}
	case secretWait(seen) != nil:
		return nil, secretWait(seen)
	case asked == "" || asked == obj.Status.PasswordRotation:
		return nil, nil
	case waitsForWindow(seen) && !obj.Spec.ApplyImmediately:
		return nil, engine.Wait(v1alpha1.ReasonRotationWaits, rotationPoll,
			"the rotation of the password waits for the maintenance window, because RDS would make the changes that "+
				"wait for it at once too; set applyImmediately: true to have both now")
	default:
		in.RotateMasterUserPassword, in.ApplyImmediately = aws.Bool(true), aws.Bool(true)
		action.Why = "master password: RDS rotates it, as the annotation " + v1alpha1.AnnotationRotatePassword + " asks"
	}
	action.Do = func(ctx context.Context) error {
		_, err := i.svc.ModifyDBInstance(ctx, in)
		if err == nil {
			obj.Status.PasswordRotation = asked
		}
		return explain(err)
	}
	action.Event = func(e *engine.Events) {
		e.Normal(v1alpha1.ReasonPasswordChanged, "ChangeMasterPassword", "%s", action.Why)
	}
	return []external.Action{action}, nil
}

// secretWait returns why the secret in which RDS keeps the password cannot be used.
func secretWait(seen *instanceState) error {
	switch aws.ToString(seen.db.MasterUserSecret.SecretStatus) {
	case "creating":
		return engine.Wait(v1alpha1.ReasonSecretCreating, modifyingPoll, "RDS is making the secret with the master "+
			"password in AWS Secrets Manager; it is published when it is complete")
	case "impaired":
		return engine.Blocked(v1alpha1.ReasonSecretImpaired, "RDS cannot use the secret in AWS Secrets Manager in "+
			"which it keeps the master password: make the secret and its KMS key available to RDS again, or set "+
			"manageMasterUserPassword: false to have the password changed")
	}
	return nil
}

// withoutPassword hides an error of AWS that quotes the password.
func withoutPassword(err error, password string) error {
	if err != nil && strings.Contains(err.Error(), password) {
		return engine.Blocked(v1alpha1.ReasonInvalidPassword, "RDS refused the master password; its answer is not "+
			"shown, because it quotes the password")
	}
	return err
}
