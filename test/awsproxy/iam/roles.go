// Package iam is AWS IAM: roles, with what it refuses about them, their policies, which take effect late, and their
// last use. Package iampolicy evaluates the policies.
package iam

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Quotas of IAM that the simulator does not enforce, by "IAM and AWS STS quotas". White space in policies does not
// count.
const (
	rolesQuota       = 1000
	trustQuota       = 2048
	inlineQuota      = 10240
	tagsPerRoleQuota = 50
)

var (
	roleNames   = regexp.MustCompile(`^[\w+=,.@-]{1,64}$`)
	policyNames = regexp.MustCompile(`^[\w+=,.@-]{1,128}$`)
	rolePaths   = regexp.MustCompile(`^(/|/[!-~]{1,510}/)$`)
)

// Service is as strict about roles as IAM is.
type Service struct {
	book  *Book
	quota atomic.Int64
}

// New returns IAM with the roles of the book.
func New(book *Book) *Service { return &Service{book: book} }

// SetRolesQuota limits the roles of each account; 0 restores AWS's own limit.
func (s *Service) SetRolesQuota(n int) { s.quota.Store(int64(n)) }

// NewRoleKey returns the lag's key for a role that may still be unknown to EKS.
func NewRoleKey(arn string) string { return "new role " + arn }

// changesPolicies are the calls that change a role's permissions.
var changesPolicies = map[string]bool{
	"PutRolePolicy": true, "DeleteRolePolicy": true, "AttachRolePolicy": true, "DetachRolePolicy": true,
	"PutRolePermissionsBoundary": true, "DeleteRolePermissionsBoundary": true,
}

// Around serves the calls to IAM.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	switch x.Call.Operation {
	case "GetAccountSummary":
		return s.summary(ctx, next)
	case "GetRole":
		return s.withUse(ctx, next)
	}
	if !x.Call.Write {
		return next(ctx)
	}
	var role *Role
	if name := namedRole(x); name.Name != "" {
		var err error
		if role, err = s.book.named(ctx, name); err != nil {
			return nil, err
		}
	}
	if refusal, err := s.refuse(ctx, x, role); refusal != nil || err != nil {
		return refusal, err
	}
	if role != nil && changesPolicies[x.Call.Operation] {
		if _, err := s.book.Policies(ctx, role.ARN); err != nil {
			return nil, err
		}
	}
	foldTagKeys(x, role)
	r, err := next(ctx)
	s.book.changes.Add(1)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	s.book.noteChange(ctx, x, role)
	return r, nil
}

// noteChange makes a change of a role take effect later.
func (b *Book) noteChange(ctx context.Context, x *wire.Exchange, before *Role) {
	switch {
	case x.Call.Operation == "CreateRole":
		if made, err := b.named(ctx, namedRole(x)); err == nil && made != nil {
			b.forget(made.ARN)
			b.lag.Begin(NewRoleKey(made.ARN), policyLag)
		}
	case before == nil:
	case x.Call.Operation == "DeleteRole":
		b.forget(before.ARN)
	case changesPolicies[x.Call.Operation]:
		b.lag.Begin(policiesOf(before.ARN), policyLag)
	}
}

// namedRole returns the name of the role in a call to IAM, without its path.
func namedRole(x *wire.Exchange) RoleName {
	return RoleName{
		Partition: wire.Partition(x.Call.Region), Account: x.Call.Account, path: "/",
		Name: x.Form.Get("RoleName"),
	}
}

// refuse returns IAM's refusal of a call about a role; nil if IAM accepts it. Role is nil if it does not exist yet.
func (s *Service) refuse(ctx context.Context, x *wire.Exchange, role *Role) (*wire.Reply, error) {
	if why := invalidRoleCall(x); why != "" {
		return x.Fail(http.StatusBadRequest, "ValidationError", "1 validation error detected: "+why), nil
	}
	if refusal, err := s.noBoundary(ctx, x); refusal != nil || err != nil {
		return refusal, err
	}
	switch x.Call.Operation {
	case "CreateRole":
		if refusal := refuseTrust(x, x.Form.Get("AssumeRolePolicyDocument")); refusal != nil {
			return refusal, nil
		}
		return s.full(ctx, x)
	case "UpdateAssumeRolePolicy":
		return refuseTrust(x, x.Form.Get("PolicyDocument")), nil
	case "PutRolePolicy":
		return refuseInline(x, role), nil
	case "TagRole":
		return refuseTags(x, role), nil
	}
	return nil, nil
}

