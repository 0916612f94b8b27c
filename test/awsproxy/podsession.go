package awsproxy

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

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// open opens the session of a Pod: of the association's role, or through it of the association's target role.
func (s *podSessions) open(ctx context.Context, pod Pod, a association) (podCredentials, error) {
	tags := map[string]string{}
	if !a.DisableSessionTags {
		tags = pod.tags()
	}
	var policy *iampolicy.Policy
	if a.Policy != "" {
		var err error
		if policy, err = ParsePolicy([]byte(a.Policy)); err != nil {
			return podCredentials{}, fmt.Errorf("session policy: %w", err)
		}
	}
	wish := assumption{action: "sts:AssumeRole", who: []iampolicy.Principal{podService}, tags: tags, facts: facts{}}
	wish.facts.with("aws:SourceArn", pod.Cluster.ARN()).with("aws:SourceAccount", pod.Cluster.Account)
	role, err := s.roles.role(ctx, a.RoleARN)
	if err != nil {
		return podCredentials{}, err
	}
	if role == nil {
		return podCredentials{}, cannotAssume()
	}
	if _, ok, err := role.trusted(wish); !ok || err != nil {
		return podCredentials{}, errors.Join(cannotAssume(), err)
	}
	if a.TargetRoleARN == "" {
		return s.session(ctx, pod, session{role: role, tags: tags, policy: policy, life: podSessionLife})
	}
	target, err := s.target(ctx, pod, a, role, tags)
	if err != nil {
		return podCredentials{}, err
	}
	return s.session(ctx, pod, session{role: target, tags: tags, policy: policy, life: chainedLife})
}

// session describes the session to open.
type session struct {
	role   *storedRole
	tags   map[string]string
	policy *iampolicy.Policy
	life   time.Duration // at the most
}

// target returns the target role of an association, if the role may assume it. Tags are passed to it.
func (s *podSessions) target(ctx context.Context, pod Pod, a association, role *storedRole, tags map[string]string) (
	*storedRole, error,
) {
	target, err := s.roles.role(ctx, a.TargetRoleARN)
	if err != nil {
		return nil, err
	}
	if target == nil {
		return nil, cannotAssume()
	}
	caller := newPrincipal(role.arn, pod.sessionARN(role.arn, pod.sessionName()), role, tags, nil)
	x := &exchange{caller: caller, call: Call{
		Service: "sts", Region: pod.Cluster.Region, Account: pod.Cluster.Account,
		Time: s.now(),
	}}
	wish := assumption{
		action: "sts:AssumeRole", tags: tags,
		who: identities(caller, partition(pod.Cluster.Region), pod.Cluster.Account), facts: facts{},
	}
	wish.facts.with("sts:ExternalId", a.ExternalID).with("aws:PrincipalArn", role.arn).with(
		"aws:PrincipalAccount", pod.Cluster.Account)
	ok, err := s.sessions.mayAssume(ctx, x, target, wish)
	if !ok || err != nil {
		return nil, errors.Join(cannotAssume(), err)
	}
	return target, nil
}

// session opens a session of a role for a Pod.
func (s *podSessions) session(ctx context.Context, pod Pod, of session) (podCredentials, error) {
	id, _ := readRoleARN(of.role.arn)
	form := url.Values{
		"Action": {"AssumeRole"}, "Version": {"2011-06-15"}, "RoleArn": {of.role.arn},
		"RoleSessionName": {pod.sessionName()},
	}
	r, err := s.upstream.ask(ctx, question{
		service: "sts", region: pod.Cluster.Region, account: id.account, method: http.MethodPost, path: "/",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, body: form.Encode(),
	})
	if err != nil {
		return podCredentials{}, err
	}
	made, err := readSessions(r.body)
	if err != nil {
		return podCredentials{}, err
	}
	if len(made) != 1 {
		return podCredentials{}, fmt.Errorf("AssumeRole answered %d: %s", r.status, r.body)
	}
	s.mu.Lock()
	expires := s.now().Add(min(s.life, of.life)).UTC()
	s.mu.Unlock()
	s.keys.assign(made[0].AccessKeyID, id.account)
	s.keys.issued(made[0].AccessKeyID, expires,
		newPrincipal(of.role.arn, made[0].ARN, of.role, of.tags, of.policy))
	return podCredentials{made[0].AccessKeyID, made[0].SecretAccessKey, made[0].SessionToken, id.account, expires}, nil
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
	id, _ := readRoleARN(role)
	return "arn:" + id.partition + ":sts::" + id.account + ":assumed-role/" + id.name + "/" + session
}
