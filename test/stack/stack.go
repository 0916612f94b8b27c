package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack/albsim"
	"github.com/portico-platform/portico/test/stack/kubenode"
	"github.com/portico-platform/portico/test/stack/pods"
	"github.com/portico-platform/portico/test/stack/process"
)

// Stack is a running stack. Fields of parts that were not requested are zero.
type Stack struct {
	Dir string // the run directory, with a log file for each part

	Admin           *rest.Config // group system:masters
	AdminKubeconfig string       // path
	// Kubeconfig is the path of the kubeconfig for people and tests of kubectl: it has the context admin and one for
	// each sample user, in that user's namespace.
	Kubeconfig string

	AWSEndpoint        string // the operator's, recorded by the proxy
	OutsideAWSEndpoint string // for everyone else
	// Proxy is nil when Options.AWSEndpoint names another endpoint.
	Proxy *awsproxy.Proxy
	// LoadBalancers simulates the AWS Load Balancer Controller.
	LoadBalancers *albsim.Simulator
	// Zones are the IDs of the hosted zones that were created at the start.
	Zones map[Zone]string

	// RealNodes are those of Options.RealNodes, in no order.
	RealNodes []*kubenode.Node
	// CAFile has the certificate authority of the stack's servers.
	CAFile string

	Issuer string // Dex
	// PortalURL is the URL of the portal; without that part, it is where a test's own portal must listen, because Dex
	// redirects users there.
	PortalURL string

	held   *os.File // the lock of a Dir that Options chose
	opts   Options
	ports  allPorts
	claims *ports
	node   *pods.Node
	// deployments are the ones that are not applied to an external cluster.
	deployments []*unstructured.Unstructured
	pki         *pki
	client      *http.Client // trusts the stack's servers
	group       *process.Group
	// outside is shared by the clients of OutsideAWS: otherwise each would have its own connections.
	outside *awshttp.BuildableClient

	mu      sync.Mutex
	parts   map[string]*process.Process // by name; of several Pods the one that was added last
	logs    map[string]*process.Process // those of Pods, by the names of their logs
	servers []*http.Server
	stops   []func() // stop background goroutines
	err     error

	keep      atomic.Bool
	failed    chan struct{}
	closeOnce sync.Once
	closeErr  error
	stopWatch func() bool
}

