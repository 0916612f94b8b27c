// Package senders keeps who may send to a queue or publish to a topic: statements of Portico's own in the resource's
// policy, beside which those of others stay.
package senders

import (
	"cmp"
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// The policy of a resource is one attribute in AWS and two here, each under a name of its own: the statements that
// follow from allowFrom, and all others.
const (
	attribute = "Policy"
	Own       = "statements of allowFrom"
	Rest      = "other statements"
)

// The paths of both in the spec. They change in one call, for that replaces the whole policy.
const (
	OwnPath  = "allowFrom"
	RestPath = "policy"
)

// Divide replaces the policy among a resource's attributes by its two parts.
func Divide(attributes map[string]string) {
	policy, there := attributes[attribute]
	if !there {
		return
	}
	delete(attributes, attribute)
	attributes[Own], attributes[Rest] = iampolicy.Split(policy)
}

// Compose replaces the parts among the attributes to set by the whole policy. A part that is not set stays as it is in
// have, which is nil for a resource that is being made.
func Compose(set, have map[string]string) {
	own, ownSet := set[Own]
	rest, restSet := set[Rest]
	if !ownSet && !restSet {
		return
	}
	if !ownSet {
		own = have[Own]
	}
	if !restSet {
		rest = have[Rest]
	}
	delete(set, Own)
	delete(set, Rest)
	if policy := iampolicy.Join(own, rest); policy != "" || have != nil {
		set[attribute] = policy
	}
}

// Note writes the parts that were set to what AWS has.
func Note(set, have map[string]string) {
	for _, part := range []string{Own, Rest} {
		if value, wrote := set[part]; wrote {
			have[part] = value
		}
	}
}

// Divisible returns the action, which sets the statements of ours to more than had, so that it can be divided: what the
// namespace may let in, and whom nobody has let in, is written though some sender is not allowed. with returns the
// action for a part of it.
func Divisible(action external.Action, had string, with func(external.Change) external.Action) external.Action {
	if len(action.Changes) != 1 || action.Changes[0].Path != OwnPath || len(action.References) == 0 {
		return action
	}
	change := action.Changes[0]
	allowed := change
	allowed.To = iampolicy.Without(change.To, func(s iampolicy.Source) bool {
		return slices.ContainsFunc(action.References, func(r external.Reference) bool { return r.Name == s.ARN })
	})
	if iampolicy.Normal(allowed.To) == iampolicy.Normal(had) {
		return action
	}
	whole := action
	action.Parts = func() []external.Action { return []external.Action{with(allowed), whole} }
	return action
}

// Allowed returns the ARNs of those whom the policy among the attributes, and the KMS key, let do the action to the
// resource by statements of ours.
func (f *Found) Allowed(attributes map[string]string, action, resource string) []string {
	p, err := iampolicy.Parse(cmp.Or(iampolicy.Join(attributes[Own], attributes[Rest]), "{}"))
	if err != nil {
		return nil
	}
	var all []string
	for _, source := range iampolicy.SourcesOf(attributes[Own]) {
		if p.Admits(source.Request(action, resource)) != iampolicy.No && !slices.Contains(f.shut, source) {
			all = append(all, source.ARN)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ARNChanged lets pass what those who let an object in have to know: its ARN, and that it has come or gone.
func ARNChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, old := e.ObjectOld.(external.Object)
		is, now := e.ObjectNew.(external.Object)
		if !old || !now {
			return false
		}
		_, before := was.AWS()
		_, after := is.AWS()
		return before.ARN != after.ARN
	}}
}

// Found are the senders that an object names, as one pass knows them.
type Found struct {
	Sources []iampolicy.Source // those that are there
	// coming are the others whose objects are there, as they will be in this account and region.
	coming []iampolicy.Source
	had    []iampolicy.Source // whom AWS lets in by statements of ours
	// shut are those whose services the KMS key that was asked for keeps out, and answer is what is to be told of it.
	shut   []iampolicy.Source
	asked  string
	answer error
}

// Resolve returns the senders of an object in a namespace. One that is not there is let in once it is: nothing waits
// for it.
func Resolve(ctx context.Context, kube external.Kube, session *cloud.Session, namespace string, senders v1alpha1.Senders) (found Found, err error) {
	for _, s := range senders {
		if err := found.add(ctx, kube, session, namespace, s); err != nil {
			return Found{}, err
		}
	}
	return found, nil
}

// add looks for one sender. An object has an ARN in its status once its resource is there and its own.
func (f *Found) add(ctx context.Context, kube external.Kube, session *cloud.Session, namespace string, s v1alpha1.Sender) error {
	switch {
	case s.TopicRef != nil:
		topic := &v1alpha1.SNSTopic{}
		there, err := engine.Find(ctx, kube.Reader, client.ObjectKey{Namespace: namespace, Name: s.TopicRef.Name},
			topic)
		switch {
		case topic.Status.ARN != "":
			f.Sources = append(f.Sources, iampolicy.Source{ARN: topic.Status.ARN})
		case there:
			name := cmp.Or(topic.Spec.TopicName, attributes.GeneratedName(session, topic, attributes.LongestTopicName,
				topic.Spec.FIFOTopic))
			f.coming = append(f.coming, iampolicy.Source{ARN: session.ARN("sns", name)})
		}
		return err
	case s.BucketRef != nil:
		bucket := &v1alpha1.S3Bucket{}
		there, err := engine.Find(ctx, kube.Reader, client.ObjectKey{Namespace: namespace, Name: s.BucketRef.Name},
			bucket)
		names, id := []string{bucket.Spec.BucketName}, session.Identity
		if bucket.Spec.BucketName == "" {
			names = []string{
				id.GeneratedBucketName(bucket, cloud.LongestBucketName),
				id.GeneratedName(bucket, cloud.LongestBucketName),
			}
		}
		switch {
		case bucket.Status.ARN != "":
			f.Sources = append(f.Sources, iampolicy.Source{ARN: bucket.Status.ARN, Account: bucket.Status.AccountID})
		case there:
			for _, name := range names {
				f.coming = append(f.coming, iampolicy.Source{
					ARN:     "arn:" + session.Partition + ":s3:::" + name,
					Account: session.AccountID,
				})
			}
		}
		return err
	}
	f.Sources = append(f.Sources, iampolicy.Source{ARN: s.ARN, Account: s.Account})
	return nil
}

// Had notes the statements of ours that AWS has.
func (f *Found) Had(own string) { f.had = iampolicy.SourcesOf(own) }

// LetIn returns the statements of ours by which the senders may do the action to the resource. One that is about to
// come and is let in stays let in: in a cluster that was restored every object is about to come, and messages go on.
func (f *Found) LetIn(action, resource string) string {
	all := slices.Clone(f.Sources)
	for _, source := range f.had {
		if slices.Contains(f.coming, source) {
			all = append(all, source)
		}
	}
	return iampolicy.LetIn(action, resource, all)
}

// References returns what the parts to set have the resource refer to and did not before: senders by their ARN, and
// those outside of the account that its policy lets in.
func References(account string, senders v1alpha1.Senders, set, have map[string]string) (refs []external.Reference) {
	if own, changes := set[Own]; changes {
		was, is := iampolicy.SourcesOf(have[Own]), iampolicy.SourcesOf(own)
		for _, s := range senders {
			source := iampolicy.Source{ARN: s.ARN, Account: s.Account}
			if s.ARN != "" && slices.Contains(is, source) && !slices.Contains(was, source) {
				refs = append(refs, external.Reference{Kind: reference.Sender, Name: s.ARN})
			}
		}
	}
	if rest, changes := set[Rest]; changes {
		refs = append(refs, Principals(account, have[Rest], rest)...)
	}
	return refs
}

// Principals returns whom the statements of a policy let in from outside of the account that it did not have before as
// they are: somebody who was let in may be given more.
func Principals(account, was, is string) []external.Reference {
	p, err := iampolicy.Added(was, is)
	if err != nil {
		return nil // Refuse says so
	}
	return reference.Added(reference.Principal, nil, p.Outsiders(account))
}

// Refuse returns an error for a policy that Portico does not write: one that is none, one with a Sid of Portico's, and
// one that denies the operator its own calls, which it could not take back.
func Refuse(policy string, session *cloud.Session, needed []string) error {
	if policy == "" {
		return nil
	}
	p, err := iampolicy.ParseStrictly(policy)
	if err != nil {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec, "spec.policy: %v. Correct it", err)
	}
	if p.HasOwnSid() {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec,
			"spec.policy: Sids that begin with %s are those of statements that Portico writes by other fields. "+
				"Choose other Sids", iampolicy.Own)
	}
	if found := p.LocksOut(needed, iampolicy.Caller{Account: session.AccountID, ARN: session.CallerARN}); found != nil {
		return engine.Blocked(v1alpha1.ReasonInvalidSpec,
			"spec.policy: its statement %s denies everybody, Portico too, %s: nobody could change or delete it here "+
				"any more. Deny single actions that applications make, or only calls without TLS (aws:SecureTransport false); the "+
				"policy is not written", found.Statement, found.Action)
	}
	return nil
}
