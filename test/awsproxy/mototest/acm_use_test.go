//go:build integration

package mototest_test

import (
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

func TestACertificateInUseStays(t *testing.T) {
	b := newBalancing(t)
	one, two := *b.balancer(t, "one").LoadBalancerArn, *b.balancer(t, "two").LoadBalancerArn
	byDefault, added, unused := b.issued(t), b.issued(t), b.issued(t)
	listener := b.listener(t, one, byDefault)
	b.listener(t, two, byDefault)
	must(t, b.add(t, listener, added))
	uses := func(arn string) []string {
		got := described(t, b.acm, arn)
		if inUse := len(got.InUseBy) > 0; inUse != (got.RenewalEligibility == types.RenewalEligibilityEligible) {
			t.Errorf("used by %v it is %s", got.InUseBy, got.RenewalEligibility)
		}
		return slices.Sorted(slices.Values(got.InUseBy))
	}
	remove := func(arn string) error {
		_, err := b.acm.DeleteCertificate(t.Context(), &acm.DeleteCertificateInput{CertificateArn: &arn})
		return err
	}
	both := slices.Sorted(slices.Values([]string{one, two}))
	for _, step := range []struct {
		name, arn string
		do        func() error
		want      []string
	}{
		{"the default one of two", byDefault, func() error { return nil }, both},
		{"an added one", added, func() error { return nil }, []string{one}},
		{"it is removed from its listener", added, func() error { return b.drop(t, listener, added) }, nil},
		{"one load balancer is deleted", byDefault, func() error {
			_, err := b.elb.DeleteLoadBalancer(t.Context(), &elb.DeleteLoadBalancerInput{LoadBalancerArn: &two})
			return err
		}, []string{one}},
		{"a listener is deleted", byDefault, func() error {
			_, err := b.elb.DeleteListener(t.Context(), &elb.DeleteListenerInput{ListenerArn: &listener})
			return err
		}, nil},
		{"never used", unused, func() error { return nil }, nil},
	} {
		must(t, step.do())
		if got := uses(step.arn); !slices.Equal(got, step.want) {
			t.Errorf("%s: in use by %v, want %v", step.name, got, step.want)
		}
		if err := remove(step.arn); len(step.want) > 0 {
			wantCode(t, err, "ResourceInUseException")
		} else {
			must(t, err)
		}
	}
	_, err := b.acm.DescribeCertificate(t.Context(), &acm.DescribeCertificateInput{CertificateArn: &added})
	wantCode(t, err, "ResourceNotFoundException")
}

func TestARenewalIsAsTheTestSays(t *testing.T) {
	w, _ := timed(t)
	w.SetACMIssueDelay(0)
	key := newAccount(w)
	c, zones := w.acm(key, "eu-west-1"), w.route53(key)
	arn := request(t, c, certificate("renew.test"))
	_, err := change(t, zones, newZone(t, zones, "renew.test"), validation(creates, described(t, c, arn), 0))
	must(t, err)
	if got := described(t, c, arn); got.Status != types.CertificateStatusIssued || got.RenewalSummary != nil ||
		got.RenewalEligibility != types.RenewalEligibilityIneligible {
		t.Errorf("unused: %s, renewal %s %+v", got.Status, got.RenewalEligibility, got.RenewalSummary)
	}
	again := request(t, c, certificate("*.renew.test"))
	if got := described(t, c, again); got.Status != types.CertificateStatusIssued {
		t.Errorf("with the record there from the start: %s", got.Status)
	}
	if got := described(t, c, again); got.NotAfter.Sub(*got.NotBefore).Round(time.Hour) != 198*24*time.Hour ||
		got.NotBefore.After(time.Now()) {
		t.Errorf("it lives from %s to %s", got.NotBefore, got.NotAfter)
	}
	w.SetACMLife(47 * 24 * time.Hour)
	until := time.Now().Add(20 * 24 * time.Hour).Truncate(time.Second)
	w.SetRenewal(arn, "PENDING_VALIDATION", until)
	got := described(t, c, arn)
	if got.RenewalSummary.RenewalStatus != types.RenewalStatusPendingValidation || !got.NotAfter.Equal(until) ||
		got.NotAfter.Sub(*got.NotBefore) != 47*24*time.Hour {
		t.Errorf("renewal %+v from %s until %s, want %s", got.RenewalSummary, got.NotBefore, got.NotAfter, until)
	}
	w.SetRenewal(arn, "FAILED", time.Now().Add(-time.Minute))
	if got := described(t, c, arn); got.Status != types.CertificateStatusExpired {
		t.Errorf("past its end: %s", got.Status)
	}
}
