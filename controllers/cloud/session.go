// Package cloud connects to AWS: sessions, error classes, ownership tags, rate limits and metrics of calls.
package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Session is a verified connection to one account and region, for one namespace.
type Session struct {
	Config    aws.Config
	AccountID string
	Partition string // aws, aws-cn, aws-us-gov; from the caller's ARN, never assumed
	CallerARN string
	Services  Services
	// Stated means that AccountID is taken from the provider's spec, because it has no STS.
	Stated   bool
	Provider string // name of the AWSProvider
	Rules    v1alpha1.AWSRules
	Identity Identity
	// Team of the namespace; nil: none.
	Team *v1alpha1.Team
	// CredentialsVersion identifies the version of the provider's Secrets; empty if it names none.
	CredentialsVersion string
	// ProviderGeneration is the generation of the spec that the session was made from.
	ProviderGeneration int64

	limiters *Limiters
	shared   *sharedValues // of this session
	listings *sharedValues // of its provider
}

// Sessions creates and caches sessions: one per provider state and namespace. Safe for concurrent use.
type Sessions struct {
	Secrets   SecretReader
	ClusterID string
	// TokenFile is the path of the operator's web identity token (IRSA).
	TokenFile string
	// Limiters limits the calls of all sessions.
	Limiters *Limiters
	// Endpoints are the endpoints that providers can name; nil: only AWS's.
	Endpoints Endpoints

	client *awshttp.BuildableClient
	flight singleflight.Group
	mu     sync.Mutex
	byKey  map[string]*Session
	listed map[types.UID]*sharedValues // by provider
	latest map[string]string           // provider and namespace → key, to drop outdated sessions
}

// NewSessions returns an empty cache. All sessions share one connection pool, and one limiter for each service.
func NewSessions(secrets SecretReader, clusterID, tokenFile string, limiters *Limiters) *Sessions {
	return &Sessions{
		Secrets: secrets, ClusterID: clusterID, TokenFile: tokenFile, Limiters: limiters,
		client: awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = 64
		}),
		byKey: map[string]*Session{}, listed: map[types.UID]*sharedValues{}, latest: map[string]string{},
	}
}

// For returns the session of a provider for a namespace. It verifies it with STS if any of its inputs is new. It does
// not check the account: see CheckAccount.
func (s *Sessions) For(ctx context.Context, p *v1alpha1.AWSProvider, namespace string) (*Session, error) {
	return s.get(ctx, p, namespace, false)
}

// Verify calls STS even for a cached session.
func (s *Sessions) Verify(ctx context.Context, p *v1alpha1.AWSProvider) (*Session, error) {
	return s.get(ctx, p, "", true)
}

func (s *Sessions) get(ctx context.Context, p *v1alpha1.AWSProvider, namespace string, fresh bool) (*Session, error) {
	if p.Spec.AssumeRoleARN == "" {
		namespace = "" // only an assumed role's session tags differ by namespace
	}
	version, err := s.version(ctx, p)
	if err != nil {
		return nil, err
	}
	key, err := s.key(p, version, namespace)
	if err != nil {
		return nil, err
	}
	if found := s.lookup(key); found != nil && !fresh {
		return found, nil
	}
	opened, err := ShareCall(ctx, &s.flight, key, openTimeout, func(ctx context.Context) (*Session, error) {
		return s.open(ctx, p, version, namespace, key)
	})
	if err != nil {
		s.refused(key, err)
	}
	return opened, err
}

// openTimeout bounds the STS calls that open a session, which is shared by several callers.
const openTimeout = 30 * time.Second

// version returns the versions of the provider's Secrets as one string; empty if it names none.
func (s *Sessions) version(ctx context.Context, p *v1alpha1.AWSProvider) (string, error) {
	var all []string
	for _, ref := range secretRefs(&p.Spec) {
		version, err := s.Secrets.Version(ctx, ref.Name)
		if err != nil {
			return "", secretError(ref, err)
		}
		all = append(all, ref.Name+"="+version)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ","), nil
}

// key returns the cache key of a session from all its inputs: the provider's UID and generation, its Secrets' versions,
// the namespace.
func (s *Sessions) key(p *v1alpha1.AWSProvider, version, namespace string) (string, error) {
	text, err := json.Marshal([]any{p.UID, p.Generation, p.Spec, namespace, s.TokenFile, version})
	if err != nil {
		return "", fmt.Errorf("name the session: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func (s *Sessions) lookup(key string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byKey[key]
}

// refused drops the session if AWS rejects its credentials. Transient errors do not drop a working session.
func (s *Sessions) refused(key string, err error) {
	if wait, ok := engine.AsWait(err); !ok || !wait.Stalled {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byKey, key)
}

func (s *Sessions) open(ctx context.Context, p *v1alpha1.AWSProvider, version, namespace, key string) (
	*Session, error,
) {
	cfg, err := s.config(ctx, p, namespace)
	if err != nil {
		return nil, err
	}
	services := servicesOf(&p.Spec)
	who, err := whoIs(ctx, p, services, cfg)
	if err != nil {
		return nil, err
	}
	made := &Session{
		Config: cfg, AccountID: who.account, CallerARN: withoutSession(who.arn), Stated: who.stated,
		Partition: partition(who.arn), Services: services, Provider: p.Name,
		Rules: p.Spec.AWSRules, Identity: Identity{Cluster: s.ClusterID},
		ProviderGeneration: p.Generation, CredentialsVersion: version, shared: &sharedValues{}, limiters: s.Limiters,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed[p.UID] == nil {
		s.listed[p.UID] = &sharedValues{}
	}
	made.listings = s.listed[p.UID]
	if known := s.byKey[key]; known != nil && known.AccountID == made.AccountID && known.CallerARN == made.CallerARN {
		return known, nil // verified again; keeps its shared values
	}
	of := string(p.UID) + "/" + namespace
	delete(s.byKey, s.latest[of])
	s.byKey[key], s.latest[of] = made, key
	return made, nil
}

// Forget drops every session of a deleted provider.
func (s *Sessions) Forget(p *v1alpha1.AWSProvider) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of, key := range s.latest {
		if strings.HasPrefix(of, string(p.UID)+"/") {
			delete(s.byKey, key)
			delete(s.latest, of)
		}
	}
	delete(s.listed, p.UID)
}

// withoutSession returns an assumed role's ARN without the session name: some credential sources generate a new name
// each time for the same identity.
func withoutSession(arn string) string {
	if parts := strings.Split(arn, "/"); strings.Contains(arn, ":assumed-role/") && len(parts) == 3 {
		return parts[0] + "/" + parts[1]
	}
	return arn
}

func partition(arn string) string {
	if parts := strings.SplitN(arn, ":", 3); len(parts) == 3 && parts[1] != "" {
		return parts[1]
	}
	return "aws"
}

// ARN returns the ARN of a resource in the session's account and region.
func (s *Session) ARN(service, resource string) string {
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", s.Partition, service, s.Config.Region, s.AccountID, resource)
}

// Now returns the time of the operator's clock.
func (s *Session) Now() time.Time { return s.limiters.Now() }

// In returns the session for a region, kind and namespace.
func (s *Session) In(region, kind, namespaceUID string) *Session {
	c := *s
	c.Config = s.Config.Copy()
	c.Config.Region = region
	c.Config.APIOptions = append(slices.Clone(s.Config.APIOptions), limitRate(s.limiters, s.AccountID, region),
		noteRegion(region, s.AccountID, isOff(s.ConfigFor(sts.ServiceID), region)))
	c.Identity.Kind, c.Identity.NamespaceUID = kind, namespaceUID
	return &c
}
