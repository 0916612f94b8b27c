package catalog

// Ref names one object; Namespace is empty for a cluster-scoped kind.
type Ref struct {
	Kind      Kind
	Namespace string
	Name      string
}
