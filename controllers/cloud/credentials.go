package cloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// attempts is how often the SDK itself tries a call: enough for a dropped connection; longer outages are left to the
// engine's back-off.
const attempts = 3

// SecretReader reads Secrets in the operator's namespace that are labelled for providers, and no others.
type SecretReader interface {
	// Version returns the Secret's resourceVersion, from the metadata cache.
	Version(ctx context.Context, name string) (string, error)
	// Value returns the content of one key, read live and never cached.
	Value(ctx context.Context, ref v1alpha1.SecretKeyRef) (string, error)
}

// NamespaceSecrets is the SecretReader of one namespace.
type NamespaceSecrets struct {
	Namespace string
	Reader    client.Reader // metadata only
	APIReader client.Reader
}

// Version implements SecretReader.
func (s NamespaceSecrets) Version(ctx context.Context, name string) (string, error) {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := s.Reader.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, meta); err != nil {
		return "", err
	}
	return meta.ResourceVersion, labelled(meta)
}

// labelled refuses a Secret without the provider label: the operator's namespace has other Secrets.
func labelled(secret client.Object) error {
	if secret.GetLabels()[v1alpha1.LabelSecretType] == v1alpha1.SecretTypeAWSCredentials {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonSecretNotLabelled, "the Secret %s in the operator's namespace is not "+
		"labelled for AWSProviders, and was not read; if it holds credentials for AWS, set its label %s=%s",
		secret.GetName(), v1alpha1.LabelSecretType, v1alpha1.SecretTypeAWSCredentials)
}

// Value implements SecretReader.
func (s NamespaceSecrets) Value(ctx context.Context, ref v1alpha1.SecretKeyRef) (string, error) {
	secret := &corev1.Secret{}
	if err := s.APIReader.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: ref.Name}, secret); err != nil {
		return "", err
	}
	if err := labelled(secret); err != nil {
		return "", err
	}
	value, ok := secret.Data[ref.Key]
	if !ok || len(value) == 0 {
		return "", engine.Blocked(v1alpha1.ReasonSecretKeyNotFound, "the Secret %s in the operator's namespace has "+
			"no key %s, or it is empty", ref.Name, ref.Key)
	}
	return strings.TrimSpace(string(value)), nil // a trailing newline is a common mistake
}

// secretRefs returns the provider's references to Secrets.
func secretRefs(spec *v1alpha1.AWSProviderSpec) []v1alpha1.SecretKeyRef {
	var refs []v1alpha1.SecretKeyRef
	for _, ref := range []*v1alpha1.SecretKeyRef{spec.AccessKeyIDRef, spec.SecretAccessKeyRef, spec.SessionTokenRef} {
		if ref != nil {
			refs = append(refs, *ref)
		}
	}
	return refs
}

// UsesSecret reports whether the provider reads the Secret of this name.
func UsesSecret(spec *v1alpha1.AWSProviderSpec, secret string) bool {
	for _, ref := range secretRefs(spec) {
		if ref.Name == secret {
			return true
		}
	}
	return false
}

func secretError(ref v1alpha1.SecretKeyRef, err error) error {
	if apierrors.IsNotFound(err) {
		return engine.Blocked(v1alpha1.ReasonSecretNotFound, "the Secret %s does not exist in the operator's "+
			"namespace; create it, or change the provider's reference", ref.Name)
	}
	if _, ok := engine.AsWait(err); ok {
		return err
	}
	return fmt.Errorf("read the Secret %s of the operator's namespace: %w", ref.Name, err)
}

// config returns the aws.Config of a provider for a namespace: base credentials, then the chain of roles.
func (s *Sessions) config(ctx context.Context, p *v1alpha1.AWSProvider, namespace string) (aws.Config, error) {
	if err := s.Endpoints.allowAll(&p.Spec); err != nil {
		return aws.Config{}, err
	}
	cfg, err := s.base(ctx, p)
	if err != nil {
		return aws.Config{}, err
	}
	if p.Spec.RoleARN != "" {
		if s.TokenFile == "" {
			return aws.Config{}, engine.Blocked(v1alpha1.ReasonNoWebIdentity,
				"roleARN needs the operator's web identity token, and it has none: annotate its ServiceAccount for "+
					"IRSA, or use another source of credentials")
		}
		cfg = withSession(cfg, stscreds.NewWebIdentityRoleProvider(
			sts.NewFromConfig(cfg), p.Spec.RoleARN, stscreds.IdentityTokenFile(s.TokenFile), sessionName))
	}
	// Not earlier: the web identity token of this block and of the default chain is a bearer token for the operator's
	// roles, so it must only go to AWS's STS, whatever the provider's endpoint is.
	if p.Spec.Endpoint != "" {
		cfg.BaseEndpoint = aws.String(p.Spec.Endpoint)
	}
	cfg.APIOptions = append(slices.Clone(cfg.APIOptions), servicesOf(&p.Spec).onlyOffered)
	return s.assume(cfg, &p.Spec, namespace), nil
}

