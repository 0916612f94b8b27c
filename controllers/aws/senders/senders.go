// Package senders manages who may send to a queue or publish to a topic: Portico's own statements in the resource's
// policy, beside those of others, which it keeps.
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

// The policy of a resource is one attribute in AWS and two here, each with its own name: the statements for allowFrom,
// and all others.
const (
	attribute = "Policy"
	Own       = "statements of allowFrom"
	Rest      = "other statements"
)

// Paths of both in the spec. They change in one call, because it replaces the whole policy.
const (
	OwnPath  = "allowFrom"
	RestPath = "policy"
)

// Divide replaces the policy in a resource's attributes with its two parts.
func Divide(attributes map[string]string) {
	policy, there := attributes[attribute]
	if !there {
		return
	}
	delete(attributes, attribute)
	attributes[Own], attributes[Rest] = iampolicy.Split(policy)
}

// Compose replaces the parts in set with the whole policy. A part that is not set is taken from have, which is nil for
// a new resource.
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

// Note copies the parts in set to have.
func Note(set, have map[string]string) {
	for _, part := range []string{Own, Rest} {
		if value, wrote := set[part]; wrote {
			have[part] = value
		}
	}
}

// Divisible returns the action, divided into two parts if it lets in senders that need permission: the change without
// them, if that changes anything, and the whole change. A refused sender then blocks neither the permitted ones nor
// removals. with returns the action for a part of the change.
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

// Allowed returns the ARNs of the senders in our statements that the policy in attributes, and the KMS key, allow to do
// the action on the resource.
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

// ARNChanged passes what objects that let another one in must know: its ARN, its creation and its deletion.
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

// Found holds the senders that an object names, as one pass knows them.
type Found struct {
	Sources []iampolicy.Source // those that exist
	// coming are senders whose objects exist without an ARN, with the ARNs that they will have in this account and
	// region.
	coming []iampolicy.Source
	had    []iampolicy.Source // those that AWS lets in by statements of ours
	// shut are the senders whose services the KMS key asked does not let in, and answer is the error about that.
	shut   []iampolicy.Source
	asked  string
	answer error
}

// Resolve returns the senders of an object in a namespace. One that does not exist is let in as soon as it does:
// nothing waits for it.
func Resolve(ctx context.Context, kube external.Kube, session *cloud.Session, namespace string,
	senders v1alpha1.Senders,
) (found Found, err error) {
	for _, s := range senders {
		if err := found.add(ctx, kube, session, namespace, s); err != nil {
			return Found{}, err
		}
	}
	return found, nil
}

// add reads one sender. An object has an ARN in its status once its resource exists and belongs to it.
func (f *Found) add(ctx context.Context, kube external.Kube, session *cloud.Session, namespace string,
	s v1alpha1.Sender,
) error {
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

// Had records the statements of ours that AWS has.
func (f *Found) Had(own string) { f.had = iampolicy.SourcesOf(own) }

// LetIn returns our statements that allow the senders to do the action on the resource. A sender without an ARN yet
// that AWS already lets in keeps its access: while a cluster is restored no object has one, and messages must not stop.
func (f *Found) LetIn(action, resource string) string {
	all := slices.Clone(f.Sources)
	for _, source := range f.had {
		if slices.Contains(f.coming, source) {
			all = append(all, source)
		}
	}
	return iampolicy.LetIn(action, resource, all)
}

// References returns what the parts in set newly refer to: senders by ARN, and principals outside the account that the
// policy lets in.
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

// Principals returns the principals outside the account that new or changed statements of the policy let in: those that
// were let in before may get more rights.
func Principals(account, was, is string) []external.Reference {
	p, err := iampolicy.Added(was, is)
	if err != nil {
		return nil // Refuse says so
	}
	return reference.Added(reference.Principal, nil, p.Outsiders(account))
}

// Refuse returns an error for a policy that Portico does not write: an invalid one, one with a Sid of Portico's, or one
// that denies the operator its own calls, which it could not undo.
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
				"any more. Deny single actions that applications make, or only calls without TLS "+
				"(aws:SecureTransport false); the "+
				"policy is not written", found.Statement, found.Action)
	}
	return nil
}
