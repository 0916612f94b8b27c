// Package hostname brings a hostname from a request to an address that answers: a list of named steps, each checked on
// every pass.
package hostname

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/cert"
	"github.com/portico-platform/portico/controllers/hostname/claim"
	"github.com/portico-platform/portico/controllers/hostname/dns"
	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/controllers/steps"
)

// Account is AWS as a request's provider leads to it.
type Account struct {
	ID, Region string
	Cluster    string // in the ownership records
	Zones      *dns.Zones
	Certs      cert.Certificates
	// Tags are those of everything that is made for the request.
	Tags func(*v1alpha1.GatewayHostnameRequest) map[string]string
	// Search has the tags by which it is found again, with the values that count.
	Search func(*v1alpha1.GatewayHostnameRequest) map[string][]string
	// Prove checks, past the cache, that the way to the account stays; see external.Connection. nil proves nothing.
	Prove func(context.Context) error
}

// Work runs GatewayHostnameRequests. It implements engine.Work.
type Work struct {
	Reader  client.Reader // cached
	Claims  *claim.Claims
	Places  pool.Places
	Classes pool.Classes
	// Pace counts a certificate for a new hostname of a namespace, or returns a Pause; see Paces.
	Pace    func(ctx context.Context, namespace string, now time.Time) error
	Class   string // the GatewayClass of requests that name none
	Connect func(context.Context, *v1alpha1.GatewayHostnameRequest) (*Account, error)
	Now     func() time.Time
}

// run is one pass over one request.
type run struct {
	Work
	*Account
	req   *v1alpha1.GatewayHostnameRequest
	pass  *engine.Pass
	name  dnsname.Name
	grant v1alpha1.HostnameGrantSpec // the zero spec, if the namespace has none any more
	zone  dns.Zone                   // of the hostname
	cert  *cert.Certificate          // as ACM shows it in this pass
	pg    *v1alpha1.PoolGateway
	// proven is true once this pass has shown the request to be the latest.
	proven bool
	// withdrawn is why the name would not be granted now that it has been claimed.
	withdrawn error
}

// Sync implements engine.Work.
func (w Work) Sync(ctx context.Context, req *v1alpha1.GatewayHostnameRequest, pass *engine.Pass) error {
	r := &run{Work: w, req: req, pass: pass}
	if err := r.steps().Sync(ctx, req, pass); err != nil {
		return err
	}
	if pause, ok := engine.AsPause(r.withdrawn); ok {
		pass.Mark(v1alpha1.StepClaimed, metav1.ConditionFalse, pause.Reason, pause.Error())
	}
	return r.withdrawn
}

// Release implements engine.Work: what leads to the hostname goes first, and the claim last.
func (w Work) Release(ctx context.Context, req *v1alpha1.GatewayHostnameRequest, pass *engine.Pass) error {
	r := &run{Work: w, req: req, pass: pass}
	if r.kept() != nil { // else nothing was ever made in AWS: the certificate comes first, and is noted before it is requested
		if err := r.connect(ctx); err != nil {
			return err
		}
	}
	return r.steps().Release(ctx, req, pass)
}

func (r *run) connect(ctx context.Context) (err error) {
	if r.name, err = dnsname.Parse(r.req.Spec.Hostname); err != nil {
		return engine.Blocked("InvalidHostname", "%s: %w", r.req.Spec.Hostname, err)
	}
	r.Account, err = r.Connect(ctx, r.req)
	return err
}

func (r *run) steps() steps.List[*v1alpha1.GatewayHostnameRequest] {
	type req = *v1alpha1.GatewayHostnameRequest
	step := func(name string, do func(context.Context) (string, error), undo func(context.Context) error) steps.Step[req] {
		s := steps.Step[req]{Name: name, Do: func(ctx context.Context, _ req, _ *engine.Pass) (string, error) {
			text, err := do(ctx)
			return text, explain(err)
		}}
		if undo != nil {
			s.Undo = func(ctx context.Context, _ req, _ *engine.Pass) error { return explain(undo(ctx)) }
		}
		return s
	}
	return steps.List[req]{
		step(v1alpha1.StepClaimed, r.claim, r.giveBack),
		step(v1alpha1.StepCertificateRequested, r.request, r.withdraw),
		step(v1alpha1.StepDNSValidated, r.validate, nil), // the record stays: other certificates of the domain need it
		step(v1alpha1.StepCertificateIssued, r.issued, nil),
		step(v1alpha1.StepListenerAttached, r.attach, r.detach),
		step(v1alpha1.StepDNSAliasReady, r.alias, r.unalias),
	}
}

func (r *run) holder() v1alpha1.ClaimHolder {
	return v1alpha1.ClaimHolder{Namespace: r.req.Namespace, Name: r.req.Name, UID: string(r.req.HolderUID())}
}

// explain turns errors of AWS into what a user can act on, and leaves others as they are.
func explain(err error) error {
	if _, paused := engine.AsPause(err); paused || !cloud.IsCall(err) {
		return err
	}
	return cloud.Explain(err)
}
