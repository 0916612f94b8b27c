// Package program holds what the programs that run in Pods share: how they end, how they log, and how they find the
// cluster.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Main runs a program until it ends, or is told to by a signal. After an error the process ends with status 1.
func Main(name string, run func(ctx context.Context, args []string, env func(string) string, out, logs io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Logs returns a handler that writes JSON, one line each, for machines, or text for people in development.
func Logs(development bool, out io.Writer) slog.Handler {
	if development {
		return slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	return slog.NewJSONHandler(out, nil)
}

// Cluster returns how to reach the cluster of the Pod, or that of the kubeconfig at a path, if one is given.
func Cluster(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w; run in a Pod, or give --kubeconfig", err)
	}
	return cfg, nil
}

// gcPercent trades time for memory: most of the heap is the cache, of which each collection would otherwise leave room
// for as much again.
const gcPercent = 40

// KeepHeapSmall keeps the heap at 1.4 times of what is in use. GOGC overrides it.
func KeepHeapSmall() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
