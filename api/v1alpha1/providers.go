package v1alpha1

// Providers returns the name of the AWSProvider whose account has the certificate and the records.
func (r *GatewayHostnameRequest) Providers() []string { return []string{r.Spec.ProviderRef.Name} }

// Reserved reports whether something of the request exists, or where it will be created is decided.
func (r *GatewayHostnameRequest) Reserved() bool { return r.Status.AccountID != "" }

// Providers returns the name of the AWSProvider whose account has the load balancer.
func (g *PoolGateway) Providers() []string { return []string{g.Spec.ProviderRef.Name} }

// Reserved returns true: a PoolGateway belongs to an account from its creation.
func (g *PoolGateway) Reserved() bool { return true }

// Providers returns the names of the AWSProviders in whose accounts the binding has something: that of the role, and
// that of the cluster if it is another one.
func (b *AccessBinding) Providers() []string {
	all := []string{b.Spec.ProviderRef.Name}
	if at := b.Status.ClusterAccount; at != nil {
		all = append(all, at.Provider)
	}
	return all
}

// Reserved reports whether the binding has something in an account, or where it will be created is decided.
func (b *AccessBinding) Reserved() bool { return b.Status.AccountID != "" }
