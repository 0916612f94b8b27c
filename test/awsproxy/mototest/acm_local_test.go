//go:build integration

package mototest_test

import (
	"crypto/tls"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/acm"
)

// TestNamesBelowLocalhostAreForTheStageAlone requests a certificate for a name that no public zone can prove.
func TestNamesBelowLocalhostAreForTheStageAlone(t *testing.T) {
	w, _ := timed(t)
	c := w.acm(newAccount(w), "eu-west-1")
	strict := described(t, c, request(t, c, certificate("shop.portico.localhost")))
	if got := string(strict.Status) + " " + string(strict.FailureReason); got != "FAILED INVALID_PUBLIC_DOMAIN" {
		t.Errorf("as in AWS: got %s, want FAILED INVALID_PUBLIC_DOMAIN", got)
	}

	var names []string
	w.IssueLocally(func(of []string) (*tls.Certificate, error) {
		names = of
		return &tls.Certificate{}, nil
	})
	arn := request(t, c, certificate("shop.portico.localhost", "www.portico.localhost"))
	if _, err := w.LocalCertificate(t.Context(), arn); err == nil {
		t.Error("a certificate that is not validated is presented")
	}
	w.IssueCertificate(arn)
	first, err := w.LocalCertificate(t.Context(), arn)
	must(t, err)
	if len(names) != 2 || names[0] != "shop.portico.localhost" || names[1] != "www.portico.localhost" {
		t.Errorf("it is for %v", names)
	}
	if again, err := w.LocalCertificate(t.Context(), arn); err != nil || again != first {
		t.Errorf("the second time: another one, %v", err)
	}
	_, err = c.DeleteCertificate(t.Context(), &acm.DeleteCertificateInput{CertificateArn: &arn})
	must(t, err)
	if _, err := w.LocalCertificate(t.Context(), arn); err == nil {
		t.Error("a deleted certificate is presented")
	}
}
