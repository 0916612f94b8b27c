package rds

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// planSettings compares all settings except those of the storage, and changes them in one call. The error says what
// remains afterwards.
func (i *instance) planSettings(obj *v1alpha1.RDSInstance, seen *instanceState, now availability) (
	[]external.Action, error,
) {
	all, rest := differences(obj, seen, impatient(obj))
	changes, storage := splitStorage(all)
	rest = cmp.Or(now.wait, rest)
	switch {
	case len(changes) > 0 && now.modifiable:
		return external.PlanCall(changes, func(some []external.Change) external.Action {
			return i.modify(obj, seen, some)
		}), rest
	case len(changes) > 0:
		return nil, cmp.Or(rest, waitModifying(seen.status()))
	case rest != nil || !obj.Spec.ApplyImmediately:
		return nil, rest
	}
	left, _ := differences(obj, seen, true)
	if len(storage) > 0 { // it is not requested yet
		left, _ = splitStorage(left)
	}
	if len(left) > 0 {
		return nil, engine.Wait(v1alpha1.ReasonModifying, modifyingPoll, "RDS is making the change: %s",
			external.Describe(left))
	}
	return nil, nil
}

// impatient reports whether changes that wait for the maintenance window are requested again, because the owner no
// longer wants to wait.
func impatient(obj *v1alpha1.RDSInstance) bool {
	return obj.Spec.ApplyImmediately && obj.Status.ImmediateGeneration != obj.Generation
}

// differences returns the changes to make; inForce includes those that are requested and not applied yet.
func differences(obj *v1alpha1.RDSInstance, seen *instanceState, inForce bool) ([]external.Change, error) {
	if inForce {
		seen = seen.inForce()
	}
	changes := external.Changes(descriptions(obj.Spec.Engine), obj, seen)
	changes = slices.DeleteFunc(changes, func(c external.Change) bool {
		// Autoscaling has reached its maximum.
		return c.Path == "maxAllocatedStorage" && c.From == noAutoscaling && c.To != noAutoscaling &&
			external.NotLess(external.FormatInt(seen.db.AllocatedStorage), c.To)
	})
	have := firstString(seen.pending().EngineVersion, seen.db.EngineVersion)
	version, err := planVersion(obj, have)
	if version != nil {
		changes = append(changes, *version)
	}
	return changes, err
}

// modify returns the call that makes the changes.
func (i *instance) modify(obj *v1alpha1.RDSInstance, seen *instanceState, changes []external.Change) external.Action {
	var added []external.Reference
	for _, c := range changes {
		switch c.Path {
		case groupsPath:
			added = append(added, reference.Added(reference.SecurityGroup, external.SplitSet(c.From), external.SplitSet(
				c.To))...)
		case parameterGroupPath:
			added = append(added, external.Reference{Kind: reference.ParameterGroup, Name: c.To})
		}
	}
	return external.Action{
		Name: "ModifyDBInstance", Why: external.Describe(changes), Changes: changes,
		References: added, Do: func(ctx context.Context) error {
			in := modification(obj, seen, changes)
			if _, err := i.svc.ModifyDBInstance(ctx, in); err != nil {
				return explain(err)
			}
			if obj.Spec.ApplyImmediately {
				obj.Status.ImmediateGeneration = obj.Generation
			}
			return nil
		},
	}
}

func modification(obj *v1alpha1.RDSInstance, seen *instanceState, changes []external.Change) *input {
	in := &input{
		DBInstanceIdentifier: aws.String(seen.identifier()),
		ApplyImmediately:     aws.Bool(obj.Spec.ApplyImmediately),
	}
	for _, c := range changes {
		if c.Path == versionPath {
			in.EngineVersion = aws.String(c.To)
			if major(obj.Spec.Engine, c.From) != major(obj.Spec.Engine, c.To) {
				in.AllowMajorVersionUpgrade = aws.Bool(true)
			}
		}
		for _, s := range settings {
			if s.Path == c.Path {
				s.set(in, c.To, seen)
			}
		}
	}
	if slices.ContainsFunc(changes, isStorageChange) {
		completeStorage(obj, seen, in)
	}
	return in
}
