package program

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// CAFileHelp describes the flag whose value Trust takes.
const CAFileHelp = "`path` of a file with certificates of authorities, in PEM, that are trusted in addition to the " +
	"public ones, or to the system's if it has any: of the identity provider, of AWS-compatible endpoints, and of " +
	"everything else but databases and the API server. It is read once, at the start"

// trustOnce guards x509.SetFallbackRoots, which can be called once in a process.
var trustOnce sync.Once

// Trust sets which authorities the process trusts where a connection does not name its own: those of the system, or
// Mozilla's if the system has none, as in the image, and those in the PEM file; "" adds none. The first call in a
// process decides. The program must be built with x509usefallbackroots=1, or the system's authorities alone count.
//
// SSL_CERT_DIR and SSL_CERT_FILE are no way to add an authority: with either, the system has some, and in the image
// Mozilla's no longer count.
func Trust(caFile string) error {
	roots, err := authorities()
	if err != nil {
		return fmt.Errorf("read the authorities of the system: %w", err)
	}
	if caFile != "" {
		pem, err := os.ReadFile(filepath.Clean(caFile))
		if err != nil {
			return fmt.Errorf("--ca-file: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return fmt.Errorf("--ca-file: %s has no certificates in PEM form, which begin with "+
				"-----BEGIN CERTIFICATE-----", caFile)
		}
	}
	trustOnce.Do(func() { x509.SetFallbackRoots(roots) })
	return nil
}

// authorities returns the system's authorities, or Mozilla's if the system has none.
func authorities() (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err == nil && !roots.Equal(x509.NewCertPool()) {
		return roots, nil
	}
	roots = x509.NewCertPool()
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, err
		}
		if root.Constraint == nil {
			roots.AddCert(certificate)
		} else {
			roots.AddCertWithConstraint(certificate, root.Constraint)
		}
	}
	return roots, nil
}
