package sts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// sessionTags returns the tags of a new session: those of the request, or those in the claim of a web identity's
// token.
func sessionTags(form url.Values) map[string]string {
	tags := wire.Pairs(form, "Tags.member.%d.Key", "Tags.member.%d.Value")
	claims, ok := readClaims(form.Get("WebIdentityToken"))
	if !ok {
		return tags
	}
	for key, values := range claims.Tags.Principal {
		if len(values) == 1 {
			tags[key] = values[0]
		}
	}
	return tags
}

// webClaims are the claims of a web identity's token that STS evaluates.
type webClaims struct {
	Issuer   string      `json:"iss"`
	Subject  string      `json:"sub"`
	Audience audience    `json:"aud"`
	Expires  json.Number `json:"exp"`
	Tags     struct {
		Principal map[string][]string `json:"principal_tags"`
	} `json:"https://aws.amazon.com/tags"`
}

// audience is one audience, or several.
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if err := json.Unmarshal(text, &one); err == nil {
		*a = audience{one}
		return nil
	}
	var all []string
	err := json.Unmarshal(text, &all)
	*a = all
	return err
}

// readClaims parses a token, without checking its signature; false if it is not a token.
func readClaims(token string) (claims webClaims, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	return claims, err == nil && json.Unmarshal(payload, &claims) == nil
}

// webIdentity refuses a token that the account has no provider for, or that the role does not trust.
func (s *Service) webIdentity(ctx context.Context, x *wire.Exchange, role *iam.Role) (*wire.Reply, error) {
	claims, ok := readClaims(x.Form.Get("WebIdentityToken"))
	if !ok {
		return x.Fail(http.StatusBadRequest, "InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You "+
			"may see this error if you sent an Access Token)"), nil
	}
	if at, err := claims.Expires.Int64(); err == nil && !s.now().Before(time.Unix(at, 0)) {
		return x.Fail(http.StatusBadRequest, "ExpiredTokenException", "Token expired: current date/time must be "+
			"before the expiration date/time"), nil
	}
	id, _ := iam.ReadRoleARN(role.ARN)
	provider := strings.TrimPrefix(claims.Issuer, "https://")
	arn := wire.ARN{
		Partition: id.Partition, Service: "iam", Account: id.Account, Resource: "oidc-provider/" + provider,
	}.String()
	var answer struct {
		Clients []string `xml:"GetOpenIDConnectProviderResult>ClientIDList>member"`
	}
	found, err := s.roles.Ask(ctx, id, &answer, "GetOpenIDConnectProvider", "OpenIDConnectProviderArn", arn)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return x.Fail(http.StatusBadRequest, "InvalidIdentityToken", "No OpenIDConnect provider found in your "+
			"account for "+claims.Issuer), nil
	case !slices.ContainsFunc(claims.Audience, func(a string) bool { return slices.Contains(answer.Clients, a) }):
		return x.Fail(http.StatusBadRequest, "InvalidIdentityToken", "Incorrect token audience"), nil
	}
	a := iam.Assumption{
		Action: "sts:AssumeRoleWithWebIdentity", Who: []iampolicy.Principal{{Kind: "Federated", Name: arn}},
		Tags: sessionTags(x.Form), Facts: permit.Facts{},
	}
	a.Facts.With(provider+":sub", claims.Subject).With(provider+":aud", claims.Audience...).With(
		"sts:RoleSessionName", x.Form.Get("RoleSessionName"))
	if _, ok, err := role.Trusted(a); ok || err != nil {
		return nil, err
	}
	return x.Fail(http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"), nil
}
