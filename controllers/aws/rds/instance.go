// Package rds manages the RDS kinds.
package rds

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/smithy-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// instance adapts RDSInstance for one pass.
type instance struct {
	svc     *service
	session *cloud.Session
	kube    external.Kube
	vault   vault
	creds   credentials // see Resolve
	now     func() time.Time
}

var (
	_ external.TagRestorer[*v1alpha1.RDSInstance, instanceState] = (*instance)(nil)
	_ external.Resolver[*v1alpha1.RDSInstance]                   = (*instance)(nil)
	_ external.SafePather[*v1alpha1.RDSInstance, instanceState]  = (*instance)(nil)
	_ external.DeletionObserver[instanceState]                   = (*instance)(nil)
)

// Instance returns the adapter of RDSInstance for one pass.
func Instance(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.RDSInstance, instanceState] {
	return &instance{svc: serviceFor(session), session: session, kube: kube, vault: kube.Secrets, now: session.Now}
}

// longestIdentifier is RDS's limit for an instance identifier, in characters.
const longestIdentifier = 63

// identifier returns the identifier of obj's instance in RDS. A generated one begins with a letter and has no two
// hyphens in a row, as RDS requires.
func (i *instance) identifier(obj *v1alpha1.RDSInstance) string {
	if name := cmp.Or(external.Noted(&obj.Status.AWSStatus, obj.Status.DBInstanceIdentifier),
		strings.ToLower(obj.Spec.DBInstanceIdentifier)); name != "" {
		return name
	}
	return generatedIdentifier(i.session.Identity, obj)
}

// generatedIdentifier returns the identifier that Portico generates for an object that specifies none.
func generatedIdentifier(id cloud.Identity, obj metav1.Object) string {
	const prefix = "db-"
	name := id.GeneratedName(obj, longestIdentifier-len(prefix))
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	if name[0] < 'a' {
		name = prefix + name
	}
	return name
}

// Observe reads the instance with its tags: from the latest listing in a routine pass, else in one call with concurrent
// reads of others. An instance without an ARN in the status is read alone. Tags that the response omits are read
// separately.
func (i *instance) Observe(ctx context.Context, obj *v1alpha1.RDSInstance) (*instanceState, error) {
	seen, err := i.look(ctx, obj)
	if err == nil && seen != nil && seen.tags == nil {
		seen.tags, err = i.svc.readTags(ctx, seen.db.DBInstanceArn)
	}
	if err != nil {
		return nil, err
	}
	return seen, nil
}

func (i *instance) look(ctx context.Context, obj *v1alpha1.RDSInstance) (*instanceState, error) {
	name := i.identifier(obj)
	if obj.Status.ARN == "" {
		return i.svc.readOne(ctx, name)
	}
	if seen, ok := cloud.ListingOf[instanceState](i.session).Get(ctx, obj.Status.ARN); ok {
		return &seen, nil
	}
	return i.svc.batch.GetOne(ctx, name, i.svc.readOne)
}

// Owner determines ownership by the tags.
func (i *instance) Owner(obj *v1alpha1.RDSInstance, seen *instanceState) external.Owner {
	return i.session.Identity.Owner(obj, seen.tags)
}

// RestoreCommand implements external.TagRestorer.
func (i *instance) RestoreCommand(obj *v1alpha1.RDSInstance, seen *instanceState) string {
	marks := i.session.Identity.LostMarks(obj, seen.tags)
	if marks == nil {
		return ""
	}
	return i.session.Command(rds.ServiceID, "rds", "add-tags-to-resource", "--resource-name", seen.arn(), "--tags",
		cloud.TagText(marks))
}

// Declared lists the spec paths in use.
func (i *instance) Declared(obj *v1alpha1.RDSInstance) []string {
	paths := append(external.DeclaredPaths(descriptions(obj.Spec.Engine), obj),
		i.session.TagPaths(obj, obj.Spec.Tags)...)
	if obj.Spec.EngineVersion != "" {
		paths = append(paths, versionPath)
	}
	slices.Sort(paths)
	return paths
}

// SafePaths implements external.SafePather.
func (i *instance) SafePaths(obj *v1alpha1.RDSInstance, seen *instanceState) []string {
	return external.SafePaths(descriptions(obj.Spec.Engine), seen)
}

// Reserve records where the instance will be.
func (i *instance) Reserve(obj *v1alpha1.RDSInstance, _ *instanceState) {
	s := &obj.Status
	s.DBInstanceIdentifier, s.Region, s.AccountID = i.identifier(obj), i.session.Config.Region, i.session.AccountID
}

