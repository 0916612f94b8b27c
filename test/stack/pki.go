package stack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// pki has the certificates of one run. One authority signs for servers and clients. A second one signs the API server's
// client certificate for the servers of aggregated APIs, which trust the user that the API server names. The
// authorities' keys stay in memory.
type pki struct {
	*authority
	frontProxy *authority
	// hostnames signs what load balancers present: its certificates are for names below Domain and this machine alone.
	hostnames *authority
	// The one serving certificate, for all servers.
	ServingCert, ServingKey string
	// ServiceAccountKey signs and verifies the tokens of ServiceAccounts.
	ServiceAccountKey string
	// Admin is a client certificate of group system:masters.
	AdminCert, AdminKey       string
	adminCertPEM, adminKeyPEM []byte
	// FrontProxyCert is the API server's as a client of aggregated APIs.
	FrontProxyCert, FrontProxyKey string
}

// authority signs certificates.
type authority struct {
	ca     *x509.Certificate
	caKey  *ecdsa.PrivateKey
	caPEM  []byte
	CAFile string
}

// frontProxyName is the name in the API server's certificate as a client of aggregated APIs.
const frontProxyName = "front-proxy-client"

func newPKI(dir string, o *Options) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p := &pki{
		ServingCert: filepath.Join(dir, "serving.crt"), ServingKey: filepath.Join(dir, "serving.key"),
		ServiceAccountKey: filepath.Join(dir, "service-accounts.key"),
		AdminCert:         filepath.Join(dir, "admin.crt"), AdminKey: filepath.Join(dir, "admin.key"),
		FrontProxyCert: filepath.Join(dir, "front-proxy-client.crt"),
		FrontProxyKey:  filepath.Join(dir, "front-proxy-client.key"),
	}
	var err error
	if p.authority, err = newAuthority("portico-local-ca", filepath.Join(dir, "ca.crt")); err != nil {
		return nil, err
	}
	if p.frontProxy, err = newAuthority(
		"portico-local-front-proxy-ca", filepath.Join(dir, "front-proxy-ca.crt")); err != nil {
		return nil, err
	}
	if p.hostnames, err = newAuthority("portico-local-hostnames-ca", filepath.Join(dir, "hostnames-ca.crt"),
		constrained); err != nil {
		return nil, err
	}
	if err := p.makeServing(o.servingNames()); err != nil {
		return nil, err
	}
	for _, make := range []func() error{p.makeServiceAccountKey, p.makeAdmin, p.makeFrontProxy} {
		if err := make(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// constrained limits an authority to names below Domain and to this machine's addresses, so that a browser that trusts
// it trusts nothing else that its key could sign.
func constrained(t *x509.Certificate) {
	t.PermittedDNSDomainsCritical = true
	t.PermittedDNSDomains = []string{Domain}
	t.PermittedIPRanges = []*net.IPNet{
		{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)}, {IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
	}
}

// newAuthority makes an authority, and writes its certificate to the file.
func newAuthority(name, file string, limits ...func(*x509.Certificate)) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := template(name, nil)
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage |= x509.KeyUsageCertSign
	t.ExtKeyUsage = nil
	for _, limit := range limits {
		limit(t)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	a := &authority{caKey: key, caPEM: encode("CERTIFICATE", der), CAFile: file}
	if a.ca, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return a, os.WriteFile(file, a.caPEM, 0o600)
}

func (p *pki) makeServing(names []string, ips []net.IP) error {
	t := template("portico-local", nil)
	t.DNSNames, t.IPAddresses = names, ips
	cert, key, err := p.issue(t)
	if err != nil {
		return err
	}
	return writePair(p.ServingCert, cert, p.ServingKey, key)
}

func (p *pki) makeServiceAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	data, err := encodeKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(p.ServiceAccountKey, data, 0o600)
}

func (p *pki) makeAdmin() (err error) {
	if p.adminCertPEM, p.adminKeyPEM, err = p.client("portico-local-admin", "system:masters"); err != nil {
		return err
	}
	return writePair(p.AdminCert, p.adminCertPEM, p.AdminKey, p.adminKeyPEM)
}

func (p *pki) makeFrontProxy() error {
	cert, key, err := p.frontProxy.client(frontProxyName)
	if err != nil {
		return err
	}
	return writePair(p.FrontProxyCert, cert, p.FrontProxyKey, key)
}

// client issues a certificate for a user and groups, as Kubernetes reads them.
func (p *authority) client(user string, groups ...string) (cert, key []byte, err error) {
	return p.issue(template(user, groups))
}

func template(name string, groups []string) *x509.Certificate {
	now := time.Now()
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // never fails since Go 1.24
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, Organization: groups},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
}

func (p *authority) issue(t *x509.Certificate) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, t, p.ca, private.Public(), p.caKey)
	if err != nil {
		return nil, nil, err
	}
	key, err = encodeKey(private)
	return encode("CERTIFICATE", der), key, err
}

// issueServing issues a certificate for names, which a server can present.
func (p *authority) issueServing(names []string) (*tls.Certificate, error) {
	t := template(names[0], nil)
	t.Subject.CommonName, t.DNSNames = "", names
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	cert, key, err := p.issue(t)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(append(cert, p.caPEM...), key)
	return &pair, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return encode("EC PRIVATE KEY", der), err
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func writePair(certFile string, cert []byte, keyFile string, key []byte) error {
	if err := os.WriteFile(certFile, cert, 0o600); err != nil {
		return err
	}
	return os.WriteFile(keyFile, key, 0o600)
}