// invalidRoleCall returns which parameter is malformed; "" if none is.
func invalidRoleCall(x *wire.Exchange) string {
	f := x.Form
	if !strings.Contains(x.Call.Operation, "Role") || strings.Contains(x.Call.Operation, "InstanceProfile") ||
		strings.Contains(x.Call.Operation, "ServiceLinked") {
		return ""
	}
	seconds, err := strconv.Atoi(cmp.Or(f.Get("MaxSessionDuration"), "3600"))
	for _, rule := range []struct {
		broken           bool
		field, condition string
	}{
		{f.Has("RoleName") && !roleNames.MatchString(f.Get("RoleName")), "roleName", `Member must have length less than or equal to 64 and satisfy regular expression pattern: [\w+=,.@-]+`},
		{f.Has("PolicyName") && !policyNames.MatchString(f.Get("PolicyName")), "policyName", `Member must have length less than or equal to 128 and satisfy regular expression pattern: [\w+=,.@-]+`},
		{f.Has("Path") && !rolePaths.MatchString(f.Get("Path")), "path", `Member must begin and end with / and have length less than or equal to 512`},
		{utf8.RuneCountInString(f.Get("Description")) > 1000, "description", "Member must have length less than or equal to 1000"},
		{err != nil || seconds < 3600 || seconds > 43200, "maxSessionDuration", "Member must have value between 3600 and 43200"},
	} {
		if rule.broken {
			return "Value at '" + rule.field + "' failed to satisfy constraint: " + rule.condition
		}
	}
	return ""
}

// noBoundary refuses a boundary that does not exist.
func (s *Service) noBoundary(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	arn := x.Form.Get("PermissionsBoundary")
	if arn == "" || !strings.Contains(arn, ":policy/") {
		return nil, nil
	}
	document, err := s.book.document(ctx, namedRole(x), arn)
	if document != "" || err != nil {
		return nil, err
	}
	return x.Fail(http.StatusNotFound, "NoSuchEntity", "Scope ARN: "+arn+" does not exist or is not attachable."), nil
}

// full refuses a role whose name exists in another case, and a role that exceeds the quota.
func (s *Service) full(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	var all struct {
		Names []string `xml:"ListRolesResult>Roles>member>RoleName"`
	}
	if _, err := s.book.Ask(ctx, namedRole(x), &all, "ListRoles", "MaxItems", strconv.Itoa(rolesQuota*10)); err != nil {
		return nil, err
	}
	name := x.Form.Get("RoleName")
	for _, have := range all.Names {
		if strings.EqualFold(have, name) {
			return x.Fail(http.StatusConflict, "EntityAlreadyExists", "Role with name "+name+" already exists."), nil
		}
	}
	if refusal := refuseTags(x, nil); refusal != nil {
		return refusal, nil
	}
	if limit := int(cmp.Or(s.quota.Load(), rolesQuota)); len(all.Names) >= limit {
		return exceeded(x, "Cannot exceed quota for RolesPerAccount: "+strconv.Itoa(limit)), nil
	}
	return nil, nil
}

func exceeded(x *wire.Exchange, message string) *wire.Reply {
	return x.Fail(http.StatusConflict, "LimitExceeded", message)
}

// compactLength counts a policy's characters, without white space.
func compactLength(document string) (n int) {
	for _, c := range document {
		if !unicode.IsSpace(c) {
			n++
		}
	}
	return n
}

// refuseTrust refuses a trust policy that IAM does not accept.
func refuseTrust(x *wire.Exchange, document string) *wire.Reply {
	trust, err := ParseTrust(document)
	if err != nil {
		return x.Fail(http.StatusBadRequest, "MalformedPolicyDocument", err.Error())
	}
	for _, p := range trust.Principals() {
		if p.Kind == "Service" && !strings.HasSuffix(p.Name, ".amazonaws.com") &&
			!strings.HasSuffix(p.Name, ".amazonaws.com.cn") {
			return x.Fail(http.StatusBadRequest, "MalformedPolicyDocument", `Invalid principal in policy: "SERVICE":"`+
				p.Name+`"`)
		}
	}
	if compactLength(document) > trustQuota {
		return exceeded(x, "Cannot exceed quota for ACLSizePerRole: "+strconv.Itoa(trustQuota))
	}
	return nil
}

// refuseInline refuses an inline policy that is invalid, or too long together with the role's others.
func refuseInline(x *wire.Exchange, role *Role) *wire.Reply {
	document := x.Form.Get("PolicyDocument")
	if _, err := permit.ParsePolicy([]byte(document)); err != nil {
		return x.Fail(http.StatusBadRequest, "MalformedPolicyDocument", err.Error())
	}
	if role == nil {
		return nil // moto reports it
	}
	total := compactLength(document)
	for name, other := range role.inline {
		if name != x.Form.Get("PolicyName") {
			total += compactLength(other)
		}
	}
	if total > inlineQuota {
		return exceeded(x, "Maximum policy size of "+strconv.Itoa(inlineQuota)+" bytes exceeded for role "+
			role.name)
	}
	return nil
}

var summaryQuota = regexp.MustCompile(`(<key>RolesQuota</key>\s*<value>)\d+`)

// summary reports the effective quota.
func (s *Service) summary(ctx context.Context, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	if err := r.Load(); err != nil {
		return nil, err
	}
	limit := strconv.FormatInt(cmp.Or(s.quota.Load(), rolesQuota), 10)
	r.Body = summaryQuota.ReplaceAll(r.Body, []byte("${1}"+limit))
	r.Header.Del("Content-Length")
	return r, nil
}
