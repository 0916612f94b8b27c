package awsproxy

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// stsService records when the keys from AssumeRole expire, and the role, tags and policy of their session, which moto
// does not store. It evaluates the trust policies of the roles that exist in IAM.
type stsService struct {
	roles  *roleBook
	keys   issuer
	lag    *lag
	now    func() time.Time
	decide decider // about the caller
}

// issuer records the keys of sessions.
type issuer interface {
	// assign assigns a key to an account.
	assign(key, account string)
	// issued records when a key ends, and the session of a role that it belongs to, if any.
	issued(key string, expires time.Time, caller *principal)
}

func newSTS(roles *roleBook, keys issuer, decide decider, lag *lag, now func() time.Time) *stsService {
	return &stsService{roles: roles, keys: keys, lag: lag, now: now, decide: decide}
}

// needs returns no permissions: the trust policies of roles decide.
func (s *stsService) needs(context.Context, *exchange) ([]need, error) { return nil, nil }

// sessionLife is the minimum duration of a session, by the reference of AssumeRole.
const sessionLife = 15 * time.Minute

// ends returns when a session really ends. Half of all sessions end before the reported time, as all do after a
// platform admin has revoked them.
func (s *stsService) ends(told time.Time) time.Time {
	early := s.lag.ends(sessionLife)
	if early.IsZero() || told.Before(early) {
		return told
	}
	return early
}

func (s *stsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if x.form.Has("PolicyArns.member.1.arn") {
		return x.fail(http.StatusNotImplemented, "NotImplemented", "the proxy knows no session policies by ARN: send "+
			"the document"), nil
	}
	var policy *iampolicy.Policy
	if text := x.form.Get("Policy"); text != "" {
		var err error
		if policy, err = ParsePolicy([]byte(text)); err != nil {
			return x.fail(http.StatusBadRequest, "MalformedPolicyDocument", err.Error()), nil
		}
		if utf8.RuneCountInString(text) > sessionPolicyLimit {
			return x.fail(http.StatusBadRequest, "ValidationError", "1 validation error detected: Value at 'policy' "+
				"failed to satisfy constraint: Member must have length less than or equal to 2048"), nil
		}
	}
	role, refusal, err := s.admit(ctx, x)
	if refusal != nil || err != nil {
		return refusal, err
	}
	r, err := next(ctx)
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	return r, s.note(x, r.body, role, policy)
}

// admit returns the role that the call assumes, if IAM has it, or the refusal of its trust policy. Other roles are
// those of tests, which any caller can assume.
func (s *stsService) admit(ctx context.Context, x *exchange) (*storedRole, *reply, error) {
	if x.call.Operation != "AssumeRole" && x.call.Operation != "AssumeRoleWithWebIdentity" {
		return nil, nil, nil
	}
	role, err := s.roles.role(ctx, x.form.Get("RoleArn"))
	if role == nil || err != nil {
		return nil, nil, err
	}
	if x.call.Operation == "AssumeRoleWithWebIdentity" {
		refusal, err := s.webIdentity(ctx, x, role)
		return role, refusal, err
	}
	a := assumption{
		action: "sts:AssumeRole", tags: sessionTags(x.form),
		who: identities(x.caller, partition(x.call.Region), x.call.Account), facts: facts{},
	}
	a.facts.with("sts:RoleSessionName", x.form.Get("RoleSessionName")).with("aws:PrincipalAccount", x.call.Account)
	if id := x.form.Get("ExternalId"); id != "" {
		a.facts.with("sts:ExternalId", id)
	}
	who := a.who[0].Name
	if x.caller != nil {
		a.facts.with("aws:PrincipalArn", x.caller.role)
	}
	ok, err := s.mayAssume(ctx, x, role, a)
	if ok || err != nil {
		return role, nil, err
	}
	return role, x.fail(http.StatusForbidden, "AccessDenied", "User: "+who+" is not authorized to perform: "+
		"sts:AssumeRole on resource: "+role.arn), nil
}

// note records the sessions in a response.
func (s *stsService) note(x *exchange, body []byte, role *storedRole, policy *iampolicy.Policy) error {
	sessions, err := readSessions(body)
	if err != nil {
		return err
	}
	for _, made := range sessions {
		var caller *principal
		if strings.HasPrefix(x.call.Operation, "AssumeRole") {
			caller = newPrincipal(x.form.Get("RoleArn"), made.ARN, role, sessionTags(x.form), policy)
		}
		s.keys.issued(made.AccessKeyID, s.ends(made.Expiration), caller)
	}
	return nil
}

// newPrincipal returns the principal of a session; role is nil if IAM has no such role.
func newPrincipal(roleARN, arn string, role *storedRole, tags map[string]string, policy *iampolicy.Policy) *principal {
	p := &principal{role: roleARN, arn: arn, tags: map[string]string{}, policy: policy, stored: role != nil}
	if role != nil {
		maps.Copy(p.tags, role.tags)
	}
	maps.Copy(p.tags, tags)
	return p
}

// madeSession is a session in a response of STS.
type madeSession struct {
	ARN, AccessKeyID, SecretAccessKey, SessionToken string
	Expiration                                      time.Time
}

// readSessions reads the credentials in a response of STS.
func readSessions(body []byte) ([]madeSession, error) {
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
	var all []madeSession
	for _, result := range made.Results {
		c := result.Credentials
		if c.AccessKeyID != "" && !c.Expiration.IsZero() {
			all = append(all, madeSession{
				result.User.Arn, c.AccessKeyID, c.SecretAccessKey, c.SessionToken,
				c.Expiration,
			})
		}
	}
	return all, nil
}

// mayAssume reports whether a caller can assume a role: the trust policy must allow it, and if that names only the
// caller's account or the role is in another account, the caller's own policies, too.
func (s *stsService) mayAssume(ctx context.Context, x *exchange, role *storedRole, a assumption) (bool, error) {
	by, ok, err := role.trusted(a)
	if !ok || err != nil || x.caller == nil {
		return ok, err
	}
	id, _ := readRoleARN(role.arn)
	if direct := strings.Contains(by.Name, "role/"); direct && id.account == x.call.Account {
		return true, nil
	}
	for _, action := range []string{a.action, "sts:TagSession"} {
		if action == "sts:TagSession" && len(a.tags) == 0 {
			continue
		}
		n := need{action: action, resource: role.arn, facts: facts{}}
		maps.Copy(n.facts, a.facts)
		n.facts.tagged(a.tags)
		d, _, err := s.decide(ctx, x, &n)
		if err != nil || !d.Allowed {
			return false, err
		}
	}
	return true, nil
}
