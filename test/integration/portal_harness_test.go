//go:build integration

package integration

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/web"
)

// replica is one portal in this process, with its production permissions.
type replica struct {
	url     string
	cluster *cluster.Cluster
	kinds   catalog.Catalog
	log     *syncedBuffer
	calls   *calls // to Kubernetes
	handler http.Handler
}

// newCluster starts the portal's access to Kubernetes.
func newCluster(t *testing.T, log *slog.Logger) (*cluster.Cluster, catalog.Catalog) {
	t.Helper()
	return newClusterBy(t, log, &calls{})
}

// newClusterBy starts the portal's access to Kubernetes and records its calls.
func newClusterBy(t *testing.T, log *slog.Logger, noted *calls) (*cluster.Cluster, catalog.Catalog) {
	t.Helper()
	admin(t) // the kinds are served
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-portal")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Wrap(noted.noting)
	kinds, err := catalogtest.Load()
	if err != nil {
		t.Fatal(err)
	}
	c, err := cluster.New(cfg, cluster.Options{
		Impersonator: types.NamespacedName{Namespace: stack.Namespace, Name: "portico-impersonator"},
		Namespace:    stack.Namespace, Prefix: stack.Prefix, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("cluster: %v", err)
		}
	})
	await(t, "the portal's cache", func() (bool, string) {
		if err := c.Ready(); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
	return c, kinds
}

// sessionKeys writes a key file for replicas to share.
func sessionKeys(t *testing.T) string {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	secrets.Plant("a key of sessions", base64.StdEncoding.EncodeToString(key))
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(key)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// startPortal runs a portal that trusts the issuer, or Dex if it is "".
func startPortal(t *testing.T, issuer, keyFile string) *replica {
	t.Helper()
	return startPortalOf(t, issuer, keyFile, func(*portal.Parts) {})
}

// startPortalOf starts a portal like startPortal, with changed parts.
func startPortalOf(t *testing.T, issuer, keyFile string, change func(*portal.Parts)) *replica {
	t.Helper()
	return startPortalAt(t, "127.0.0.1:0", issuer, keyFile, change)
}

// startPortalAt starts a portal at the given address, because Dex redirects browsers to world.PortalURL only.
func startPortalAt(t *testing.T, address, issuer, keyFile string, change func(*portal.Parts)) *replica {
	t.Helper()
	return startPortalBy(t, address, keyFile, func(cfg *auth.Config) { cfg.IssuerURL = cmp.Or(issuer, world.Issuer) },
		change)
}

// startPortalBy starts a portal like startPortalAt, with changed settings for signing in.
func startPortalBy(t *testing.T, address, keyFile string, configure func(*auth.Config),
	change func(*portal.Parts),
) *replica {
	t.Helper()
	r := &replica{log: &syncedBuffer{}, calls: &calls{}}
	log := slog.New(slog.NewJSONHandler(io.MultiWriter(r.log, secrets.Into("the portal's log")), nil))
	r.cluster, r.kinds = newClusterBy(t, log, r.calls)
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + l.Addr().String()
	cfg := auth.Config{
		IssuerURL: world.Issuer, ClientID: stack.PortalClient, ClientSecret: stack.PortalSecret, PublicURL: r.url,
		UsernameClaim: "preferred_username", GroupsClaim: "groups", Prefix: stack.Prefix, Audiences: []string{
			stack.Audience,
		},
		CLIClientID: stack.CLIClient, CLIScopes: strings.Fields(stack.APIScopes + " offline_access"),
	}
	configure(&cfg)
	provider, err := auth.NewProvider(cfg, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := auth.NewSessionKeys(keyFile, time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	parts := portal.Parts{
		Cluster: r.cluster, Provider: provider, Keys: keys, Life: auth.DefaultLife(),
		Pages:  pages.New(r.cluster, pages.Reach{Portal: r.url}, log),
		Assets: http.HandlerFunc(web.Assets), Clock: clock.RealClock{}, Log: log,
	}
	change(&parts)
	h, err := portal.New(parts)
	if err != nil {
		t.Fatal(err)
	}
	r.handler = h
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- portal.Serve(ctx, l, h, 0, log) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("portal: %v", err)
		}
	})
	return r
}

// answer is a response of the portal.
type answer struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// detail returns the detail of a problem document.
func (a answer) detail() string { s, _ := a.body["detail"].(string); return s }

// location returns the location and the message of the first field error.
func (a answer) location() (location, message string) {
	errs, _ := a.body["errors"].([]any)
	if len(errs) == 0 {
		return "", ""
	}
	first, _ := errs[0].(map[string]any)
	location, _ = first["location"].(string)
	message, _ = first["message"].(string)
	return location, message
}

// call sends one REST request with a token; headers are pairs of name and value.
func (r *replica) call(t *testing.T, token, method, path string, body any, headers ...string) answer {
	t.Helper()
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		payload = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+"/api/v1"+path, payload)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	given := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		given[headers[i]] = append(given[headers[i]], headers[i+1])
	}
	maps.Copy(req.Header, given)
	return send(t, req)
}

func send(t *testing.T, req *http.Request) answer {
	t.Helper()
	resp, err := programs(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, resp)
}

// want fails unless the response has the status.
func (a answer) want(t *testing.T, status int) answer {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.raw)
	}
	return a
}

// userToken returns a sample user's token from Dex.
func userToken(t *testing.T, user string) string {
	t.Helper()
	token, err := world.Token(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	secrets.Plant("a token of "+user, token)
	return token
}

// bucketBody returns the body of a request for a bucket.
func bucketBody(name, bucketName string) map[string]any {
	spec := map[string]any{"providerRef": map[string]any{"name": stack.Provider}}
	if bucketName != "" {
		spec["bucketName"] = bucketName
	}
	return map[string]any{"apiVersion": "portico.dev/v1alpha1", "kind": "S3Bucket", "metadata": map[string]any{
		"name": name,
	}, "spec": spec}
}

// newBucket returns a bucket with only the required fields.
func newBucket(namespace, name string) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	b.Spec.ProviderRef.Name = stack.Provider
	return b
}

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// syncedBuffer is a log that tests can read while it is written.
type syncedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// controllersGVR returns the resource of buckets.
func controllersGVR(t *testing.T) schema.GroupVersionResource {
	t.Helper()
	return v1alpha1.GroupVersion.WithResource("s3buckets")
}

func tokenRequest() *authenticationv1.TokenRequest { return &authenticationv1.TokenRequest{} }

func isForbidden(err error) bool {
	var f *failure.ForbiddenError
	return errors.As(err, &f)
}

func asError[T error](err error, target *T) bool { return errors.As(err, target) }
