// Package impersonate acts as the caller: by a second ServiceAccount, which can impersonate users and do nothing else
// except read, as the caller, logs of Pods and the metrics of single Pods. A caller whose own token Kubernetes takes,
// as that of a deployer, acts by it.
package impersonate

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Timeout bounds one write, admission included.
const Timeout = 15 * time.Second

// Impersonator creates clients that act as a caller.
type Impersonator struct {
	config   *rest.Config // address and CA only, no credentials
	requests way
	streams  way     // for long responses: over HTTP/1.1, so that data that nobody reads is not buffered
	username string  // of the ServiceAccount, to recognise a refusal of the impersonation itself
	Tokens   *Tokens // of the impersonator
	rights   *rights.Rights
}

// way is a transport to the API server: with tokens of the impersonating ServiceAccount, and without credentials.
type way struct{ impersonates, bare http.RoundTripper }

// New returns an Impersonator that sends requests to the API server of own with tokens of the ServiceAccount, which
// client requests. may decides what was refused to callers.
func New(own *rest.Config, client kubernetes.Interface, account types.NamespacedName, may *rights.Rights,
	c clock.PassiveClock,
) (*Impersonator, error) {
	bare := rest.AnonymousClientConfig(own)
	bare.QPS = -1
	bare.Wrap(tracing.Transport)
	bare.Wrap(failure.LeavingTrail(failure.AsCaller))
	base, err := rest.TransportFor(bare)
	if err != nil {
		return nil, fmt.Errorf("making the transport: %w", err)
	}
	plain := rest.CopyConfig(bare)
	plain.NextProtos = []string{"http/1.1"}
	streams, err := rest.TransportFor(plain)
	if err != nil {
		return nil, fmt.Errorf("making the transport of streams: %w", err)
	}
	minted := &Tokens{Client: client, Account: account, Clock: c}
	return &Impersonator{
		config:   bare,
		requests: way{impersonates: &minter{Tokens: minted, next: base}, bare: base},
		streams:  way{impersonates: &minter{Tokens: minted, next: streams}, bare: streams},
		username: "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		Tokens:   minted,
		rights:   may,
	}, nil
}

// ClientFor returns a client that acts as id and collects the API server's warnings. It refuses system identities and
// those without a username: client-go sends no impersonation header for an empty one, so the request would be the
// impersonator's own.
func (w *Impersonator) ClientFor(ctx context.Context, id auth.Identity) (dynamic.Interface, *Warnings, error) {
	through, err := acting(ctx, id, w.requests)
	if err != nil {
		return nil, nil, err
	}
	through.Timeout = Timeout
	heard := &Warnings{}
	cfg := rest.CopyConfig(w.config)
	cfg.WarningHandler = heard
	client, err := dynamic.NewForConfigAndClient(cfg, through)
	if err != nil {
		return nil, nil, fmt.Errorf("making the client of %s: %w", id.Username, err)
	}
	return client, heard, nil
}

// StreamsFor returns a client like ClientFor's, for core kinds and for long responses.
func (w *Impersonator) StreamsFor(ctx context.Context, id auth.Identity) (corev1client.CoreV1Interface, error) {
	through, err := acting(ctx, id, w.streams)
	if err != nil {
		return nil, err
	}
	client, err := corev1client.NewForConfigAndClient(w.config, through)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", id.Username, err)
	}
	return client, nil
}

// acting returns an HTTP client that sends requests as id: with the caller's own token if Kubernetes takes it, else by
// impersonation.
func acting(ctx context.Context, id auth.Identity, by way) (*http.Client, error) {
	if err := id.Check(); err != nil {
		return nil, fmt.Errorf("refusing to impersonate: %w", err)
	}
	if token := auth.KubernetesToken(ctx, id); token != "" {
		return &http.Client{Transport: transport.NewBearerAuthRoundTripper(token, by.bare)}, nil
	}
	who := transport.ImpersonationConfig{UserName: id.Username, Groups: id.Groups}
	if id.ServiceAccount {
		who.Groups = nil // constrained impersonation sends the username only; the API server knows the groups
	}
	return &http.Client{Transport: transport.NewImpersonatingRoundTripper(who, by.impersonates)}, nil
}

// Warnings collects the API server's warnings.
type Warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *Warnings) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

// All returns them.
func (w *Warnings) All() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list
}

// blames reports whether a refusal is about the impersonating identity and not about the caller.
func (w *Impersonator) blames(message string) bool {
	return strings.Contains(message, `"`+w.username+`" cannot`)
}
