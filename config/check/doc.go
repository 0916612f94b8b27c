// Package check compares a cluster with what this version of Portico needs of it: operator and portal ask it whether
// they are ready, and portico check tells an installer what is missing.
//
// What is compared is what the binary brings with it, from config/crd, config/policy and config/rbac, so that a binary
// knows which cluster it was made for.
package check
