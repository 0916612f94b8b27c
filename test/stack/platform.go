package stack

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"

	"github.com/portico-platform/portico/test/stack/process"
)

// startOperator runs bin/operator with the rights of its own ServiceAccount.
func (s *Stack) startOperator(ctx context.Context) error {
	if !s.opts.Parts.has(Operator) {
		return nil
	}
	kubeconfig, err := s.ServiceAccountKubeconfig(ctx, Namespace, "portico-operator")
	if err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "operator", Path: s.opts.bin("operator"),
		Args: append([]string{
			"--kubeconfig", kubeconfig, "--namespace", Namespace, "--development",
			"--inspect-bind-address", address(0), "--inspect-advertise-address", "127.0.0.1",
			"--metrics-bind-address", address(s.ports.metrics), "--health-probe-bind-address", address(s.ports.health),
		}, s.AWSFlags()...),
		Ready: answers(plain, "http://"+address(s.ports.health)+"/readyz"),
	})
}

// AWSFlags let an operator's AWSProviders use the stack's AWS.
func (s *Stack) AWSFlags() []string {
	if s.AWSEndpoint == "" {
		return nil
	}
	return []string{"--allowed-endpoints", s.AWSEndpoint}
}

// startPortal runs bin/portal with the rights of its own ServiceAccounts, signing
// in at Dex.
func (s *Stack) startPortal(ctx context.Context) error {
	if !s.opts.Parts.has(Portal) {
		return nil
	}
	kubeconfig, err := s.ServiceAccountKubeconfig(ctx, Namespace, "portico-portal")
	if err != nil {
		return err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails since Go 1.24
	keys, secret := filepath.Join(s.Dir, "session-keys"), filepath.Join(s.Dir, "oidc-secret")
	if err := os.WriteFile(keys, []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(secret, []byte(PortalSecret+"\n"), 0o600); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "portal", Path: s.opts.bin("portal"),
		Args: append([]string{
			"--kubeconfig", kubeconfig, "--namespace", Namespace, "--impersonator", Namespace + "/portico-impersonator",
			"--listen", address(s.ports.portal), "--public-url", s.PortalURL,
			"--session-key-file", keys, "--development",
			"--oidc-issuer-url", s.Issuer, "--oidc-client-id", PortalClient, "--oidc-client-secret-file", secret,
			// What the sample roles, and the users' certificates, name people by.
			"--oidc-username-claim", "preferred_username",
			"--oidc-prefix", Prefix, "--api-audience", Audience,
			"--cli-client-id", CLIClient, "--cli-scopes", APIScopes + " offline_access",
		}, s.opts.PortalFlags...),
		Ready: answers(plain, s.PortalURL+"/readyz"),
	})
}
