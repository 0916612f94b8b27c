package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clusterFlags select the cluster of commands that do not use the portal.
type clusterFlags struct{ kubeconfig, context string }

func (c *clusterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.kubeconfig, "kubeconfig", "", "`path` of the kubeconfig; default: $KUBECONFIG, else "+
		"~/.kube/config")
	flags.StringVar(&c.context, "context", "", "`context` of the kubeconfig; default: its current one")
	_ = cmd.RegisterFlagCompletionFunc("context", cobra.NoFileCompletions) // the flag is there
}

// config returns the client configuration for the cluster.
func (c *clusterFlags) config() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		rules, &clientcmd.ConfigOverrides{CurrentContext: c.context}).ClientConfig()
	if err != nil {
		return nil, hinted(fmt.Errorf("finding the cluster: %w", err), "Name a kubeconfig with --kubeconfig, and one "+
			"of its contexts with --context.")
	}
	cfg.UserAgent = "portico"
	return cfg, nil
}
