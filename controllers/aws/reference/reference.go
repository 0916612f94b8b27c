// Package reference decides which resources of a shared account a namespace may name in its requests: those that the
// AWSProvider lists for all, and those that somebody with access to AWS has tagged for the namespace.
package reference

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// Kinds of references, as people call them.
const (
	Subnet          = "subnet"
	SubnetGroup     = "subnet group"
	SecurityGroup   = "security group"
	InstanceProfile = "instance profile"
	Image           = "image"
	KMSKey          = "KMS key"
	DeadLetterQueue = "dead-letter queue"
	KeyPair         = "key pair"
	ParameterGroup  = "parameter group"
	Sender          = "sender"
	Principal       = "principal"
	Subscriber      = "address"
)

// all is the entry that opens a list for every resource.
const all = "*"

// kind holds the differences between kinds of references.
type kind struct {
	list    string // the name of the AWSProvider's list
	allowed func(*v1alpha1.AWSRules) []string
	// team returns the Team's list of the same name.
	team func(*v1alpha1.TeamReferences) []string
	// canonical returns the same text for all names of one resource; nil: it has only one name.
	canonical func(s *cloud.Session, name string) string
	// everybodys reports whether AWS itself manages the named resource, for every user of the account; nil: none.
	everybodys func(name string) bool
	// patterns says that one * in an entry matches any characters.
	patterns bool
	// arn returns the ARN by which tags are read; nil or empty: they are not read by ARN.
	arn func(s *cloud.Session, name string) string
}

var kinds = map[string]kind{
	Subnet: {
		list: "allowedSubnets", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedSubnets },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedSubnets },
		arn:  func(s *cloud.Session, id string) string { return s.ARN("ec2", "subnet/"+id) },
	},
	SecurityGroup: {
		list: "allowedSecurityGroups", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedSecurityGroups },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedSecurityGroups },
		arn:  func(s *cloud.Session, id string) string { return s.ARN("ec2", "security-group/"+id) },
	},
	SubnetGroup: {
		list: "allowedSubnetGroups", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedSubnetGroups },
		team:      func(r *v1alpha1.TeamReferences) []string { return r.AllowedSubnetGroups },
		canonical: func(_ *cloud.Session, name string) string { return strings.ToLower(name) }, // as RDS stores it
		arn:       func(s *cloud.Session, name string) string { return s.ARN("rds", "subgrp:"+strings.ToLower(name)) },
	},
	InstanceProfile: {
		list: "allowedInstanceProfiles", allowed: func(r *v1alpha1.AWSRules) []string {
			return r.AllowedInstanceProfiles
		},
		team:      func(r *v1alpha1.TeamReferences) []string { return r.AllowedInstanceProfiles },
		canonical: profileName,
	},
	Image: {
		list: "allowedImages", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedImages },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedImages },
	},
	KMSKey: {
		list: "allowedKMSKeys", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedKMSKeys },
		team:      func(r *v1alpha1.TeamReferences) []string { return r.AllowedKMSKeys },
		canonical: keyARN, arn: taggedKey, everybodys: ofAWS,
	},
	DeadLetterQueue: {
		list: "allowedDeadLetterQueues", allowed: func(r *v1alpha1.AWSRules) []string {
			return r.AllowedDeadLetterQueues
		},
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedDeadLetterQueues },
		arn:  func(_ *cloud.Session, arn string) string { return arn },
	},
	KeyPair: {
		list: "allowedKeyPairs", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedKeyPairs },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedKeyPairs },
	},
	Sender: {
		list: "allowedSenders", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedSenders },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedSenders }, patterns: true,
	},
	Principal: {
		list: "allowedPrincipals", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedPrincipals },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedPrincipals }, patterns: true,
		canonical: func(_ *cloud.Session, name string) string { return iampolicy.Account(name) },
	},
	Subscriber: {
		list: "allowedSubscribers", allowed: func(r *v1alpha1.AWSRules) []string { return r.AllowedSubscribers },
		team: func(r *v1alpha1.TeamReferences) []string { return r.AllowedSubscribers }, patterns: true,
	},
	ParameterGroup: {
		list: "allowedParameterGroups", allowed: func(r *v1alpha1.AWSRules) []string {
			return r.AllowedParameterGroups
		},
		team:       func(r *v1alpha1.TeamReferences) []string { return r.AllowedParameterGroups },
		canonical:  func(_ *cloud.Session, name string) string { return strings.ToLower(name) }, // as RDS stores it
		arn:        func(s *cloud.Session, name string) string { return s.ARN("rds", "pg:"+strings.ToLower(name)) },
		everybodys: func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "default.") },
	},
}

// everybodys reports whether AWS itself manages the named resource.
func everybodys(r external.Reference) bool {
	k := kinds[r.Kind]
	return k.everybodys != nil && k.everybodys(r.Name)
}

// Listed reports whether the session's provider lists the resource for every namespace.
func Listed(s *cloud.Session, r external.Reference) bool {
	return names(s, r, kinds[r.Kind].allowed(&s.Rules))
}

