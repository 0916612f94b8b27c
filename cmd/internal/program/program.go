// Package program contains what the programs in Pods share: shutdown, logging, and the cluster's configuration.
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

// Main runs a program until it ends; SIGINT and SIGTERM cancel its context. After an error the process exits with
// status 1.
func Main(name string, run func(ctx context.Context, args []string, env func(string) string,
	out, logs io.Writer) error,
) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// Logs returns a handler that writes JSON lines, or with development text and debug messages.
func Logs(development bool, out io.Writer) slog.Handler {
	if development {
		return slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	return slog.NewJSONHandler(out, nil)
}

// Cluster returns the client configuration of the kubeconfig with that path. With "", it uses the default kubeconfig,
// or the Pod's ServiceAccount if there is none.
func Cluster(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w; run in a Pod, or give --kubeconfig", err)
	}
	return cfg, nil
}

// gcPercent trades CPU time for memory: most of the heap is the cache, and by default the heap grows to twice its live
// size between collections.
const gcPercent = 40

// KeepHeapSmall limits the heap's growth to 1.4 times its live size. GOGC overrides it.
func KeepHeapSmall() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
