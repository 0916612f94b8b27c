package albsim

import (
	"fmt"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// spoil makes the rules of a route with the fault fail.
func (u *Unforeseen) spoil(o *gatewayv1.HTTPRoute, r *route) {
	for i := range o.Spec.Rules {
		for j := range o.Spec.Rules[i].Matches {
			p := o.Spec.Rules[i].Matches[j].Path
			switch {
			case u == nil || p == nil || p.Value == nil || *p.Value != u.Path:
			case u.Silent:
				r.unreadable = fmt.Errorf("cannot read the rules of %s", o.Name)
			default:
				r.rules[i].matches[j].refused = fmt.Errorf("cannot build the rule of %s", o.Name)
			}
		}
	}
}

// httpFilters returns the redirect of a rule, or the error with which one of its filters fails the model.
func httpFilters(filters []gatewayv1.HTTPRouteFilter) (*gatewayv1.HTTPRequestRedirectFilter, error) {
	for i := range filters {
		switch f := &filters[i]; f.Type {
		case gatewayv1.HTTPRouteFilterRequestRedirect:
			return f.RequestRedirect, refusedRedirect(f.RequestRedirect)
		case gatewayv1.HTTPRouteFilterExtensionRef, gatewayv1.HTTPRouteFilterURLRewrite: // rewrites are not simulated
		default:
			return nil, fmt.Errorf("Unsupported filter type: %s. Only request redirect is supported. To specify header modification, "+ //nolint:staticcheck // its words
				"please configure it through LoadBalancerConfiguration.", f.Type)
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

func refusedRedirect(f *gatewayv1.HTTPRequestRedirectFilter) error {
	if f.Scheme != nil && *f.Scheme != "http" && *f.Scheme != "https" {
		return fmt.Errorf("unsupported redirect scheme: %s", strings.ToUpper(*f.Scheme))
	}
	if f.Path == nil {
		return nil
	}
	if to := f.Path.ReplaceFullPath; to != nil && strings.ContainsAny(*to, "*?") {
		return fmt.Errorf("ReplaceFullPath shouldn't contain wildcards: %s", *to)
	}
	if to := f.Path.ReplacePrefixMatch; to != nil && strings.ContainsAny(*to, "*?") {
		return fmt.Errorf("ReplacePrefixMatch shouldn't contain wildcards: %s", *to)
	}
	return nil
}

func grpcFilters(filters []gatewayv1.GRPCRouteFilter) error {
	for i := range filters {
		if t := filters[i].Type; t != gatewayv1.GRPCRouteFilterExtensionRef {
			return fmt.Errorf("Unsupported filter type: %s. To specify header modification, please configure it through LoadBalancerConfiguration.", t) //nolint:revive,staticcheck // its words
		}
	}
	return nil
}
