package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/api/silence"
	"github.com/portico-platform/portico/cmd/internal/program"
	"github.com/portico-platform/portico/cmd/internal/setting"
	"github.com/portico-platform/portico/cmd/internal/traces"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/controllers/cloud"
)

type flags struct {
	kubeconfig      string
	caFile          string
	metrics, health string
	metricsSecure   bool
	leaderElect     bool
	lease           lease
	checkInterval   time.Duration // of the checks of the installation
	apiWrites       int
	version         bool
	development     bool
	silence         *silence.Watch // of the API server
	controllers     controllers.Options
}

const usage = `operator reconciles Portico's custom resources against AWS and Kubernetes.

Usage:
  operator [flags]

` + setting.Help + `
` + traces.Help + `
Flags:
`

func parse(args []string, env func(string) string, out io.Writer) (*flags, error) {
	f := &flags{controllers: controllers.Options{
		TokenFile: env("AWS_WEB_IDENTITY_TOKEN_FILE"), // set by IRSA
		Rates:     cloud.DefaultRates(),
	}}
	if err := f.setTime(env); err != nil {
		return nil, err
	}
	f.silence = silence.New(f.controllers.Engine.Now)
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	set.SetOutput(out)
	set.Usage = func() {
		_, _ = io.WriteString(out, usage)
		set.PrintDefaults()
	}
	f.processFlags(set, env)
	f.controllerFlags(set)
	f.peopleFlags(set)
	set.BoolVar(&f.version, "version", false, "print the version, and end")
	if err := set.Parse(args); err != nil || f.version {
		return f, err
	}
	if err := setting.Fill(set, env); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; see operator --help", set.Arg(0))
	}
	f.controllers.OperatorAPI.Elected = f.leaderElect
	return f, f.check()
}

// processFlags declares flags about the process: its addresses, and leader election.
func (f *flags) processFlags(set *flag.FlagSet, env func(string) string) {
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "`path` of a kubeconfig; default: $KUBECONFIG, else the Pod's "+
		"ServiceAccount")
	set.StringVar(&f.caFile, "ca-file", "", program.CAFileHelp)
	set.StringVar(&f.controllers.Namespace, "namespace", namespace(env), "the operator's own `namespace`: Secrets "+
		"that AWSProviders name, and the leader's Lease, live there")
	set.StringVar(&f.controllers.ClusterID, "cluster-id", "", "`ID` in the ownership tags of AWS resources; default: "+
		"the UID of the namespace kube-system. Set it to an old cluster's ID to take over its resources after a "+
		"disaster")
	set.StringVar(&f.metrics, "metrics-bind-address", ":8080",
		"`address` of the Prometheus metrics; 0 switches them off")
	set.BoolVar(&f.metricsSecure, "metrics-secure", false, "metrics over HTTPS, with a certificate that the operator "+
		"makes for itself, and only for those whom Kubernetes lets get /metrics (ClusterRole portico-metrics-reader)")
	set.StringVar(&f.health, "health-probe-bind-address", ":8081",
		"`address` of /healthz and /readyz; 0 switches them off")
	set.StringVar(&f.controllers.OperatorAPI.Bind, "inspect-bind-address", ":8443",
		"`address` at which the leader shows the portal what its checks found, over HTTPS; 0 switches it off")
	set.StringVar(&f.controllers.OperatorAPI.Advertise, "inspect-advertise-address", env("POD_IP"),
		"`host` or host:port at which the portal reaches --inspect-bind-address; default: $POD_IP, else 127.0.0.1, "+
			"with the port that is bound")
	set.BoolVar(&f.leaderElect, "leader-elect", true, "let only one of several replicas work at a time")
	set.DurationVar(&f.lease.duration, "leader-elect-lease-duration", 7*time.Second,
		"`time` after which those that stand by take over from a leader that renews its Lease no more")
	set.DurationVar(&f.lease.deadline, "leader-elect-renew-deadline", 5*time.Second,
		"`time` that a leader tries to renew its Lease before it ends: so long an outage of the API server changes "+
			"no leader")
	set.DurationVar(&f.lease.retry, "leader-elect-retry-period", 500*time.Millisecond,
		"`time` between two tries to renew the Lease, or to get it, and up to 120% more")
	set.DurationVar(&f.checkInterval, "installation-check-interval", check.Every,
		"how often is looked whether the cluster has the custom resource definitions and admission policies of this "+
			"version, ±10%; /readyz tells")
	set.BoolVar(&f.development, "development", false, "logs for people instead of JSON, and more of them")
}

