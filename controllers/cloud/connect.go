package cloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/guardrail"
)

// Connector opens the session for an object, if its namespace is allowed to use the provider.
type Connector struct {
	Reader    client.Reader // cached
	APIReader client.Reader // past the cache
	Sessions  *Sessions
}

// ProviderUse describes how an object uses a provider.
type ProviderUse struct {
	Kind         string
	Namespace    string
	Provider     string
	Region       string // empty: the provider's
	AccountID    string // that the session must have; empty: any
	HasResources bool   // something of the object exists already
	Deleting     bool   // the object is being deleted
	// Platform is true for Portico's own objects, for which admins have named the provider: allowedNamespaces is not
	// checked.
	Platform bool

	team *v1alpha1.Team // of the namespace
}

// Open checks, on every pass, that obj's provider exists, works, and allows the namespace and the region, and returns
// the session. An object that is being deleted can still use a provider that no longer allows its namespace: it only
// removes what carries its own tags.
func (c Connector) Open(ctx context.Context, kind string, obj external.Object) (*Session, error) {
	return c.OpenFor(ctx, useOf(kind, obj))
}

func useOf(kind string, obj external.Object) ProviderUse {
	spec, status := obj.AWS()
	return ProviderUse{
		Kind: kind, Namespace: obj.GetNamespace(), Provider: spec.ProviderRef.Name, Region: regionOf(spec, status),
		AccountID: status.AccountID, HasResources: status.ARN != "", Deleting: !obj.GetDeletionTimestamp().IsZero(),
	}
}

// regionOf returns the reserved region, else the one in the spec.
func regionOf(spec *v1alpha1.AWSSpec, status *v1alpha1.AWSStatus) string {
	if status.AccountID == "" && status.ARN == "" {
		return spec.Region
	}
	return cmp.Or(status.Region, spec.Region)
}

// OpenFor opens a session for objects that are not AWS resources themselves.
func (c Connector) OpenFor(ctx context.Context, u ProviderUse) (*Session, error) {
	provider := &v1alpha1.AWSProvider{}
	if found, err := engine.Find(ctx, c.Reader, client.ObjectKey{Name: u.Provider}, provider); !found {
		return nil, cmp.Or(err, providerNotFound(u))
	}
	namespace, err := namespaceOf(ctx, c.Reader, u.Namespace)
	if err != nil {
		return nil, err
	}
	team, err := guardrail.TeamOf(ctx, c.Reader, namespace)
	if err != nil {
		return nil, err
	}
	u.Region, u.team = cmp.Or(u.Region, provider.Spec.Region), team
	if err := checkUse(provider, namespace, u); err != nil {
		return nil, err
	}
	session, err := c.Sessions.For(ctx, provider, u.Namespace)
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", provider.Name, err)
	}
	if err := CheckAccount(provider, session); err != nil {
		return nil, err
	}
	if u.AccountID != "" && u.AccountID != session.AccountID {
		return nil, engine.Blocked(v1alpha1.ReasonAccountMismatch, "the resource is in account %s, and provider %s "+
			"now leads to account %s; nothing was changed", u.AccountID, provider.Name, session.AccountID)
	}
	opened := session.In(u.Region, u.Kind, string(namespace.UID))
	opened.Identity.FormerNamespaceUIDs, opened.Team = formerUIDs(namespace), team
	return opened, nil
}

// Recheck checks past the cache that the namespace still has the UID with which the session tags resources, and that
// the provider is not being deleted. The cache may lag behind, and a new namespace of the same name must inherit
// nothing. Call it after reserving: a provider looks for reservations after its deletion was requested, so one of the
// two sees the other.
func (c Connector) Recheck(ctx context.Context, s *Session, namespace string) error {
	ns, err := namespaceOf(ctx, c.APIReader, namespace)
	if err != nil {
		return err
	}
	if string(ns.UID) != s.Identity.NamespaceUID {
		return engine.Wait(v1alpha1.ReasonSettling, time.Second, "the namespace %s was deleted and created again a "+
			"moment ago; waiting until Portico sees the new one", namespace)
	}
	if !slices.Equal(formerUIDs(ns), s.Identity.FormerNamespaceUIDs) {
		return engine.Wait(v1alpha1.ReasonSettling, time.Second, "the annotation %s of the namespace %s was changed "+
			"a moment ago; Portico waits until it sees that", v1alpha1.AnnotationFormerUID, namespace)
	}
	if !ns.DeletionTimestamp.IsZero() {
		return engine.Blocked(v1alpha1.ReasonNamespaceTerminating, "the namespace %s is being deleted: nothing new "+
			"is created in it", namespace)
	}
	team, err := guardrail.TeamOf(ctx, c.APIReader, ns)
	if err != nil {
		return err
	}
	if !sameTeam(team, s.Team) {
		return engine.Wait(v1alpha1.ReasonSettling, time.Second, "the team of the namespace %s was changed a moment "+
			"ago; Portico waits until it sees that", namespace)
	}
	return c.recheckProvider(ctx, s)
}

