package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/cmd/internal/program"
	"github.com/portico-platform/portico/cmd/internal/setting"
	"github.com/portico-platform/portico/cmd/internal/traces"
	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/limit"
	"github.com/portico-platform/portico/portal/pages"
)

type flags struct {
	kubeconfig   string
	caFile       string
	kubernetes   string
	listen       string
	certFile     string
	keyFile      string
	metrics      string
	namespace    string
	impersonator types.NamespacedName
	sessionKeys  string
	development  bool
	version      bool
	profiling    bool
	// metricsSecure serves metrics over HTTPS, to callers with the right to get them.
	metricsSecure bool
	everywhere    bool
	look          time.Duration // interval of the checks of the installation
	leave         time.Duration // how long to serve after SIGTERM
	rate          limit.Rate
	proxies       []netip.Prefix
	auth          auth.Config
	oidc          oidc
	life          auth.Life
}

// maxLeave leaves time for the last requests within any Pod's grace period.
const maxLeave = time.Minute

const usage = `portal serves Portico's pages and its REST API. Kubernetes is its store, and Kubernetes RBAC decides who may do what.

Usage:
  portal --public-url https://portal.example.com --oidc-issuer-url https://login.example.com --oidc-client-id portal \
    --oidc-client-secret-file secret --session-key-file keys --api-audience portico

The username and group names, with --oidc-prefix before them, are those that RoleBindings name. If kubectl users come
from the same identity provider, give the API server the same prefix and claims.

` + setting.Help + `
` + traces.Help + `
Flags:
`

// limitFlags defines the flags about what the portal asks Kubernetes, and how often clients may ask the portal.
func (f *flags) limitFlags(set *flag.FlagSet) {
	set.BoolVar(&f.everywhere, "ask-every-namespace", false, "for API servers that give rights by other means than "+
		"RoleBindings and ClusterRoleBindings too: ask about the whole cluster and each namespace, for each user; "+
		"else only where bindings name the user")
	set.Float64Var(&f.rate.PerSecond, "api-rate", 20, "`requests` a second that each user and tool may make, of the "+
		"REST API and of pages each, in each replica; 0 is no limit. With --trusted-proxies, an address may make ten "+
		"times as many of pages")
	set.IntVar(&f.rate.Burst, "api-burst", 100, "`requests` that a user or tool may make at once, before "+
		"--api-rate counts")
	set.Func("trusted-proxies", "`addresses` of the proxies in front of the portal, such as 10.0.0.0/8, with commas "+
		"between; repeat it for more. Their X-Forwarded-For tells clients apart, for limits alone; without it there "+
		"are none by address", f.trust)
}

func parse(args []string, env func(string) string, out io.Writer) (*flags, error) {
	f := &flags{life: auth.DefaultLife()}
	var impersonator string
	set := flag.NewFlagSet("portal", flag.ContinueOnError)
	set.SetOutput(out)
	set.Usage = func() {
		_, _ = io.WriteString(out, usage)
		set.PrintDefaults()
	}
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "`path` of a kubeconfig; default: $KUBECONFIG, else the Pod's "+
		"ServiceAccount")
	set.StringVar(&f.caFile, "ca-file", "", program.CAFileHelp)
	set.StringVar(&f.kubernetes, "kubernetes-url", "", "`URL` at which people reach the API server: it stands in the "+
		"kubeconfig that the pages of teams show")
	f.listenFlags(set, env)
	set.StringVar(&f.namespace, "namespace", env("POD_NAMESPACE"), "the portal's own `namespace`: the list of "+
		"revoked sessions lives there")
	set.StringVar(&impersonator, "impersonator", "", "ServiceAccount, as `namespace/name`, through which users' "+
		"writes go; default: portico-impersonator in --namespace")
	set.StringVar(&f.sessionKeys, "session-key-file", "", "`path` of the keys that seal session cookies, one a line: "+
		"32 random bytes in base64 (openssl rand -base64 32). The first seals, all open; the file is read again when "+
		"it changes")
	f.limitFlags(set)
	set.DurationVar(&f.look, "installation-check-interval", check.Every, "how often is looked whether the cluster "+
		"has the custom resource definitions of this version and lets the portal act as users, ±10%; /readyz tells")
	set.DurationVar(&f.leave, "shutdown-delay-duration", 5*time.Second,
		"`time` for which the portal goes on answering after SIGTERM, not ready, until nobody is sent to it any "+
			"more; streams end in the second half of it")
	set.BoolVar(&f.development, "development", false, "logs for people instead of JSON, and more of them")
	set.BoolVar(&f.version, "version", false, "print the version, and end")
	f.authFlags(set)
	f.providerFlags(set)
	if err := set.Parse(args); err != nil || f.version {
		return f, err
	}
	if err := setting.Fill(set, env); err != nil {
		return nil, err
	}
	if set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; see portal --help", set.Arg(0))
	}
	if err := f.checkOIDC(); err != nil || f.oidc.check {
		return f, err
	}
	return f, cmp.Or(f.check(impersonator), f.life.Check())
}

