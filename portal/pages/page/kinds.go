package page

import (
	"github.com/portico-platform/portico/portal/catalog"
)

// Kinds with special treatment on pages.
const (
	PoolKind     = "PoolGateway"
	ClaimKind    = "DomainClaim"
	GrantKind    = "HostnameGrant"
	ProviderKind = "AWSProvider"
	TeamKind     = "Team"
)

// HostnameKind is the kind that gives a namespace a hostname.
const HostnameKind = "GatewayHostnameRequest"

// IsHostname reports whether a kind gives a namespace hostnames.
func IsHostname(k catalog.Kind) bool { return k.ID() == HostnameKind }
