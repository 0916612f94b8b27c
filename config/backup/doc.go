// Package backup saves what Portico keeps in a cluster as plain YAML, and brings it into another one after the first is
// lost. It holds what people asked for, never a status and never a Secret.
package backup
