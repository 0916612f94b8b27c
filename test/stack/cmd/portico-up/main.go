// Command portico-up is what make run starts: the whole platform on loopback, until Ctrl-C. The Makefile's help names
// its variables.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

func main() {
	if os.Getenv("NODE") != "real" {
		os.Exit(code(run(os.Args[1:], nil)))
	}
	os.Exit(sandbox.MainWith("portico-run", openDoors, func() int { return code(run(os.Args[1:], sandbox.Files())) }))
}

func code(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nportico:", err)
		return 1
	}
	return 0
}

func run(args []string, doors []*os.File) error {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore) // a second Ctrl-C ends everything at once
	ctrl.SetLogger(logr.Discard())
	flags := flag.NewFlagSet("portico-up", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opts, err := options(*root, os.Getenv)
	if err == nil && doors != nil {
		err = onRealNode(&opts, doors)
	}
	if err != nil {
		return err
	}
	return up(ctx, opts, os.Stdout)
}

// up starts everything, and ends it with ctx.
func up(ctx context.Context, opts stack.Options, out io.Writer) error {
	opts.Progress = out
	began := time.Now()
	s, err := stack.Start(ctx, opts)
	if err != nil && ctx.Err() != nil {
		return nil //nolint:nilerr // told to end before everything was up: the error comes of that
	}
	if err != nil {
		return err
	}
	if err := prepare(ctx, s); err != nil {
		return errors.Join(err, s.Close())
	}
	_, _ = fmt.Fprint(out, welcome(s, time.Since(began)))
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(out, "\nEnding everything ...")
		if opts.ExternalKubeconfig != "" {
			_, _ = fmt.Fprintln(out, "The CRDs, roles, namespaces and buckets in your cluster stay there.")
		}
		return errors.Join(s.Close(), handOver(s.Dir))
	case <-s.Failed():
		return errors.Join(s.Err(), s.Close())
	}
}

func options(root string, env func(string) string) (stack.Options, error) {
	o := stack.Options{
		Root: root, Parts: stack.Everything, Dir: filepath.Join(root, ".run", "local"), Ports: stack.FriendlyPorts,
		AWSEndpoint:        env("AWS_ENDPOINT"),
		ExternalKubeconfig: env("KUBECONFIG_EXTERNAL"),
		WorkloadIdentity:   true,
	}
	if o.AWSEndpoint != "" {
		// Gateways would create load balancers and hosted zones, possibly in a real account.
		o.Parts &^= stack.Gateways | stack.Traffic | stack.Databases
		o.WorkloadIdentity = false
		o.AWSCredentials = stack.Credentials{
			AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"),
		}
	}
	for variable, port := range map[string]*int{
		"APISERVER_PORT": &o.Ports.APIServer, "DEX_PORT": &o.Ports.Dex, "AWS_PORT": &o.Ports.AWS,
		"PORTAL_PORT": &o.Ports.Portal, "HOSTNAMES_PORT": &o.Ports.LoadBalancers,
		"REGISTRY_PORT": &o.Ports.Registry,
	} {
		value := env(variable)
		if value == "" {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 16)
		if err != nil {
			return o, fmt.Errorf("%s=%s is not a port: a number from 1 to 65535, or 0 for any free one", variable,
				value)
		}
		*port = int(n)
	}
	return o, nil
}
