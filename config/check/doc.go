// Package check compares a cluster with what this version of Portico needs: operator and portal use it for readiness,
// and portico check reports to an installer what is missing.
//
// The reference is embedded in the binary, from config/crd, config/policy and config/rbac, so that a binary knows the
// cluster that it needs.
package check
