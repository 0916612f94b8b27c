package elbv2

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

const version = "2015-12-01"

// loadBalancer and listener are moto's descriptions.
type loadBalancer struct {
	ARN            string `xml:"LoadBalancerArn"`
	Name           string `xml:"LoadBalancerName"`
	Scheme         string
	Type           string
	IPAddressType  string   `xml:"IpAddressType"`
	Subnets        []string `xml:"AvailabilityZones>member>SubnetId"`
	SecurityGroups []string `xml:"SecurityGroups>member"`
}

type listener struct {
	ARN          string `xml:"ListenerArn"`
	LoadBalancer string `xml:"LoadBalancerArn"`
	Port         string
	Protocol     string
	Certificates []string `xml:"Certificates>member>CertificateArn"` // moto lists all, the default one first
}

// ask makes a call on the proxy's own behalf; answered is false if moto refused it.
func (s *Service) ask(ctx context.Context, account, region, action string, form url.Values, into any) (
	answered bool, err error,
) {
	if form == nil {
		form = url.Values{}
	}
	form.Set("Action", action)
	form.Set("Version", version)
	r, err := s.upstream.Ask(ctx, wire.Question{
		Service: "elasticloadbalancing", Region: region, Account: account, Method: http.MethodPost, Path: "/",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, Body: form.Encode(),
	})
	if err != nil || r.Status != http.StatusOK || into == nil {
		return err == nil && r.Status == http.StatusOK, err
	}
	if err := xml.Unmarshal(r.Body, into); err != nil {
		return false, fmt.Errorf("read the answer to %s: %w", action, err)
	}
	return true, nil
}

// unpaged is a page size that moto accepts and no listing exceeds.
const unpaged = "1000000"

func (s *Service) loadBalancers(ctx context.Context, account, region string) ([]loadBalancer, error) {
	var got struct {
		All []loadBalancer `xml:"DescribeLoadBalancersResult>LoadBalancers>member"`
	}
	_, err := s.ask(ctx, account, region, "DescribeLoadBalancers", url.Values{"PageSize": {unpaged}}, &got)
	return got.All, err
}

// listeners returns the listeners of a load balancer, none if it does not exist.
func (s *Service) listeners(ctx context.Context, account, region, balancer string) ([]listener, error) {
	return s.describeListeners(ctx, account, region, url.Values{"LoadBalancerArn": {balancer}})
}

// listener returns the listener, or nil if there is none.
func (s *Service) listener(ctx context.Context, account, region, arn string) (*listener, error) {
	all, err := s.describeListeners(ctx, account, region, url.Values{"ListenerArns.member.1": {arn}})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (s *Service) describeListeners(ctx context.Context, account, region string, form url.Values) (
	[]listener, error,
) {
	var got struct {
		All []listener `xml:"DescribeListenersResult>Listeners>member"`
	}
	_, err := s.ask(ctx, account, region, "DescribeListeners", form, &got)
	return got.All, err
}

// Usage lists the load balancers that use each certificate.
func (s *Service) Usage(ctx context.Context, account, region string) (map[string][]string, error) {
	balancers, err := s.loadBalancers(ctx, account, region)
	if err != nil {
		return nil, err
	}
	used := map[string][]string{}
	for _, b := range balancers {
		listeners, err := s.listeners(ctx, account, region, b.ARN)
		if err != nil {
			return nil, err
		}
		for _, l := range listeners {
			for _, arn := range l.Certificates {
				if !slices.Contains(used[arn], b.ARN) {
					used[arn] = append(used[arn], b.ARN)
				}
			}
		}
	}
	return used, nil
}
