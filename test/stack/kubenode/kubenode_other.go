//go:build !linux

package kubenode

// Node is a running one; here none is.
type Node struct{ Name string }
