package iam

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// policyLag is how long IAM's changes may take to be effective: its guide says, under "Changes that I make are not
// always immediately visible", that they take time to replicate, without a number; seconds are usual.
const policyLag = 10 * time.Second

// Role is a role that exists in IAM.
type Role struct {
	ARN, name string
	Trust     string // its document
	boundary  string // ARN; "" is none
	inline    map[string]string
	managed   []string // ARNs of the policies attached
	tags      map[string]string
	documents map[string]string // of managed policies, by ARN
}

// Book reads the roles that exist in IAM, and caches them until the next write to IAM.
type Book struct {
	upstream *wire.Upstream
	lag      *lag.Lag
	changes  atomic.Int64 // writes to IAM so far
	use      roleUse

	mu    sync.Mutex
	known map[string]knownRole          // by ARN
	shown map[string]iampolicy.Policies // the effective policies, by ARN
}

type knownRole struct {
	role    *Role // nil if it does not exist
	changes int64
}

// NewBook returns an empty book.
func NewBook(up *wire.Upstream, lag *lag.Lag) *Book {
	return &Book{upstream: up, lag: lag, known: map[string]knownRole{}, shown: map[string]iampolicy.Policies{}}
}

// RoleName has the parts of a role's ARN.
type RoleName struct{ Partition, Account, path, Name string }

// ReadRoleARN parses the ARN of a role; false if it is not one.
func ReadRoleARN(arn string) (RoleName, bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "iam" || parts[3] != "" || len(parts[4]) != 12 {
		return RoleName{}, false
	}
	full, isRole := strings.CutPrefix(parts[5], "role/")
	at := strings.LastIndex(full, "/") + 1
	id := RoleName{Partition: parts[1], Account: parts[4], path: "/" + full[:at], Name: full[at:]}
	return id, isRole && id.Name != ""
}

// region returns a region of the partition, by which moto distinguishes partitions.
func (n RoleName) region() string {
	switch n.Partition {
	case "aws-cn":
		return "cn-north-1"
	case "aws-us-gov":
		return "us-gov-west-1"
	case "aws-eusc":
		return "eusc-de-east-1"
	default:
		return "us-east-1"
	}
}

// Role returns the role with the ARN; nil if IAM has none.
func (b *Book) Role(ctx context.Context, arn string) (*Role, error) {
	id, ok := ReadRoleARN(arn)
	if !ok {
		return nil, nil
	}
	changes := b.changes.Load()
	b.mu.Lock()
	known, ok := b.known[arn]
	b.mu.Unlock()
	if ok && known.changes == changes {
		return known.role, nil
	}
	role, err := b.named(ctx, id)
	if err != nil {
		return nil, err
	}
	if role != nil && role.ARN != arn { // with another path
		role = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[arn] = knownRole{role: role, changes: changes}
	return role, nil
}

// named returns the role with that name in an account, whatever its path; nil if IAM has none.
func (b *Book) named(ctx context.Context, id RoleName) (*Role, error) {
	var answer struct {
		Role struct {
			Arn, RoleName, AssumeRolePolicyDocument string

			Boundary string     `xml:"PermissionsBoundary>PermissionsBoundaryArn"`
			Tags     []wire.Tag `xml:"Tags>member"`
		} `xml:"GetRoleResult>Role"`
	}
	found, err := b.Ask(ctx, id, &answer, "GetRole", "RoleName", id.Name)
	if !found || err != nil {
		return nil, err
	}
	r := &Role{
		ARN: answer.Role.Arn, name: answer.Role.RoleName, Trust: unescaped(answer.Role.AssumeRolePolicyDocument),
		boundary: answer.Role.Boundary,
		inline:   map[string]string{}, tags: map[string]string{}, documents: map[string]string{},
	}
	for _, t := range answer.Role.Tags {
		r.tags[t.Key] = t.Value
	}
	if err := b.readPolicies(ctx, id, r); err != nil {
		return nil, err
	}
	return r, nil
}

// readPolicies fills in the policies of a role.
func (b *Book) readPolicies(ctx context.Context, id RoleName, r *Role) error {
	var names struct {
		Inline   []string `xml:"ListRolePoliciesResult>PolicyNames>member"`
		Attached []string `xml:"ListAttachedRolePoliciesResult>AttachedPolicies>member>PolicyArn"`
	}
	for _, list := range []string{"ListRolePolicies", "ListAttachedRolePolicies"} {
		if _, err := b.Ask(ctx, id, &names, list, "RoleName", id.Name); err != nil {
			return err
		}
	}
	for _, name := range names.Inline {
		var policy struct {
			Document string `xml:"GetRolePolicyResult>PolicyDocument"`
		}
		if _, err := b.Ask(ctx, id, &policy, "GetRolePolicy", "RoleName", id.Name, "PolicyName", name); err != nil {
			return err
		}
		r.inline[name] = unescaped(policy.Document)
	}
	r.managed = names.Attached
	for _, arn := range append([]string{r.boundary}, r.managed...) {
		if arn == "" {
			continue
		}
		var err error
		if r.documents[arn], err = b.document(ctx, id, arn); err != nil {
			return err
		}
	}
	return nil
}

// document returns the document of a managed policy; "" if there is none.
func (b *Book) document(ctx context.Context, id RoleName, arn string) (string, error) {
	var policy struct {
		Version string `xml:"GetPolicyResult>Policy>DefaultVersionId"`
	}
	found, err := b.Ask(ctx, id, &policy, "GetPolicy", "PolicyArn", arn)
	if !found || err != nil {
		return "", err
	}
	var version struct {
		Document string `xml:"GetPolicyVersionResult>PolicyVersion>Document"`
	}
	_, err = b.Ask(ctx, id, &version, "GetPolicyVersion", "PolicyArn", arn, "VersionId", policy.Version)
	return unescaped(version.Document), err
}

// Ask calls IAM in the account of a role; found is false if IAM refuses.
func (b *Book) Ask(ctx context.Context, id RoleName, answer any, action string, parameters ...string) (
	found bool, err error,
) {
	form := url.Values{"Action": {action}, "Version": {"2010-05-08"}}
	for i := 0; i+1 < len(parameters); i += 2 {
		form.Set(parameters[i], parameters[i+1])
	}
	r, err := b.upstream.Ask(ctx, wire.Question{
		Service: "iam", Region: id.region(), Account: id.Account, Method: http.MethodPost, Path: "/",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, Body: form.Encode(),
	})
	if err != nil || r.Status != http.StatusOK {
		return false, r.Broken(err)
	}
	if err := xml.Unmarshal(r.Body, answer); err != nil {
		return false, fmt.Errorf("read the simulator's %s: %w", action, err)
	}
	return true, nil
}

// unescaped returns the original document: IAM returns it URL-encoded.
func unescaped(document string) string {
	if plain, err := url.QueryUnescape(document); err == nil && strings.HasPrefix(document, "%7B") {
		return plain
	}
	return document
}
