// Package hostname reconciles hostname requests: from the claim to DNS records and a certificate on a load balancer, as
// a list of named steps that every pass checks.
package hostname

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
	"github.com/portico-platform/portico/controllers/hostname/claim"
	"github.com/portico-platform/portico/controllers/hostname/dns"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// Account is a request's access to AWS, through its provider.
type Account struct {
	ID, Region string
	Cluster    string // in the ownership records
	Zones      *dns.Zones
	Certs      cert.Certificates
	// Tags returns the tags of everything that is created for the request.
	Tags func(*v1alpha1.GatewayHostnameRequest) map[string]string
	// SearchTags returns the tags that find it again, with the values accepted for each.
	SearchTags func(*v1alpha1.GatewayHostnameRequest) map[string][]string
	// Recheck checks, past the cache, that the access to the account is still valid; see external.Connection. nil
	// proves nothing.
	Recheck func(context.Context) error
	// Settling is how long AWS may return an old state.
	Settling time.Duration
}

// Reconciler reconciles GatewayHostnameRequests. It implements engine.KindReconciler.
type Reconciler struct {
	Reader    client.Reader // cached
	Claims    *claim.Registry
	Allocator pool.Allocator
	Classes   pool.ClassChecker
	// AllowCertificate counts a certificate for a new hostname of a namespace, or returns a WaitError; see
	// CertificateLimiter.
	AllowCertificate func(ctx context.Context, namespace string, now time.Time) error
	Class            string // the GatewayClass of requests that name none
	Connect          func(context.Context, *v1alpha1.GatewayHostnameRequest) (*Account, error)
	Now              func() time.Time
}

// reconciliation is one pass over one request.
type reconciliation struct {
	Reconciler
	account     *Account // the AWS account, once connected
	req         *v1alpha1.GatewayHostnameRequest
	pass        *engine.Pass
	name        dnsname.Name
	grant       v1alpha1.HostnameGrantSpec // zero if the namespace has no grant any more
	zone        dns.Zone                   // of the hostname
	certificate *cert.Certificate          // as ACM shows it in this pass
	pool        *v1alpha1.PoolGateway
	// saved is true once this pass has saved the status, which proves that the cache was current.
	saved bool
	// grantWithdrawn is why the name would not be granted today, although it is claimed.
	grantWithdrawn error
}

// Reconcile implements engine.KindReconciler.
func (rec Reconciler) Reconcile(ctx context.Context, req *v1alpha1.GatewayHostnameRequest, pass *engine.Pass) error {
	r := &reconciliation{Reconciler: rec, req: req, pass: pass}
	if err := r.steps().Reconcile(ctx, req, pass); err != nil {
		return err
	}
	if wait, ok := engine.AsWait(r.grantWithdrawn); ok {
		pass.SetCondition(v1alpha1.StepClaimed, metav1.ConditionFalse, wait.Reason, wait.Error())
	}
	return r.grantWithdrawn
}

// Finalize implements engine.KindReconciler: the DNS records are deleted first, and the claim last.
func (rec Reconciler) Finalize(ctx context.Context, req *v1alpha1.GatewayHostnameRequest, pass *engine.Pass) error {
	r := &reconciliation{Reconciler: rec, req: req, pass: pass}
	// Otherwise nothing is in AWS: the certificate comes first, and its attempt is saved before the request.
	if r.certificateStatus() != nil {
		if err := r.connect(ctx); err != nil {
			return err
		}
	}
	return r.steps().Finalize(ctx, req, pass)
}

func (r *reconciliation) connect(ctx context.Context) (err error) {
	if r.name, err = dnsname.Parse(r.req.Spec.Hostname); err != nil {
		return engine.Blocked(v1alpha1.ReasonInvalidHostname, "%s: %w", r.req.Spec.Hostname, err)
	}
	r.account, err = r.Connect(ctx, r.req)
	return err
}

func (r *reconciliation) holder() v1alpha1.ClaimHolder {
	return v1alpha1.ClaimHolder{Namespace: r.req.Namespace, Name: r.req.Name, UID: string(r.req.HolderUID())}
}
