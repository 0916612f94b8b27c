package stack

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	route53types "github.com/aws/aws-sdk-go-v2/service/route53/types"

	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/test/stack/albsim"
)

// startTraffic serves requests to hostnames, at one port for all load balancers.
func (s *Stack) startTraffic(ctx context.Context) error {
	if !s.opts.Parts.has(Traffic) || s.LoadBalancers == nil || s.Proxy == nil {
		return nil
	}
	dns := &resolver{client: route53.NewFromConfig(s.OutsideAWS())}
	h, config := s.LoadBalancers.Serve(albsim.Outside{
		Resolve: dns.resolve, Certificate: s.Proxy.LocalCertificate, Stranger: s.pki.hostnames.issueServing,
		Simulated: s.opts.RealNodes == 0,
	})
	_, err := s.serve(ctx, "the load balancers", s.ports.loadBalancers, onlyBelow(h), config)
	return err
}

// onlyBelow refuses requests that do not name a host below Domain: pages elsewhere cannot reach Pods by this port.
func onlyBelow(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		if !strings.HasSuffix(strings.ToLower(host), "."+Domain) {
			http.Error(w, "hostnames here end with ."+Domain, http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// HostnamesCAFile has the authority of the certificates that load balancers present. It is new in each run.
func (s *Stack) HostnamesCAFile() string { return filepath.Join(s.Dir, "pki", "hostnames-ca.crt") }

// LoadBalancerPort returns the port of all load balancers on this machine; 0 without the part Traffic.
func (s *Stack) LoadBalancerPort() int { return s.ports.loadBalancers }

// publicPort returns the annotation of the GatewayClass that says at which port clients reach port 443.
func (s *Stack) publicPort() map[string]any {
	if s.ports.loadBalancers == 0 {
		return map[string]any{}
	}
	return map[string]any{pool.ClassPublicPort: strconv.Itoa(s.ports.loadBalancers)}
}

// resolver answers what the account's hosted zones say of a hostname. It asks again after a second.
type resolver struct {
	client *route53.Client
	mu     sync.Mutex
	known  map[string]resolved
}

type resolved struct {
	dns string
	at  time.Time
}

const (
	answerLife  = time.Second
	mostAnswers = 1000
)

// resolve returns the DNS name to which the alias records of a hostname lead, or "".
func (r *resolver) resolve(ctx context.Context, hostname string) (string, error) {
	r.mu.Lock()
	before := r.known[hostname]
	r.mu.Unlock()
	if time.Since(before.at) < answerLife {
		return before.dns, nil
	}
	dns, err := r.ask(ctx, hostname)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) == 0 || len(r.known) > mostAnswers {
		r.known = map[string]resolved{}
	}
	r.known[hostname] = resolved{dns, time.Now()}
	return dns, nil
}

// ask reads the most specific zone that has the name: like a resolver in the VPC, which asks the private zones first.
func (r *resolver) ask(ctx context.Context, hostname string) (string, error) {
	zones, err := r.client.ListHostedZones(ctx, &route53.ListHostedZonesInput{})
	if err != nil {
		return "", fmt.Errorf("list the hosted zones: %w", err)
	}
	var found []route53types.HostedZone
	for _, zone := range zones.HostedZones {
		if strings.HasSuffix("."+hostname+".", "."+aws.ToString(zone.Name)) {
			found = append(found, zone)
		}
	}
	for _, private := range []bool{true, false} {
		for i := range found {
			if found[i].Config == nil || found[i].Config.PrivateZone != private {
				continue
			}
			dns, err := r.inZone(ctx, aws.ToString(found[i].Id), hostname)
			if err != nil || dns != "" {
				return dns, err
			}
		}
	}
	return "", nil
}

// inZone returns the alias of a hostname in a zone, or that of the wildcard which covers it.
func (r *resolver) inZone(ctx context.Context, zone, hostname string) (string, error) {
	_, parent, _ := strings.Cut(hostname, ".")
	for _, name := range []string{hostname, "*." + parent} {
		out, err := r.client.ListResourceRecordSets(ctx, &route53.ListResourceRecordSetsInput{
			HostedZoneId: aws.String(zone), StartRecordName: aws.String(name), StartRecordType: route53types.RRTypeA,
			MaxItems: aws.Int32(1),
		})
		if err != nil {
			return "", fmt.Errorf("read the records of %s: %w", name, err)
		}
		for _, set := range out.ResourceRecordSets {
			is := strings.Replace(strings.TrimSuffix(aws.ToString(set.Name), "."), `\052`, "*", 1)
			if is == name && set.Type == route53types.RRTypeA && set.AliasTarget != nil {
				return strings.TrimSuffix(aws.ToString(set.AliasTarget.DNSName), "."), nil
			}
		}
	}
	return "", nil
}