// base returns the configuration with the provider's static keys, or the operator's own default chain.
func (s *Sessions) base(ctx context.Context, p *v1alpha1.AWSProvider) (aws.Config, error) {
	load := []func(*config.LoadOptions) error{
		config.WithRegion(p.Spec.Region),
		config.WithHTTPClient(s.client),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = attempts
				o.Retryables = append([]retry.IsErrorRetryable{retry.RetryableErrorCode{Codes: sessionEnded}},
					o.Retryables...)
			})
		}),
		config.WithCredentialsCacheOptions(renewEarly),
		config.WithWebIdentityRoleCredentialOptions(sessionName),
		config.WithAPIOptions(append(
			apiOptions(), noteRegion(p.Spec.Region, cmp.Or(p.Spec.AccountID, p.Status.AccountID), nil))),
	}
	if p.Spec.AccessKeyIDRef != nil {
		static, err := s.static(ctx, &p.Spec)
		if err != nil {
			return aws.Config{}, err
		}
		load = append(load, config.WithCredentialsProvider(static))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("load the operator's AWS configuration: %w", err)
	}
	if cache, ok := cfg.Credentials.(*aws.CredentialsCache); ok {
		cfg.APIOptions = append(slices.Clone(cfg.APIOptions), renewWhenEnded(cache))
	}
	return cfg, nil
}

func (s *Sessions) static(ctx context.Context, spec *v1alpha1.AWSProviderSpec) (aws.CredentialsProvider, error) {
	refs := secretRefs(spec)
	values := make([]string, 3) // access key ID, secret access key, session token
	for i, ref := range refs {
		value, err := s.Secrets.Value(ctx, ref)
		if err != nil {
			return nil, secretError(ref, err)
		}
		values[i] = value
	}
	return credentials.NewStaticCredentialsProvider(values[0], values[1], values[2]), nil
}

// session is the session name in CloudTrail. It is fixed, because the SDK's default contains the time, which would make
// each session a new identity.
const session = "portico"

func sessionName(o *stscreds.WebIdentityRoleOptions) { o.RoleSessionName = session }

// assume adds the provider's roles to cfg. The last role's session is tagged with the cluster and the namespace.
func (s *Sessions) assume(cfg aws.Config, spec *v1alpha1.AWSProviderSpec, namespace string) aws.Config {
	if spec.AssumeRoleARN == "" {
		return cfg
	}
	chain := append([]v1alpha1.AssumedRole{}, spec.AssumeRoleChain...)
	chain = append(chain, v1alpha1.AssumedRole{RoleARN: spec.AssumeRoleARN, ExternalID: spec.ExternalID})
	for i, role := range chain {
		last := i == len(chain)-1
		cfg = withSession(cfg, stscreds.NewAssumeRoleProvider(
			sts.NewFromConfig(servicesOf(spec).at(cfg, sts.ServiceID)), role.RoleARN,
			func(o *stscreds.AssumeRoleOptions) {
				o.RoleSessionName = session
				if role.ExternalID != "" {
					o.ExternalID = aws.String(role.ExternalID)
				}
				if last {
					o.Tags = s.sessionTags(namespace)
				}
			}))
	}
	return cfg
}

func (s *Sessions) sessionTags(namespace string) []ststypes.Tag {
	tags := []ststypes.Tag{{Key: aws.String(TagCluster), Value: aws.String(s.ClusterID)}}
	if namespace != "" {
		tags = append(tags, ststypes.Tag{Key: aws.String(TagNamespace), Value: aws.String(namespace)},
			ststypes.Tag{Key: aws.String(TagBucketPrefix), Value: aws.String(BucketPrefix(s.ClusterID, namespace))})
	}
	return tags
}