// Plan compares the spec with the observed state, and returns the actions and what remains afterwards.
func (i *instance) Plan(obj *v1alpha1.RDSInstance, seen *instanceState) ([]external.Action, error) {
	if seen == nil {
		return []external.Action{i.create(obj)}, nil
	}
	now := availabilityOf(obj, seen)
	if seen.status() == statusDeleting {
		return nil, now.wait
	}
	if err := checkImmutable(obj, seen); err != nil {
		return nil, err
	}
	manage := !external.ObserveOnly(obj)
	var actions []external.Action
	if manage {
		actions = append(i.planRecord(obj, seen), i.planTags(obj, seen)...)
	}
	changed, rest := i.planSettings(obj, seen, now)
	actions = append(actions, changed...)
	// A password is changed only when it can be published: it waits until no other problem remains.
	if manage && rest == nil {
		changed, rest = i.planMaster(obj, seen)
		if len(changed) > 0 && !now.modifiable {
			changed, rest = nil, waitModifying(seen.status())
		}
		actions = append(actions, changed...)
	}
	changed, held := i.planStorage(obj, seen, now)
	return append(actions, changed...), cmp.Or(rest, held)
}

// checkImmutable returns an error if a field differs that RDS cannot change: the database of an earlier object, or an
// adopted one, may be another database altogether.
func checkImmutable(obj *v1alpha1.RDSInstance, seen *instanceState) error {
	for _, c := range external.Changes(fixed, obj, seen) {
		return engine.Blocked(v1alpha1.ReasonImmutableDiffers, "the database that is there differs in what RDS cannot "+
			"change: %s is %s, not %s; nothing was changed. Request it as it is, or under another "+
			"dbInstanceIdentifier", c.Path, c.From, c.To)
	}
	return nil
}

// planTags plans the changes of tags. They come first: ownership is marked before anything else is changed.
func (i *instance) planTags(obj *v1alpha1.RDSInstance, seen *instanceState) []external.Action {
	return i.session.PlanTags(obj, obj.Spec.Tags, seen.tags).Actions(cloud.TagCalls{
		SetName: "AddTagsToResource", RemoveName: "RemoveTagsFromResource",
		Set: func(ctx context.Context, tags map[string]string) error {
			_, err := i.svc.AddTagsToResource(
				ctx, &rds.AddTagsToResourceInput{ResourceName: aws.String(seen.arn()), Tags: tagList(tags)})
			return explain(err)
		},
		Remove: func(ctx context.Context, keys []string) error { return i.untag(ctx, seen, keys) },
	})
}

func (i *instance) untag(ctx context.Context, seen *instanceState, keys []string) error {
	_, err := i.svc.RemoveTagsFromResource(
		ctx, &rds.RemoveTagsFromResourceInput{ResourceName: aws.String(seen.arn()), TagKeys: keys})
	return explain(err)
}

// Disown removes our tags and leaves all others.
func (i *instance) Disown(ctx context.Context, _ *v1alpha1.RDSInstance, seen *instanceState) error {
	return i.untag(ctx, seen, cloud.OwnershipTagKeys(seen.tags))
}

// explain explains errors that only RDS has, and all others as cloud.Explain does.
func explain(err error) error {
	if api, ok := errors.AsType[smithy.APIError](err); ok &&
		strings.Contains(strings.ToLower(api.ErrorMessage()), "permission to create service linked role") {
		return engine.Blocked(v1alpha1.ReasonAccessDenied, "RDS needs the service-linked role AWSServiceRoleForRDS, "+
			"which this account does not have yet, and the identity of the AWS account does not have the right to "+
			"create it: ask a platform admin to grant iam:CreateServiceLinkedRole for rds.amazonaws.com, or to "+
			"create the role; Portico tries again by itself, at least every 5 minutes")
	}
	if cloud.HasCode(err, "InsufficientDBInstanceCapacity") {
		return engine.Blocked(v1alpha1.ReasonInsufficientCapacity, "AWS has no capacity for this class now; choose "+
			"another dbInstanceClass or multiAZ: false, or wait: Portico tries again by itself, at least every 5 "+
			"minutes")
	}
	if refusesStorage(err) {
		return engine.Wait(v1alpha1.ReasonStorageOptimizing, optimizingRetry,
			"RDS does not take the change yet: AWS takes no further change of the storage until %s. Portico sends it "+
				"then by itself, and nothing has to be done", cooldownEnd)
	}
	return cloud.Explain(err)
}
