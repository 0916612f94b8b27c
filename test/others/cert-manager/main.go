// Command cert-manager runs the controllers of cert-manager that issue certificates of self-signed issuers, in one
// process: cert-manager's own program cannot be built from its module.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	requests "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca" // the kinds of issuers
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// names are those of the controllers that run.
var names = []string{
	issuers.ControllerName, approver.ControllerName, requests.CRControllerName, issuing.ControllerName,
	keymanager.ControllerName, readiness.ControllerName, requestmanager.ControllerName, revisionmanager.ControllerName,
	trigger.ControllerName,
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "`path` of the kubeconfig of the cluster")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig); err != nil {
		stop()
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig string) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: kubeconfig, KubernetesAPIQPS: 100, KubernetesAPIBurst: 200,
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "default"},
	})
	if err != nil {
		return err
	}
	var all []controller.Interface
	for _, name := range names {
		make, known := controller.Known()[name]
		if !known {
			return fmt.Errorf("cert-manager has no controller %s any more", name)
		}
		one, err := make(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, one)
	}
	built, err := factory.Build()
	if err != nil {
		return err
	}
	built.SharedInformerFactory.Start(ctx.Done())
	built.KubeSharedInformerFactory.Start(ctx.Done())
	ended := make(chan error)
	for _, one := range all {
		go func() { ended <- one.Run(1, ctx) }()
	}
	for range all {
		if err := <-ended; err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
