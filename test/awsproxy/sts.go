package awsproxy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iam"
)

// stsService notes when the keys that AssumeRole makes expire, and the role,
// tags and policy of their session: moto forgets.
type stsService struct {
	keys *keyring
	lag  *lag
}

// sessionLife is how long a session lasts at the least, by the reference of
// AssumeRole.
const sessionLife = 15 * time.Minute

// ends returns when a session really ends. Many end before the time that was
// told, as all do that an administrator revokes.
func (s stsService) ends(told time.Time) time.Time {
	early := s.lag.ends(sessionLife)
	if early.IsZero() || told.Before(early) {
		return told
	}
	return early
}

func (s stsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if x.form.Has("PolicyArns.member.1.arn") {
		return x.fail(http.StatusNotImplemented, "NotImplemented", "the proxy knows no session policies by ARN: send the document"), nil
	}
	var policy *iam.Policy
	if text := x.form.Get("Policy"); text != "" {
		var err error
		if policy, err = ParsePolicy([]byte(text)); err != nil {
			return x.fail(http.StatusBadRequest, "MalformedPolicyDocument", err.Error()), nil
		}
	}
	r, err := next(ctx)
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	var made struct {
		Results []struct {
			User struct {
				Arn string
			} `xml:"AssumedRoleUser"`
			Credentials struct {
				AccessKeyID string    `xml:"AccessKeyId"`
				Expiration  time.Time `xml:"Expiration"`
			} `xml:"Credentials"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(r.body, &made); err != nil {
		return nil, fmt.Errorf("read the simulator's credentials: %w", err)
	}
	for _, result := range made.Results {
		c := result.Credentials
		if c.AccessKeyID == "" || c.Expiration.IsZero() {
			continue
		}
		var caller *principal
		if strings.HasPrefix(x.call.Operation, "AssumeRole") {
			caller = &principal{role: x.form.Get("RoleArn"), arn: result.User.Arn, tags: sessionTags(x.form), policy: policy}
		}
		s.keys.issued(c.AccessKeyID, s.ends(c.Expiration), caller)
	}
	return r, nil
}

// sessionTags returns the tags that a session is opened with: those of the
// request, or those in the claim of a web identity's token.
func sessionTags(form url.Values) map[string]string {
	tags := pairs(form, "Tags.member.%d.Key", "Tags.member.%d.Value")
	parts := strings.Split(form.Get("WebIdentityToken"), ".")
	if len(parts) != 3 {
		return tags
	}
	var claims struct {
		Tags struct {
			Principal map[string][]string `json:"principal_tags"`
		} `json:"https://aws.amazon.com/tags"`
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil {
		return tags
	}
	for key, values := range claims.Tags.Principal {
		if len(values) == 1 {
			tags[key] = values[0]
		}
	}
	return tags
}
