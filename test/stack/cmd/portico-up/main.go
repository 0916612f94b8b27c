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
)

func main() {
	ctx, restore := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, restore) // a second Ctrl-C ends everything at once
	ctrl.SetLogger(logr.Discard())
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nportico:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("portico-up", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opts, err := options(*root, env)
	if err != nil {
		return err
	}
	opts.Progress = out
	began := time.Now()
	s, err := stack.Start(ctx, opts)
	if err != nil && ctx.Err() != nil {
		return nil //nolint:nilerr // told to end before everything was up: the error comes of that
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprint(out, welcome(s, time.Since(began)))
	select {
	case <-ctx.Done():
		_, _ = fmt.Fprintln(out, "\nEnding everything ...")
		if opts.ExternalKubeconfig != "" {
			_, _ = fmt.Fprintln(out, "The CRDs, roles, namespaces and buckets in your cluster stay there.")
		}
		return s.Close()
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
