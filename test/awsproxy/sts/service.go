// Package sts is AWS STS: sessions of roles, with their tags, policy and end, and the trust policies of the roles in
// IAM.
package sts

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Service records when the keys from AssumeRole expire, and the role, tags and policy of their session, which moto
// does not store. It evaluates the trust policies of the roles that exist in IAM.
type Service struct {
	roles  *iam.Book
	keys   Keys
	lag    *lag.Lag
	now    func() time.Time
	decide permit.Decider // about the caller
}

// Keys records the keys of sessions.
type Keys interface {
	// Assign assigns a key to an account.
	Assign(key, account string)
	// Issued records when a key ends, and the session of a role that it belongs to, if any.
	Issued(key string, expires time.Time, caller *wire.Principal)
}

// New returns STS; keys records the sessions that it opens.
func New(roles *iam.Book, keys Keys, decide permit.Decider, lag *lag.Lag, now func() time.Time) *Service {
	return &Service{roles: roles, keys: keys, lag: lag, now: now, decide: decide}
}

// Needs returns no permissions: the trust policies of roles decide.
func (s *Service) Needs(context.Context, *wire.Exchange) ([]permit.Need, error) { return nil, nil }

// sessionLife is the minimum duration of a session, by the reference of AssumeRole.
const sessionLife = 15 * time.Minute

// ends returns when a session really ends. Half of all sessions end before the reported time, as all do after a
// platform admin has revoked them.
func (s *Service) ends(told time.Time) time.Time {
	early := s.lag.Ends(sessionLife)
	if early.IsZero() || told.Before(early) {
		return told
	}
	return early
}

// Around serves the calls to STS.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if x.Form.Has("PolicyArns.member.1.arn") {
		return x.Fail(http.StatusNotImplemented, "NotImplemented", "the proxy knows no session policies by ARN: send "+
			"the document"), nil
	}
	var policy *iampolicy.Policy
	if text := x.Form.Get("Policy"); text != "" {
		var err error
		if policy, err = permit.ParsePolicy([]byte(text)); err != nil {
			return x.Fail(http.StatusBadRequest, "MalformedPolicyDocument", err.Error()), nil
		}
		if utf8.RuneCountInString(text) > permit.SessionPolicyLimit {
			return x.Fail(http.StatusBadRequest, "ValidationError", "1 validation error detected: Value at 'policy' "+
				"failed to satisfy constraint: Member must have length less than or equal to 2048"), nil
		}
	}
	role, refusal, err := s.admit(ctx, x)
	if refusal != nil || err != nil {
		return refusal, err
	}
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	return r, s.note(x, r.Body, role, policy)
}

// admit returns the role that the call assumes, if IAM has it, or the refusal of its trust policy. Other roles are
// those of tests, which any caller can assume.
func (s *Service) admit(ctx context.Context, x *wire.Exchange) (*iam.Role, *wire.Reply, error) {
	if x.Call.Operation != "AssumeRole" && x.Call.Operation != "AssumeRoleWithWebIdentity" {
		return nil, nil, nil
	}
	role, err := s.roles.Role(ctx, x.Form.Get("RoleArn"))
	if role == nil || err != nil {
		return nil, nil, err
	}
	if x.Call.Operation == "AssumeRoleWithWebIdentity" {
		refusal, err := s.webIdentity(ctx, x, role)
		return role, refusal, err
	}
	a := iam.Assumption{
		Action: "sts:AssumeRole", Tags: sessionTags(x.Form),
		Who: wire.Identities(x.Caller, wire.Partition(x.Call.Region), x.Call.Account), Facts: permit.Facts{},
	}
	a.Facts.With("sts:RoleSessionName", x.Form.Get("RoleSessionName")).With("aws:PrincipalAccount", x.Call.Account)
	if id := x.Form.Get("ExternalId"); id != "" {
		a.Facts.With("sts:ExternalId", id)
	}
	who := a.Who[0].Name
	if x.Caller != nil {
		a.Facts.With("aws:PrincipalArn", x.Caller.Role)
	}
	ok, err := s.MayAssume(ctx, x, role, a)
	if ok || err != nil {
		return role, nil, err
	}
	return role, x.Fail(http.StatusForbidden, "AccessDenied", "User: "+who+" is not authorized to perform: "+
		"sts:AssumeRole on resource: "+role.ARN), nil
}

// note records the sessions in a response.
func (s *Service) note(x *wire.Exchange, body []byte, role *iam.Role, policy *iampolicy.Policy) error {
	sessions, err := ReadSessions(body)
	if err != nil {
		return err
	}
	for _, made := range sessions {
		var caller *wire.Principal
		if strings.HasPrefix(x.Call.Operation, "AssumeRole") {
			caller = iam.NewPrincipal(x.Form.Get("RoleArn"), made.ARN, role, sessionTags(x.Form), policy)
		}
		s.keys.Issued(made.AccessKeyID, s.ends(made.Expiration), caller)
	}
	return nil
}

// MadeSession is a session in a response of STS.
type MadeSession struct {
	ARN, AccessKeyID, SecretAccessKey, SessionToken string
	Expiration                                      time.Time
}

// ReadSessions reads the credentials in a response of STS.
func ReadSessions(body []byte) ([]MadeSession, error) {
	var made struct {
		Results []struct {
			User struct {
				Arn string
			} `xml:"AssumedRoleUser"`
			Credentials struct {
				AccessKeyID     string    `xml:"AccessKeyId"`
				SecretAccessKey string    `xml:"SecretAccessKey"`
				SessionToken    string    `xml:"SessionToken"`
				Expiration      time.Time `xml:"Expiration"`
			} `xml:"Credentials"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal(body, &made); err != nil {
		return nil, fmt.Errorf("read the simulator's credentials: %w", err)
	}
	var all []MadeSession
	for _, result := range made.Results {
		c := result.Credentials
		if c.AccessKeyID != "" && !c.Expiration.IsZero() {
			all = append(all, MadeSession{
				result.User.Arn, c.AccessKeyID, c.SecretAccessKey, c.SessionToken,
				c.Expiration,
			})
		}
	}
	return all, nil
}

// MayAssume reports whether a caller can assume a role: the trust policy must allow it, and if that names only the
// caller's account or the role is in another account, the caller's own policies, too.
func (s *Service) MayAssume(ctx context.Context, x *wire.Exchange, role *iam.Role, a iam.Assumption) (bool, error) {
	by, ok, err := role.Trusted(a)
	if !ok || err != nil || x.Caller == nil {
		return ok, err
	}
	id, _ := iam.ReadRoleARN(role.ARN)
	if direct := strings.Contains(by.Name, "role/"); direct && id.Account == x.Call.Account {
		return true, nil
	}
	for _, action := range []string{a.Action, "sts:TagSession"} {
		if action == "sts:TagSession" && len(a.Tags) == 0 {
			continue
		}
		n := permit.Need{Action: action, Resource: role.ARN, Facts: permit.Facts{}}
		maps.Copy(n.Facts, a.Facts)
		n.Facts.Tagged(a.Tags)
		d, _, err := s.decide(ctx, x, &n)
		if err != nil || !d.Allowed {
			return false, err
		}
	}
	return true, nil
}
