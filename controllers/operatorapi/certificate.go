package operatorapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
)

const (
	// lifetime is the lifetime of a certificate; renewal is how long before its expiry it is replaced. Both are long
	// compared with the life of a process, and short for a key in use.
	lifetime = 365 * 24 * time.Hour
	renewal  = 60 * 24 * time.Hour
	// skew allows for clocks that are slow.
	skew = time.Hour
)

// certificate is a self-signed certificate whose key exists in memory only.
type certificate struct {
	tls     *tls.Certificate
	pem     string
	expires time.Time
}

func newCertificate(now time.Time) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: operatorapi.ServerName},
		DNSNames:  []string{operatorapi.ServerName},
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	return &certificate{
		tls:     &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:     string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		expires: template.NotAfter,
	}, nil
}

// needsRenewal reports whether the certificate must be replaced.
func (c *certificate) needsRenewal(now time.Time) bool { return now.After(c.expires.Add(-renewal)) }
