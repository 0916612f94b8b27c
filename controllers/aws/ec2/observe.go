package ec2

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// Observe finds the instance. Settings that DescribeInstances does not return are read only if they are declared or
// managed.
func (i *instance) Observe(ctx context.Context, obj *v1alpha1.EC2Instance) (*instanceState, error) {
	seen, err := i.find(ctx, obj)
	if err != nil || seen == nil {
		return nil, err
	}
	if !external.ReadsSettings(obj, i.Owner(obj, seen)) {
		return seen, nil
	}
	if err := i.readMore(ctx, obj, seen); err != nil {
		return nil, err
	}
	return seen, nil
}

// readMore reads the settings that have calls of their own.
func (i *instance) readMore(ctx context.Context, obj *v1alpha1.EC2Instance, seen *instanceState) (err error) {
	if external.AnyInUse(protection.settings, obj) {
		if seen.protected, err = i.readProtection(ctx, seen); err != nil {
			return err
		}
	}
	if external.AnyInUse(credits.settings, obj) && isBurstable(string(seen.vm.InstanceType)) {
		if seen.credits, err = i.readCredits(ctx, seen); err != nil {
			return err
		}
	}
	if len(devices(obj)) == 0 {
		return nil
	}
	return i.addVolumes(ctx, obj, seen)
}

// find reads the instance by ID, once that is known: from the latest listing in a routine pass, else in one call with
// concurrent reads of others. Until then it searches by tags, and by the token of a launch whose response was lost.
func (i *instance) find(ctx context.Context, obj *v1alpha1.EC2Instance) (*instanceState, error) {
	s := &obj.Status
	i.terminated = false
	if seen, ok := cloud.ListingOf[instanceState](i.session).Get(ctx, s.ARN); ok {
		return &seen, nil
	}
	if s.InstanceID != "" {
		seen, err := i.svc.byID.GetOne(ctx, s.InstanceID, i.svc.readOne)
		switch {
		case err != nil:
			return nil, err
		case isThere(obj, seen) && s.LastSyncTime == nil && i.Owner(obj, seen) == external.Foreign:
			s.ARN, s.InstanceID = "", "" // it should have been adopted, was never marked, and is no longer offered
		case isThere(obj, seen):
			return seen, nil
		case s.ARN != "":
			i.terminated = seen != nil
			return nil, failedLaunch(obj, seen)
		}
		// Not reported yet, or acknowledged as gone: another launch of this object may have succeeded.
	}
	seen, err := i.search(ctx, obj)
	if seen != nil || err != nil || s.AccountID == "" {
		return seen, err
	}
	return i.byToken(ctx, obj)
}

// byToken finds the instance of a launch whose response was lost, even if it does not show its tags yet.
func (i *instance) byToken(ctx context.Context, obj *v1alpha1.EC2Instance) (*instanceState, error) {
	var found *instanceState
	err := i.svc.pages(ctx, func(seen instanceState) {
		if isThere(obj, &seen) {
			found = &seen
		}
	}, filter("client-token", token(obj)))
	return found, err
}

// isThere reports whether the instance exists. A terminated one does not, and one that is shutting down only while obj
// is being deleted.
func isThere(obj *v1alpha1.EC2Instance, seen *instanceState) bool {
	if seen == nil || seen.state() == ec2types.InstanceStateNameTerminated {
		return false
	}
	return !seen.ended() || !obj.DeletionTimestamp.IsZero()
}

// search finds obj's instance by the ownership tags, including one of an earlier object; and an offered one, if obj
// would adopt it. A launch that the search does not show yet is not repeated, because of its token.
func (i *instance) search(ctx context.Context, obj *v1alpha1.EC2Instance) (*instanceState, error) {
	marks := i.session.Identity.OwnershipTags(obj)
	all, _, err := i.svc.byName.Get(
		ctx, ownerKey{marks[cloud.TagCluster], marks[cloud.TagKind], marks[cloud.TagNamespace], marks[cloud.TagName]})
	if err != nil {
		return nil, err
	}
	for _, owner := range []external.Owner{external.Ours, external.Earlier} {
		if seen, err := i.only(obj, all, owner); seen != nil || err != nil {
			return seen, err
		}
	}
	if (obj.Spec.AdoptionPolicy != v1alpha1.AdoptionAdopt && !external.ObserveOnly(obj)) ||
		!obj.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	all, _, err = i.svc.offered.Get(ctx, obj.Namespace+"/"+obj.Name)
	if err != nil {
		return nil, err
	}
	return i.only(obj, all, external.Offered)
}

// only returns the one instance with this ownership; nil if there is none. Several are an error.
func (i *instance) only(obj *v1alpha1.EC2Instance, all []instanceState, owner external.Owner) (*instanceState, error) {
	all = slices.DeleteFunc(slices.Clone(all), func(s instanceState) bool {
		return !isThere(obj, &s) || i.Owner(obj, &s) != owner
	})
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return &all[0], nil
	}
	ids := make([]string, 0, len(all))
	for _, s := range all {
		ids = append(ids, s.id())
	}
	return nil, engine.Blocked(v1alpha1.ReasonAmbiguous, "the instances %s all carry the tags that make them this "+
		"object's; nothing was changed. Ask somebody with access to AWS to remove the portico.dev tags from all "+
		"but one", external.JoinSet(ids))
}

// failedLaunch returns the error of an instance that EC2 itself ended before it was ever usable, for example because
// EC2 may not use the KMS key of a volume. An acknowledged re-creation tries again.
func failedLaunch(obj *v1alpha1.EC2Instance, seen *instanceState) error {
	next := fmt.Sprint(obj.Status.Recreations + 1)
	reason := endReason(seen)
	switch {
	case reason == "", obj.Status.FirstReadyTime != nil, !obj.DeletionTimestamp.IsZero(),
		obj.Annotations[v1alpha1.AnnotationAcknowledgeRecreate] == next:
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonLaunchFailed, "EC2 ended the instance %s right after its launch: %s. Remove "+
		"the cause; then set the annotation %s=%s on this object to launch another one, or delete this object",
		seen.id(), reason, v1alpha1.AnnotationAcknowledgeRecreate, next)
}

// endReason returns why EC2 itself ended the instance; empty if somebody ended it.
func endReason(seen *instanceState) string {
	if seen == nil || seen.vm.StateReason == nil {
		return ""
	}
	code := aws.ToString(seen.vm.StateReason.Code)
	if code == "" || strings.HasSuffix(code, "InitiatedShutdown") {
		return ""
	}
	return strings.TrimRight(aws.ToString(seen.vm.StateReason.Message), ". ")
}

func (i *instance) readProtection(ctx context.Context, seen *instanceState) (*bool, error) {
	out, err := i.svc.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{
		InstanceId: aws.String(seen.id()), Attribute: ec2types.InstanceAttributeNameDisableApiTermination,
	})
	if err != nil {
		return nil, explain(err)
	}
	on := out.DisableApiTermination != nil && aws.ToBool(out.DisableApiTermination.Value)
	return &on, nil
}