// Start starts the requested parts and waits until all are ready. When it fails, nothing keeps running. Cancelling
// ctx closes the stack.
func Start(ctx context.Context, opts Options) (*Stack, error) {
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	dir, held, err := prepareDir(&opts)
	if err != nil {
		return nil, err
	}
	// Before building, which may take minutes, so that a port in use is reported at once.
	var claims ports
	ports, err := claims.choose(&opts)
	if err == nil {
		err = opts.build(ctx)
	}
	if err != nil {
		claims.release()
		return nil, errors.Join(err, closeIf(held))
	}
	s := &Stack{
		Dir: dir, held: held, opts: opts, ports: ports, claims: &claims,
		parts: map[string]*process.Process{}, logs: map[string]*process.Process{}, failed: make(chan struct{}),
		outside: awshttp.NewBuildableClient(),
	}
	s.PortalURL = opts.PortalURL
	if ports.portal != 0 && s.PortalURL == "" {
		s.PortalURL = "http://" + s.forPeople(ports.portal)
	}
	if s.group, err = process.NewGroup(dir, func(e *process.DiedError) { s.fail(e) }); err != nil {
		return nil, err
	}
	s.stopWatch = context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.start(ctx); err != nil {
		if died := s.Err(); died != nil {
			err = died // the cause; the other parts only wait for the one that died
		}
		s.KeepLogs()
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// start starts everything, each part as soon as its dependencies are ready.
func (s *Stack) start(ctx context.Context) error {
	var err error
	if s.pki, err = newPKI(filepath.Join(s.Dir, "pki"), &s.opts); err != nil {
		return fmt.Errorf("make certificates: %w", err)
	}
	s.CAFile = s.pki.CAFile
	if s.client, err = s.pki.httpClient(); err != nil {
		return err
	}
	if err := s.startNetwork(ctx); err != nil {
		return err
	}
	g, first := errgroup.WithContext(ctx)
	for _, bringUp := range []func(context.Context) error{s.startCluster, s.startAWS, s.startDex} {
		g.Go(func() error { return bringUp(first) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	gateways := s.opts.Parts.has(Gateways)
	if gateways {
		if err := s.makeGateways(ctx); err != nil {
			return err
		}
	}
	if err := s.makeTeams(ctx); err != nil {
		return err
	}
	if err := s.startPods(ctx); err != nil {
		return err
	}
	g, second := errgroup.WithContext(ctx)
	if gateways {
		g.Go(func() error { return s.awaitRoutes(second) })
	}
	g.Go(func() error { return s.startOperator(second) })
	g.Go(func() error { return s.startPortal(second) })
	if err := g.Wait(); err != nil {
		return err
	}
	return s.awaitTeams(ctx)
}

// Run starts one more process and waits until it is ready. Its log is in Dir, and it ends with the stack at the
// latest.
func (s *Stack) Run(ctx context.Context, spec process.Spec) (*process.Process, error) {
	if err := s.run(ctx, spec); err != nil {
		return nil, err
	}
	return s.Part(spec.Name), nil
}

// run starts one process and waits until it is ready.
func (s *Stack) run(ctx context.Context, spec process.Spec) error {
	p := s.group.Add(spec)
	s.mu.Lock()
	s.parts[spec.Name] = p
	s.mu.Unlock()
	began := time.Now()
	if err := p.Start(ctx); err != nil {
		return err
	}
	s.say("%-24s ready after %.1f s", spec.Name, time.Since(began).Seconds())
	return nil
}

// Part returns a process of the stack by its name (etcd, kube-apiserver, kube-controller-manager, kube-scheduler,
// kwok, moto, dex, operator, portal), or nil when it was not requested.
func (s *Stack) Part(name string) *process.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts[name]
}

// Failed returns a channel that is closed when a part has ended by itself; Err returns which. The others keep running
// until Close.
func (s *Stack) Failed() <-chan struct{} { return s.failed }

// Err returns a *process.DiedError for the first part that ended by itself, or nil.
func (s *Stack) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Stack) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		close(s.failed)
	}
}

// Close ends every part. The operator and the portal can finish what they are doing; the others are killed, because
// their data is removed too. It may be called more than once.
func (s *Stack) Close() error {
	s.closeOnce.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Stack) close() error {
	if s.stopWatch != nil {
		s.stopWatch()
	}
	var errs []error
	for _, name := range []string{"portal", "operator"} {
		if p := s.Part(name); p != nil {
			errs = append(errs, p.Stop())
		}
	}
	s.mu.Lock()
	servers, stops := s.servers, s.stops
	s.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
	for _, server := range servers {
		errs = append(errs, server.Close())
	}
	if s.Proxy != nil {
		s.Proxy.Close()
	}
	errs = append(errs, s.group.Close())
	s.claims.release()
	// The data is large and no longer needed; the logs are neither.
	errs = append(errs, os.RemoveAll(filepath.Join(s.Dir, "etcd")))
	if s.opts.Dir == "" && !s.keep.Load() {
		errs = append(errs, os.RemoveAll(s.Dir))
	}
	return errors.Join(append(errs, closeIf(s.held))...)
}

func closeIf(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// KeepLogs makes Close keep the logs: for a test that fails.
func (s *Stack) KeepLogs() { s.keep.Store(true) }

// CPU returns, once the stack is closed, the CPU time of each process and of this one, as in "CPU seconds:
// this-process 3.1, etcd 1.5". Command run-tests adds up such lines of tests.
func (s *Stack) CPU() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []string{fmt.Sprintf("this-process %.1f", ownCPU().Seconds())}
	for _, name := range slices.Sorted(maps.Keys(s.parts)) {
		all = append(all, fmt.Sprintf("%s %.1f", name, s.parts[name].CPU().Seconds()))
	}
	return "CPU seconds: " + strings.Join(all, ", ")
}

// ownCPU returns the CPU time of this process, without its children; 0 where it is not known.
func ownCPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func (s *Stack) say(format string, args ...any) { say(s.opts.Progress, format, args...) }

var sayMu sync.Mutex

func say(w io.Writer, format string, args ...any) {
	sayMu.Lock()
	defer sayMu.Unlock()
	_, _ = fmt.Fprintf(w, format+"\n", args...)
}