func sameTeam(a, b *v1alpha1.Team) bool {
	return a == b || a != nil && b != nil && a.UID == b.UID && a.Generation == b.Generation
}

// recheckProvider checks that the provider exists, is not being deleted, and has the generation that the session was
// made from.
func (c Connector) recheckProvider(ctx context.Context, s *Session) error {
	p := &v1alpha1.AWSProvider{}
	found, err := engine.Find(ctx, c.APIReader, client.ObjectKey{Name: s.Provider}, p)
	switch {
	case err != nil:
		return err
	case !found || !p.DeletionTimestamp.IsZero():
		return providerDeleting(s.Provider)
	case p.Generation != s.ProviderGeneration:
		return engine.Wait(v1alpha1.ReasonSettling, time.Second, "provider %s was changed a moment ago; Portico "+
			"waits until it sees that", s.Provider)
	}
	return nil
}

func providerDeleting(name string) error {
	return engine.Blocked(v1alpha1.ReasonProviderDeleting, "provider %s is being deleted and takes no new resources; "+
		"choose another one", name)
}

// checkUse decides for OpenFor, without I/O.
func checkUse(p *v1alpha1.AWSProvider, namespace *metav1.PartialObjectMetadata, u ProviderUse) error {
	if err := checkNamespace(p, namespace, u); err != nil {
		return err // first: only those who can use a provider see its errors
	}
	if p.Status.ObservedGeneration != p.Generation {
		return engine.Wait(v1alpha1.ReasonProviderNotReady, 5*time.Second, "provider %s is being checked", p.Name)
	}
	if auth := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionAuthenticated); auth == nil ||
		auth.Status != metav1.ConditionTrue {
		return engine.Blocked(v1alpha1.ReasonProviderNotReady, "provider %s cannot be used: %s", p.Name, cause(auth))
	}
	if u.Deleting {
		return nil
	}
	if !p.DeletionTimestamp.IsZero() && !u.HasResources {
		if u.Platform {
			return engine.Blocked(v1alpha1.ReasonProviderDeleting, "the AWSProvider %s, which Portico itself needs "+
				"for this, is being deleted: ask a platform admin to name another one, or to create it again", p.Name)
		}
		return providerDeleting(p.Name)
	}
	if !u.Platform && u.Region != p.Spec.Region && !slices.Contains(p.Spec.AllowedRegions, u.Region) {
		return engine.Blocked(v1alpha1.ReasonRegionNotAllowed, "provider %s does not allow region %s; it allows %s",
			p.Name, u.Region, strings.Join(regions(p), ", "))
	}
	if use := u.ofTeam(); use != nil && len(use.Regions) > 0 && !slices.Contains(use.Regions, u.Region) {
		return engine.Blocked(v1alpha1.ReasonRegionNotAllowed, "Team %s does not allow region %s of provider %s; it "+
			"allows %s", u.team.Name, u.Region, p.Name, strings.Join(use.Regions, ", "))
	}
	return nil
}

// ofTeam returns the team's entry for the provider; nil if there is none.
func (u ProviderUse) ofTeam() *v1alpha1.TeamProvider {
	if u.team == nil || u.Platform {
		return nil
	}
	for i, use := range u.team.Spec.Providers {
		if use.Name == u.Provider {
			return &u.team.Spec.Providers[i]
		}
	}
	return nil
}

// CheckAccount refuses a session for an account other than the provider's: swapped keys must never make Portico create
// or delete in the wrong account.
func CheckAccount(p *v1alpha1.AWSProvider, s *Session) error {
	pin := cmp.Or(p.Spec.AccountID, p.Status.AccountID)
	if pin != "" && pin != s.AccountID {
		return engine.Blocked(v1alpha1.ReasonAccountMismatch, "the credentials of provider %s are of account %s, and "+
			"it is pinned to account %s; nothing was changed. Restore the credentials, or create another provider "+
			"for the other account", p.Name, s.AccountID, pin)
	}
	return nil
}

func regions(p *v1alpha1.AWSProvider) []string {
	all := append([]string{p.Spec.Region}, p.Spec.AllowedRegions...)
	slices.Sort(all)
	return slices.Compact(all)
}

func cause(auth *metav1.Condition) string {
	if auth == nil {
		return "it has not been checked yet"
	}
	return auth.Message
}
