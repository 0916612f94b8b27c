package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// Conditions returns a hash of what tokens for the deployer must say, and who issues them. With a change its account is
// created again.
func Conditions(d *v1alpha1.TeamDeployer, issuer *v1alpha1.DeployIssuer) string {
	said, err := json.Marshal([]any{
		issuer.Type,
		issuer.IssuerURL(),
		issuer.Claims,
		d.Issuer,
		d.Repository,
		d.RepositoryID,
		d.Owner,
		d.OwnerID,
		d.Branch,
		d.Tag,
		d.Environment,
		slices.Sorted(slices.Values(d.Events)),
	})
	if err != nil {
		return "" // cannot happen: it has only strings
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:8])
}

// Tokens issue tokens of deployers' accounts, valid at Kubernetes and for the REST API.
type Tokens struct {
	Accounts  corev1client.ServiceAccountInterface // in the namespace of deployers
	Audiences []string                             // of the REST API

	mu  sync.Mutex
	own []string // the API server's audiences, once they are known
}

// minted is a token of a deployer.
type minted struct {
	text       string
	credential string // the ID that Kubernetes gave it
	expires    time.Time
}

// mint issues a token of an account.
func (t *Tokens) mint(ctx context.Context, account string, uid types.UID) (*minted, error) {
	own, err := t.ownAudiences(ctx, account)
	if err != nil {
		return nil, err
	}
	got, claims, err := t.request(ctx, account, append(slices.Clone(own), t.Audiences...))
	if err != nil {
		return nil, err
	}
	if claims.Kubernetes.Account.UID != uid {
		return nil, failed(http.StatusServiceUnavailable, "the deployer was changed at this moment; try again")
	}
	return &minted{got.Status.Token, claims.ID, got.Status.ExpirationTimestamp.Time}, nil
}

// ownAudiences returns the audiences of the API server, as it puts them into a token for which none was asked.
func (t *Tokens) ownAudiences(ctx context.Context, account string) ([]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own != nil {
		return t.own, nil
	}
	_, claims, err := t.request(ctx, account, nil)
	if err != nil {
		return nil, err
	}
	t.own = claims.Audiences
	return t.own, nil
}

// issuedClaims are the claims of a ServiceAccount's token.
type issuedClaims struct {
	ID         string   `json:"jti"`
	Audiences  []string `json:"aud"`
	Kubernetes struct {
		Account struct {
			UID types.UID `json:"uid"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

func (t *Tokens) request(ctx context.Context, account string, audiences []string) (
	got *authenticationv1.TokenRequest, claims issuedClaims, err error,
) {
	seconds := int64(deploy.Lifetime.Seconds())
	got, err = t.Accounts.CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: audiences, ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, claims, failed(http.StatusServiceUnavailable, "the deployer was changed at this moment; try again")
	case err != nil:
		return nil, claims, fmt.Errorf("issue a token of a deployer: %w", err)
	}
	signed, err := parse(got.Status.Token)
	if err != nil || json.Unmarshal(signed.UnsafePayloadWithoutVerification(), &claims) != nil {
		return nil, claims, errors.New("a token that Kubernetes has issued cannot be read")
	}
	return got, claims, nil
}
