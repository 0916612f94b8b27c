package operator

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/portico-platform/portico/api/operatorapi"
)

// leader is an operator: a server with its own certificate.
type leader struct {
	*httptest.Server
	ca     string
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func newLeader(t *testing.T, name string) *leader {
	t.Helper()
	l := &leader{}
	l.says(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token-1" ||
			r.URL.Path != "/inspect/resources/S3Bucket/payments/logs" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(operatorapi.Resource{Record: operatorapi.Record{UID: "1", Reason: name}})
	})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{operatorapi.ServerName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	l.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	l.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.asked.Add(1)
		(*l.answer.Load())(w, r)
	}))
	l.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	l.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	l.StartTLS()
	t.Cleanup(l.Close)
	return l
}

func (l *leader) says(h http.HandlerFunc) { l.answer.Store(&h) }

// cluster is the part of Kubernetes that the client needs.
type cluster struct {
	mu       sync.Mutex
	url, ca  string
	holder   string
	reads    int
	tokens   int
	dropped  []string
	leaseErr error
}

func (c *cluster) Lease(context.Context) (*coordinationv1.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	l := &coordinationv1.Lease{}
	l.Annotations = map[string]string{operatorapi.AnnotationURL: c.url, operatorapi.AnnotationCA: c.ca}
	l.Spec.HolderIdentity = &c.holder
	return l, c.leaseErr
}

func (c *cluster) Token(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	return "token-1", nil
}

func (c *cluster) Drop(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = append(c.dropped, token)
}

func (c *cluster) leads(l *leader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.url, c.ca, c.holder = l.URL, l.ca, "somebody"
}
