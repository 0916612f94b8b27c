package podidentity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/eks"
	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/sts"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// open opens the session of a Pod: of the association's role, or through it of the association's target role.
func (s *Agent) open(ctx context.Context, pod Pod, a eks.Association) (credentials, error) {
	tags := map[string]string{}
	if !a.DisableSessionTags {
		tags = pod.tags()
	}
	var policy *iampolicy.Policy
	if a.Policy != "" {
		var err error
		if policy, err = permit.ParsePolicy([]byte(a.Policy)); err != nil {
			return credentials{}, fmt.Errorf("session policy: %w", err)
		}
	}
	wish := iam.Assumption{
		Action: "sts:AssumeRole", Who: []iampolicy.Principal{eks.PodService}, Tags: tags, Facts: permit.Facts{},
	}
	wish.Facts.With("aws:SourceArn", pod.Cluster.ARN()).With("aws:SourceAccount", pod.Cluster.Account)
	role, err := s.roles.Role(ctx, a.RoleARN)
	if err != nil {
		return credentials{}, err
	}
	if role == nil {
		return credentials{}, cannotAssume()
	}
	if _, ok, err := role.Trusted(wish); !ok || err != nil {
		return credentials{}, errors.Join(cannotAssume(), err)
	}
	if a.TargetRoleARN == "" {
		return s.session(ctx, pod, session{role: role, tags: tags, policy: policy, life: sessionLife})
	}
	target, err := s.target(ctx, pod, a, role, tags)
	if err != nil {
		return credentials{}, err
	}
	return s.session(ctx, pod, session{role: target, tags: tags, policy: policy, life: chainedLife})
}

// session describes the session to open.
type session struct {
	role   *iam.Role
	tags   map[string]string
	policy *iampolicy.Policy
	life   time.Duration // at the most
}

// target returns the target role of an association, if the role may assume it. Tags are passed to it.
func (s *Agent) target(ctx context.Context, pod Pod, a eks.Association, role *iam.Role, tags map[string]string) (
	*iam.Role, error,
) {
	target, err := s.roles.Role(ctx, a.TargetRoleARN)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, cannotAssume()
	}
	caller := iam.NewPrincipal(role.ARN, pod.sessionARN(role.ARN, pod.sessionName()), role, tags, nil)
	x := &wire.Exchange{Caller: caller, Call: wire.Call{
		Service: "sts", Region: pod.Cluster.Region, Account: pod.Cluster.Account,
		Time: s.now(),
	}}
	wish := iam.Assumption{
		Action: "sts:AssumeRole", Tags: tags,
		Who: wire.Identities(caller, wire.Partition(pod.Cluster.Region), pod.Cluster.Account), Facts: permit.Facts{},
	}
	wish.Facts.With("sts:ExternalId", a.ExternalID).With("aws:PrincipalArn", role.ARN).With(
		"aws:PrincipalAccount", pod.Cluster.Account)
	ok, err := s.sessions.MayAssume(ctx, x, target, wish)
	if !ok || err != nil {
		return nil, errors.Join(cannotAssume(), err)
	}
	return target, nil
}

// session opens a session of a role for a Pod.
func (s *Agent) session(ctx context.Context, pod Pod, of session) (credentials, error) {
	id, _ := iam.ReadRoleARN(of.role.ARN)
	form := url.Values{
		"Action": {"AssumeRole"}, "Version": {"2011-06-15"}, "RoleArn": {of.role.ARN},
		"RoleSessionName": {pod.sessionName()},
	}
	r, err := s.upstream.Ask(ctx, wire.Question{
		Service: "sts", Region: pod.Cluster.Region, Account: id.Account, Method: http.MethodPost, Path: "/",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, Body: form.Encode(),
	})
	if err != nil {
		return credentials{}, err
	}
	made, err := sts.ReadSessions(r.Body)
	if err != nil {
		return credentials{}, err
	}
	if len(made) != 1 {
		return credentials{}, fmt.Errorf("AssumeRole answered %d: %s", r.Status, r.Body)
	}
	s.mu.Lock()
	expires := s.now().Add(min(s.life, of.life)).UTC()
	s.mu.Unlock()
	s.keys.Assign(made[0].AccessKeyID, id.Account)
	s.keys.Issued(made[0].AccessKeyID, expires,
		iam.NewPrincipal(of.role.ARN, made[0].ARN, of.role, of.tags, of.policy))
	return credentials{made[0].AccessKeyID, made[0].SecretAccessKey, made[0].SessionToken, id.Account, expires}, nil
}

// tags returns the session tags of a Pod, by "List of session tags added by EKS Pod Identity".
func (p Pod) tags() map[string]string {
	all := map[string]string{
		"eks-cluster-arn": p.Cluster.ARN(), "eks-cluster-name": p.Cluster.Name, "kubernetes-namespace": p.Namespace,
		"kubernetes-service-account": p.ServiceAccount, "kubernetes-pod-name": p.Name, "kubernetes-pod-uid": p.UID,
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// sessionName returns the name of a session as EKS builds it.
func (p Pod) sessionName() string {
	return fmt.Sprintf("eks-%.14s-%.16s-%s", p.Cluster.Name, p.Name, strings.ToLower(rand.Text()))
}

// sessionARN returns the ARN of a session of a role.
func (p Pod) sessionARN(role, session string) string {
	id, _ := iam.ReadRoleARN(role)
	return "arn:" + id.Partition + ":sts::" + id.Account + ":assumed-role/" + id.Name + "/" + session
}
