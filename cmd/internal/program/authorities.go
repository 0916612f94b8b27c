package program

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
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
func Trust(caFile string, log *slog.Logger) error {
	roots, err := authorities()
	if err != nil {
		return fmt.Errorf("read the authorities of the system: %w", err)
	}
	if caFile != "" {
		text, err := os.ReadFile(filepath.Clean(caFile))
		if err != nil {
			return fmt.Errorf("--ca-file: %w", err)
		}
		added, err := certificates(text)
		if err != nil {
			return fmt.Errorf("--ca-file: %s %w", caFile, err)
		}
		for _, one := range added {
			roots.AddCert(one)
		}
		log.Info("certificates of --ca-file are trusted in addition", "certificates", len(added))
	}
	trustOnce.Do(func() { x509.SetFallbackRoots(roots) })
	return nil
}

const beginCertificate = "-----BEGIN CERTIFICATE-----"

// certificates returns the certificates of a text in PEM. One that cannot be read is an error: left out, it would be
// missed only when a server presents it.
func certificates(text []byte) (all []*x509.Certificate, err error) {
	parts := bytes.Split(text, []byte(beginCertificate))
	for i, part := range parts[1:] {
		block, _ := pem.Decode(append([]byte(beginCertificate), part...))
		if block == nil {
			return nil, fmt.Errorf("has certificate %d of %d, which is not complete in PEM form", i+1, len(parts)-1)
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("has certificate %d of %d, which cannot be read: %w", i+1, len(parts)-1, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, errors.New("has no certificates in PEM form, which begin with " + beginCertificate)
	}
	return all, nil
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
