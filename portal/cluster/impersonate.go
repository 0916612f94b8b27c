package cluster

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/tracing"
	"github.com/portico-platform/portico/portal/auth"
)

// writeTimeout bounds one write, admission included.
const writeTimeout = 15 * time.Second

// impersonator creates clients that act as a caller.
type impersonator struct {
	config    *rest.Config // address and CA only, no credentials
	transport http.RoundTripper
	streams   http.RoundTripper // for long responses: over HTTP/1.1, so that data that nobody reads is not buffered
	username  string            // of the ServiceAccount, to recognise a refusal of the impersonation itself
	tokens    *tokens           // of the impersonator
}

func newImpersonator(own *rest.Config, client kubernetes.Interface, account types.NamespacedName,
	c clock.PassiveClock,
) (*impersonator, error) {
	bare := rest.AnonymousClientConfig(own)
	bare.QPS = -1
	bare.Wrap(tracing.Transport)
	bare.Wrap(leavingTrail(asCaller))
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
	minted := &tokens{client: client, account: account, clock: c}
	return &impersonator{
		config:    bare,
		transport: &minter{tokens: minted, next: base},
		streams:   &minter{tokens: minted, next: streams},
		username:  "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		tokens:    minted,
	}, nil
}

// clientFor returns a client that acts as id and collects the API server's warnings. It refuses system identities and
// those without a username: client-go sends no impersonation header for an empty one, so the request would be the
// impersonator's own.
func (w *impersonator) clientFor(id auth.Identity) (dynamic.Interface, *warnings, error) {
	through, err := impersonating(id, w.transport)
	if err != nil {
		return nil, nil, err
	}
	through.Timeout = writeTimeout
	heard := &warnings{}
	cfg := rest.CopyConfig(w.config)
	cfg.WarningHandler = heard
	client, err := dynamic.NewForConfigAndClient(cfg, through)
	if err != nil {
		return nil, nil, fmt.Errorf("making the client of %s: %w", id.Username, err)
	}
	return client, heard, nil
}

// streamsFor returns a client like clientFor's, for core kinds and for long responses.
func (w *impersonator) streamsFor(id auth.Identity) (corev1client.CoreV1Interface, error) {
	through, err := impersonating(id, w.streams)
	if err != nil {
		return nil, err
	}
	client, err := corev1client.NewForConfigAndClient(w.config, through)
	if err != nil {
		return nil, fmt.Errorf("making the client of %s: %w", id.Username, err)
	}
	return client, nil
}

// impersonating returns an HTTP client that sends requests through base as id.
func impersonating(id auth.Identity, base http.RoundTripper) (*http.Client, error) {
	if err := id.Check(); err != nil {
		return nil, fmt.Errorf("refusing to impersonate: %w", err)
	}
	who := transport.ImpersonationConfig{UserName: id.Username, Groups: id.Groups}
	if id.ServiceAccount {
		who.Groups = nil // constrained impersonation sends the username only; the API server knows the groups
	}
	return &http.Client{Transport: transport.NewImpersonatingRoundTripper(who, base)}, nil
}

// warnings collects the API server's warnings.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, text)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list
}

// resource is the part of a dynamic client that writes need.
type resource interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (
		*unstructured.Unstructured, error)
	Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (
		*unstructured.Unstructured, error)
	Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (
		*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error
}

// acting is a client for one object that writes as a caller. It reads as the rest of the portal does, with the portal's
// own credentials and after an access review: no admission policy sees reads, so they need no impersonation.
type acting struct {
	dynamic.ResourceInterface
	read func(ctx context.Context) (*unstructured.Unstructured, error)
}

// Get returns the object.
func (a acting) Get(ctx context.Context, _ string, _ metav1.GetOptions, _ ...string) (
	*unstructured.Unstructured, error,
) {
	return a.read(ctx)
}

// blames reports whether a refusal is about the impersonating identity and not about the caller.
func (w *impersonator) blames(message string) bool {
	return strings.Contains(message, `"`+w.username+`" cannot`)
}
