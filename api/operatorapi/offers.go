package operatorapi

import (
	"net/url"
	"strings"
)

// OffersPath is the path of the list of an AWS account's values for a field of a request, followed by kind, namespace,
// provider and field.
const OffersPath = "/inspect/offers"

// OfferQuery selects the values that a namespace can enter in a field of a new object's spec, from the account of a
// provider.
type OfferQuery struct {
	Kind, Namespace, Provider, Field string
	Region                           string // empty: the provider's own
	// other fields of the spec, by name, as far as they are filled in
	With map[string]string
}

// regionOf is the parameter of the region; fields of a spec have the prefix withOf.
const regionOf, withOf = "region", "with."

// Path returns where the answer is, with its parameters.
func (q OfferQuery) Path() string {
	path := OffersPath + "/" + url.PathEscape(q.Kind) + "/" + url.PathEscape(q.Namespace) + "/" +
		url.PathEscape(q.Provider) + "/" + url.PathEscape(q.Field)
	values := url.Values{}
	if q.Region != "" {
		values.Set(regionOf, q.Region)
	}
	for name, value := range q.With {
		if value != "" {
			values.Set(withOf+name, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// Parameters reads what Path wrote after the question mark.
func (q *OfferQuery) Parameters(values url.Values) {
	q.Region, q.With = values.Get(regionOf), map[string]string{}
	for name := range values {
		if field, ok := strings.CutPrefix(name, withOf); ok {
			q.With[field] = values.Get(name)
		}
	}
}

// Offers are the values that can be entered in a field.
type Offers struct {
	Items []Offer `json:"items"`
	// Pending means that AWS has not answered yet: retry in a moment. Error is why there are no values.
	Pending bool   `json:"pending,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Offer is one value, with its description.
type Offer struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
	// Facts are what programs go by: of hosted zones FactDomain, and FactPrivate for private ones.
	Facts map[string]string `json:"facts,omitempty"`
}

const (
	// FactDomain is the domain of a hosted zone.
	FactDomain = "domain"
	// FactPrivate is "true" for a private hosted zone.
	FactPrivate = "private"
)