// controllerFlags declares flags about the controllers.
func (f *flags) controllerFlags(set *flag.FlagSet) {
	set.IntVar(&f.apiWrites, "api-writes", 3, "how many writes to the API server are under way at the same time, "+
		"teams in turn; half as many more, one for each team, if other teams have taken all of these")
	set.IntVar(&f.controllers.Engine.Workers, "workers", 10, "how many objects of each kind are worked on at the "+
		"same time; half as many more, one for each team, if other teams have taken all of these")
	set.DurationVar(&f.controllers.Engine.Resync, "audit-interval", time.Hour,
		"how often an AWS resource in sync is compared in full, ±10%; for one resource the annotation "+
			"portico.dev/audit-interval says otherwise")
	set.DurationVar(&f.controllers.SweepEvery, "sweep-interval", 5*time.Minute,
		"how often one listing of each kind, provider and region tells whether resources are still there, ±10%")
	set.StringVar(&f.controllers.Hostnames.Namespace, "gateway-namespace", controllers.DefaultGatewayNamespace,
		"`namespace` of the shared Gateways that hostnames are served on")
	set.StringVar(&f.controllers.Hostnames.Class, "gateway-class", controllers.DefaultGatewayClass,
		"`GatewayClass` of hostnames that name none; one of the AWS Load Balancer Controller (gateway.k8s.aws/alb)")
	set.Func("aws-rate", "`SERVICE=RATE`: the most calls a second to one service (S3, SQS, EC2, RDS, ACM, Route 53, "+
		"or * for any other) of one account in one region (Route 53: in all of them together); half of it is kept "+
		"for what users wait for, and throttling lowers it for a while. More of them after commas, or by giving the "+
		"flag again. Default: "+shown(f.controllers.Rates), f.rates)
	set.Func("allowed-endpoints", "`URL` of an AWS-compatible service that AWSProviders may name as their endpoint: "+
		"keys and signed requests go there. More of them after commas, or by giving the flag again. Only scheme, "+
		"host and port count. Default: none but AWS's own", f.endpoints)
	set.Func("cluster-networks", "`CIDR` of Pods, Services and machines of the cluster that is not among the private "+
		"networks of IPv4, such as those of an IPv6 cluster: Pods of teams that reach the internet do not reach it, "+
		"but for those of their own team. More of them after commas, or by giving the flag again", f.networks)
	set.StringVar(&f.controllers.Databases.CAFile, "database-ca-file", "",
		"`path` of a file with the certificates of the authorities that sign those of databases, in PEM: of RDS its "+
			"bundle global-bundle.pem. It is read for every connection. Without it, DatabaseUsers are not made")
	set.BoolVar(&f.controllers.Databases.Loopback, "loopback-databases", false,
		"let DatabaseUsers be made in databases on this machine, for simulated ones")
	set.DurationVar(&f.controllers.Engine.Timeout, "reconcile-timeout", 2*time.Minute,
		"the longest that one pass over one object may take")
	set.DurationVar(&f.controllers.ProviderResync, "provider-resync", 5*time.Minute,
		"how often the credentials of an AWSProvider are checked again, ±10%")
}

