// Package backup saves Portico's objects in a cluster as plain YAML, and restores them in another one. It saves what
// users requested, never a status and never a Secret.
package backup