// listenFlags defines the flags about the addresses at which the portal answers.
func (f *flags) listenFlags(set *flag.FlagSet, env func(string) string) {
	inPod := env("POD_IP") != ""
	set.StringVar(&f.listen, "listen", pagesAddress(inPod),
		"`address` of the pages and the REST API, by default every address of the Pod if POD_IP is set, else this "+
			"machine alone; put a proxy that ends TLS in front, or give --tls-cert-file")
	set.StringVar(&f.certFile, "tls-cert-file", "", "`path` of the certificate with which --listen answers over "+
		"HTTPS, its chain included; the file is read again when it changes")
	set.StringVar(&f.keyFile, "tls-private-key-file", "", "`path` of the key of --tls-cert-file")
	set.StringVar(&f.metrics, "metrics-listen", metricsAddress(inPod),
		"`address` of the Prometheus metrics, by default port 8081 at every address of the Pod if POD_IP is set; "+
			"empty, as by default outside a Pod, or 0 switches them off")
	set.BoolVar(&f.metricsSecure, "metrics-secure", false, "metrics over HTTPS, with a certificate that the portal "+
		"makes for itself, and only for those whom Kubernetes lets get /metrics (ClusterRole portico-metrics-reader)")
	set.BoolVar(&f.profiling, "profiling", false, "Go's profiles at /debug/pprof/ of --metrics-listen, which show "+
		"what is in memory to everybody who reaches it")
}

// pagesAddress returns the default of --listen. In a Pod that is every address: the Pod's own, of both families, and
// loopback, to which kubectl port-forward connects.
func pagesAddress(inPod bool) string {
	if inPod {
		return ":8080"
	}
	return "127.0.0.1:8080"
}

// metricsAddress returns the default of --metrics-listen: every address of a Pod, or "" outside a Pod.
func metricsAddress(inPod bool) string {
	if inPod {
		return ":8081"
	}
	return ""
}

func (f *flags) authFlags(set *flag.FlagSet) {
	set.StringVar(&f.auth.PublicURL, "public-url", "", "`URL` at which browsers reach the portal: scheme and host")
	set.DurationVar(&f.life.Idle, "session-idle", f.life.Idle, "`time` without use after which a browser's session "+
		"ends; a page that is only open is no use. At least 1m")
	set.DurationVar(&f.life.Max, "session-max", f.life.Max, "`time` after which a browser's session ends, used or "+
		"not. At most 24h")
	set.Func("api-audience", "`audience` that a bearer token for the REST API must have; more of them after commas, "+
		"or by giving the flag again", func(list string) error {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one == "" {
				return errors.New("it must not be empty")
			}
			f.auth.Audiences = append(f.auth.Audiences, one)
		}
		return nil
	})
	set.StringVar(&f.auth.CLIClientID, "cli-client-id", "", "the public client `ID` at the provider with which "+
		"portico login signs in; empty: portico takes ready tokens only")
	set.Func("cli-scopes", "`scopes`, with spaces between, that portico login asks for; default as for "+
		"--oidc-scopes. The ID token must have one of --api-audience: make that the CLI's client ID, or add a "+
		"scope for it", scopes(&f.auth.CLIScopes))
}

func (f *flags) check(impersonator string) error {
	switch {
	case f.profiling && f.metricsOff():
		return errors.New("--profiling is served at --metrics-listen: give that too")
	case (f.certFile == "") != (f.keyFile == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file go together: give both, or none")
	case f.look < time.Second:
		return fmt.Errorf("--installation-check-interval %s: at least 1s", f.look)
	case f.leave < 0 || f.leave > maxLeave:
		return fmt.Errorf("--shutdown-delay-duration %s: want 0s to %s", f.leave, maxLeave)
	case f.namespace == "":
		return errors.New("--namespace is needed outside a Pod: the namespace that holds the list of revoked sessions")
	case len(validation.IsDNS1123Label(f.namespace)) > 0:
		return fmt.Errorf("--namespace %q: no namespace can have this name", f.namespace)
	case f.sessionKeys == "":
		return errors.New("--session-key-file is needed: make one with openssl rand -base64 32")
	case f.auth.PublicURL == "":
		return errors.New("--public-url is needed, for example https://portal.example.com")
	case len(f.auth.Audiences) == 0:
		return errors.New("--api-audience is needed: what tokens for the REST API are issued for")
	}
	if err := checkRate(f.rate); err != nil {
		return err
	}
	ns, name, ok := strings.Cut(cmp.Or(impersonator, f.namespace+"/portico-impersonator"), "/")
	if !ok || len(validation.IsDNS1123Label(ns)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return fmt.Errorf("--impersonator %q: want namespace/name", impersonator)
	}
	f.impersonator = types.NamespacedName{Namespace: ns, Name: name}
	return f.auth.Check()
}

func checkRate(r limit.Rate) error {
	if math.IsNaN(r.PerSecond) || math.IsInf(r.PerSecond, 0) {
		return fmt.Errorf("--api-rate %g: want a number of requests a second, or 0 for no limit", r.PerSecond)
	}
	if r.PerSecond < 0 || r.PerSecond > 0 && r.Burst < 1 {
		return fmt.Errorf("--api-rate %g with --api-burst %d: the rate must not be negative, and a burst must be at "+
			"least 1", r.PerSecond, r.Burst)
	}
	return nil
}

// trust parses proxies: networks, or single addresses.
func (f *flags) trust(list string) error {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		network, err := netip.ParsePrefix(one)
		if err != nil {
			address, bad := netip.ParseAddr(one)
			if bad != nil {
				return fmt.Errorf("%q is neither a network, such as 10.0.0.0/8, nor an address", one)
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		if network.Bits() == 0 {
			return fmt.Errorf("%q is every address: clients could name themselves as they like", one)
		}
		f.proxies = append(f.proxies, network.Masked())
	}
	return nil
}

// reach returns the addresses in the commands that users copy.
func (f *flags) reach(p *auth.Provider) pages.Reach {
	return pages.Reach{Portal: f.auth.PublicURL, Kubernetes: f.kubernetes, Prefix: f.auth.Prefix, CLI: p.CLI}
}
