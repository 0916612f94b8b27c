package stack

import (
	"fmt"
	"os"
	"path/filepath"
)

// auditPolicy makes the API server's audit log record the portal's requests, under either of its identities.
// docs/audit.md shows the same policy.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  users: ["system:serviceaccount:portico-system:portico-impersonator", "system:serviceaccount:portico-system:portico-portal"]
  resources:
  - group: portico.dev
  - group: ""
    resources: [pods/log]
  - group: authorization.k8s.io
- level: None
`

// AuditLogPath returns where kube-apiserver writes its audit log, one line of JSON for each event.
func (s *Stack) AuditLogPath() string { return filepath.Join(s.Dir, "audit.log") }

// auditFlags returns the flags of kube-apiserver for an audit log.
func (s *Stack) auditFlags() ([]string, error) {
	policy := filepath.Join(s.Dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, fmt.Errorf("writing the audit policy: %w", err)
	}
	return []string{"--audit-policy-file=" + policy, "--audit-log-path=" + s.AuditLogPath()}, nil
}