// names reports whether an entry of the list matches the resource.
func names(s *cloud.Session, r external.Reference, list []string) bool {
	k := kinds[r.Kind]
	same := func(name string) string {
		if k.canonical == nil {
			return name
		}
		return k.canonical(s, name)
	}
	return slices.ContainsFunc(list, func(entry string) bool {
		return entry == all || same(entry) == same(r.Name) ||
			k.patterns && r.Name != all && guardrails.Matches(entry, same(r.Name))
	})
}

// Narrowed returns an error if the namespace's team has a list for such resources, and this one is not on it.
func Narrowed(s *cloud.Session, r external.Reference) error {
	team := s.TeamRules()
	if team == nil || r.Name == "" || everybodys(r) {
		return nil
	}
	list := kinds[r.Kind].team(&team.TeamReferences)
	if len(list) == 0 || names(s, r, list) {
		return nil
	}
	return cloud.NotAllowed("the "+r.Kind+" "+r.Name, kinds[r.Kind].list, v1alpha1.KindTeam+" "+s.Team.Name,
		guardrails.Shorten(list))
}

// Added returns references to the elements of is that are not in was.
func Added(kind string, was, is []string) []external.Reference {
	var refs []external.Reference
	for _, name := range is {
		if !slices.Contains(was, name) {
			refs = append(refs, external.Reference{Kind: kind, Name: name})
		}
	}
	return refs
}

// Checker admits references for one session.
type Checker struct {
	session *cloud.Session
	svc     *service
}

// For returns the Checker of a session.
func For(session *cloud.Session) *Checker {
	return &Checker{session: session, svc: serviceFor(session)}
}

// Admit returns an error that names the resources that obj's namespace may not use. It asks AWS only about those that
// no list allows.
func (c *Checker) Admit(ctx context.Context, obj client.Object, references []external.Reference) error {
	var open []external.Reference
	for _, r := range references {
		if err := Narrowed(c.session, r); err != nil {
			return err
		}
		if r.Name == "" || Listed(c.session, r) || everybodys(r) || slices.Contains(open, r) {
			continue
		}
		open = append(open, r)
	}
	tags, err := c.tags(ctx, open)
	if err != nil {
		return err
	}
	open = slices.DeleteFunc(open, func(r external.Reference) bool {
		return c.session.Identity.SharedWith(obj, tags[r])
	})
	if len(open) == 0 {
		return nil
	}
	return Refuse(c.session, obj, open)
}

// Refuse returns the error that obj's namespace may not use these resources, and who can change that. It is the same
// for resources that do not exist, so that nobody learns what another team has.
func Refuse(s *cloud.Session, obj client.Object, refused []external.Reference) error {
	var names, lists []string
	for _, r := range refused {
		names = append(names, "the "+r.Kind+" "+r.Name)
		lists = append(lists, kinds[r.Kind].list)
	}
	slices.Sort(lists)
	it, alias := "it", ""
	if len(refused) > 1 {
		it = "them"
	}
	if slices.ContainsFunc(refused, func(r external.Reference) bool { return r.Kind == KMSKey && isAlias(r.Name) }) {
		alias = " The tags of a key are found by its ID or ARN only, not by an alias."
	}
	tag := fmt.Sprintf(", or to tag %s %s=%s in AWS", it, cloud.TagNamespace, obj.GetNamespace())
	taggable := func(r external.Reference) bool { return !kinds[r.Kind].patterns } // patterns match others' resources
	if !s.Services.Offers(tagging.ServiceID) || !slices.ContainsFunc(refused, taggable) {
		tag, alias = "", "" // tags cannot be read
	}
	return engine.Blocked(v1alpha1.ReasonReferenceNotAllowed, "namespace %s cannot use %s, or there is no such "+
		"thing; nothing was changed. Ask a platform admin to add %s to %s of AWSProvider %s%s; or name another one.%s",
		obj.GetNamespace(), strings.Join(names, " and "), it, strings.Join(slices.Compact(lists), " and "), s.Provider,
		tag, alias)
}

// NoProfile returns the error for an instance profile that does not exist, and whose name the namespace may use.
func NoProfile(nameOrARN string) error {
	return engine.Blocked(v1alpha1.ReasonInvalidSpec, "there is no instance profile %s in this account; nothing was "+
		"changed. Correct iamInstanceProfile, or have the profile created: AWS takes some minutes to show a new one, "+
		"and Portico tries again every 5 minutes", nameOrARN)
}

// RefuseSnapshot returns one error for a snapshot that does not exist or that obj is not allowed to use, so that it
// does not reveal which: anyone who restores a snapshot has its data.
func RefuseSnapshot(obj client.Object, snapshot string) error {
	return engine.Blocked(v1alpha1.ReasonSnapshotNotAllowed, "there is no snapshot %s of this namespace; nothing was "+
		"created. Correct the name; or ask somebody with access to AWS to tag it %s=%s, or %s=%s/%s for this "+
		"object alone",
		snapshot, cloud.TagNamespace, obj.GetNamespace(), cloud.TagAdopt, obj.GetNamespace(), obj.GetName())
}
