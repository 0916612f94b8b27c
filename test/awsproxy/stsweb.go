package awsproxy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// sessionTags returns the tags of a new session: those of the request, or those in the claim of a web identity's
// token.
func sessionTags(form url.Values) map[string]string {
	tags := pairs(form, "Tags.member.%d.Key", "Tags.member.%d.Value")
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
func (s *stsService) webIdentity(ctx context.Context, x *exchange, role *storedRole) (*reply, error) {
	claims, ok := readClaims(x.form.Get("WebIdentityToken"))
	if !ok {
		return x.fail(http.StatusBadRequest, "InvalidIdentityToken", "The ID Token provided is not a valid JWT. (You "+
			"may see this error if you sent an Access Token)"), nil
	}
	if at, err := claims.Expires.Int64(); err == nil && !s.now().Before(time.Unix(at, 0)) {
		return x.fail(http.StatusBadRequest, "ExpiredTokenException", "Token expired: current date/time must be "+
			"before the expiration date/time"), nil
	}
	id, _ := readRoleARN(role.arn)
	provider := strings.TrimPrefix(claims.Issuer, "https://")
	arn := strings.Join([]string{"arn", id.partition, "iam", "", id.account, "oidc-provider/" + provider}, ":")
	var answer struct {
		Clients []string `xml:"GetOpenIDConnectProviderResult>ClientIDList>member"`
	}
	found, err := s.roles.ask(ctx, id, &answer, "GetOpenIDConnectProvider", "OpenIDConnectProviderArn", arn)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return x.fail(http.StatusBadRequest, "InvalidIdentityToken", "No OpenIDConnect provider found in your "+
			"account for "+claims.Issuer), nil
	case !slices.ContainsFunc(claims.Audience, func(a string) bool { return slices.Contains(answer.Clients, a) }):
		return x.fail(http.StatusBadRequest, "InvalidIdentityToken", "Incorrect token audience"), nil
	}
	a := assumption{
		action: "sts:AssumeRoleWithWebIdentity", who: []iampolicy.Principal{{Kind: "Federated", Name: arn}},
		tags: sessionTags(x.form), facts: facts{},
	}
	a.facts.with(provider+":sub", claims.Subject).with(provider+":aud", claims.Audience...).with(
		"sts:RoleSessionName", x.form.Get("RoleSessionName"))
	if _, ok, err := role.trusted(a); ok || err != nil {
		return nil, err
	}
	return x.fail(http.StatusForbidden, "AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"), nil
}