func (f *flags) check() error {
	e := f.controllers.Engine
	switch {
	case f.controllers.Namespace == "":
		return errors.New("--namespace is needed outside a Pod: the namespace that holds the Secrets of AWSProviders")
	case e.Workers < 1:
		return fmt.Errorf("--workers %d: at least 1", e.Workers)
	case f.apiWrites < 1:
		return fmt.Errorf("--api-writes %d: at least 1", f.apiWrites)
	case e.Resync < time.Second:
		return fmt.Errorf("--audit-interval %s: at least 1s", e.Resync)
	case f.controllers.SweepEvery < time.Second:
		return fmt.Errorf("--sweep-interval %s: at least 1s", f.controllers.SweepEvery)
	case f.checkInterval < time.Second:
		return fmt.Errorf("--installation-check-interval %s: at least 1s", f.checkInterval)
	case e.Timeout < time.Second:
		return fmt.Errorf("--reconcile-timeout %s: at least 1s", e.Timeout)
	case f.controllers.ProviderResync < time.Second:
		return fmt.Errorf("--provider-resync %s: at least 1s", f.controllers.ProviderResync)
	}
	return errors.Join(f.lease.check(), f.checkOperatorAPI(), f.checkPeople())
}

// checkOperatorAPI refuses invalid addresses.
func (f *flags) checkOperatorAPI() error {
	o := f.controllers.OperatorAPI
	if o.Disabled() {
		return nil
	}
	_, port, err := net.SplitHostPort(o.Bind)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return fmt.Errorf("--inspect-bind-address %s: want host:port or :port with a port from 0 to 65535, or 0 to "+
			"switch it off", o.Bind)
	}
	return nil
}

// otherServices is the flag's key for the rate of every service without its own.
const otherServices = "*"

// rates parses one --aws-rate.
func (f *flags) rates(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		if err := f.rate(strings.TrimSpace(one)); err != nil {
			return err
		}
	}
	return nil
}

func (f *flags) rate(text string) error {
	service, value, ok := strings.Cut(text, "=")
	calls, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil || service == "" || calls < 0.1 || calls > 10_000 {
		return errors.New("it must be SERVICE=RATE with a rate from 0.1 to 10000 calls a second, such as EC2=10")
	}
	if _, known := f.controllers.Rates[service]; service == otherServices || !known {
		if service != otherServices {
			return fmt.Errorf("there is no service %s here; choose one of %s", service, shown(f.controllers.Rates))
		}
		service = ""
	}
	f.controllers.Rates[service] = calls
	return nil
}

// endpoints parses one --allowed-endpoints.
func (f *flags) endpoints(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		origin, err := cloud.Origin(strings.TrimSpace(one))
		if err != nil {
			return err
		}
		f.controllers.Endpoints = append(f.controllers.Endpoints, origin)
	}
	return nil
}

// addresses are the public IP addresses.
var addresses = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("2000::/3")}

// networks parses one --cluster-networks.
func (f *flags) networks(text string) error {
	for one := range strings.SplitSeq(text, ",") {
		network, err := netip.ParsePrefix(strings.TrimSpace(one))
		if err != nil || network != network.Masked() {
			return fmt.Errorf("%q is no network: write its first address and the length of its prefix, such as "+
				"2600:1f14:abc::/56", strings.TrimSpace(one))
		}
		if !slices.ContainsFunc(addresses, func(all netip.Prefix) bool {
			return network.Bits() > all.Bits() && all.Contains(network.Addr())
		}) {
			return fmt.Errorf("%s is no part of %s or %s, which Pods reach: name the network of the cluster's Pods",
				network, addresses[0], addresses[1])
		}
		f.controllers.ClusterNetworks = append(f.controllers.ClusterNetworks, network)
	}
	return nil
}

// shown formats the rates as the flag does.
func shown(rates cloud.Rates) string {
	var all []string
	for _, service := range slices.Sorted(maps.Keys(rates)) {
		all = append(all, fmt.Sprintf("%s=%g", cmp.Or(service, otherServices), rates[service]))
	}
	return strings.Join(all, ", ")
}

// namespace returns the Pod's namespace, from the downward API or the mounted ServiceAccount.
func namespace(env func(string) string) string {
	mounted, err := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
	if err != nil {
		mounted = nil // not in a Pod
	}
	return cmp.Or(env("POD_NAMESPACE"), strings.TrimSpace(string(mounted)))
}
