package controllers

import (
	"context"
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	names "github.com/portico-platform/portico/api/deploy"
	api "github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/runs"
	"github.com/portico-platform/portico/controllers/deploy"
	"github.com/portico-platform/portico/controllers/operatorapi"
)

// setupDeployers registers DeployPolicy, which says whose tokens are exchanged.
func setupDeployers(mgr ctrl.Manager, o Options) (*deploy.Issuers, error) {
	issuers := &deploy.Issuers{Audience: o.DeployAudience, Now: o.Engine.Now}
	return issuers, deploy.Setup(mgr, issuers, o.Engine)
}

// findRuns returns a function that looks up the run of a pipeline by its credential, "" if it is not known.
func findRuns(mgr ctrl.Manager) (func(ctx context.Context, credential string) (string, error), error) {
	clients, err := kubernetes.NewForConfig(mgr.GetConfig())
	if err != nil {
		return nil, fmt.Errorf("prepare to look up runs: %w", err)
	}
	leases := clients.CoordinationV1().Leases(names.Namespace)
	return func(ctx context.Context, credential string) (string, error) {
		run, known, err := runs.Find(ctx, leases, credential)
		if err != nil || !known {
			return "", err
		}
		return run.String(), nil
	}, nil
}

// exchangeQPS is the rate limit for requests made for exchanges, three each.
const exchangeQPS = 60

// exchanges returns the handler that exchanges tokens of CI jobs, nil if that is switched off.
func exchanges(mgr ctrl.Manager, issuers *deploy.Issuers, d deps, o Options) (operatorapi.Routes, error) {
	if o.DeployAudience == "" || len(o.People.Audiences) == 0 {
		d.features.Set(api.FeatureDeployers, operatorapi.DeployersOff)
		return nil, nil
	}
	d.features.Set(api.FeatureDeployers, "")
	cfg := rest.CopyConfig(mgr.GetConfig())
	cfg.QPS, cfg.Burst = exchangeQPS, 2*exchangeQPS
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("prepare the exchange of tokens: %w", err)
	}
	log := mgr.GetLogger().WithName("deploy")
	records := &deploy.Records{Leases: clients.CoordinationV1().Leases(names.Namespace), Now: o.Engine.Now, Log: log}
	if err := mgr.Add(records); err != nil {
		return nil, err
	}
	return deploy.New(deploy.Exchange{
		Issuers: issuers, Cached: mgr.GetClient(), Records: records, Log: log, Now: o.Engine.Now,
		Tokens: &deploy.Tokens{
			Accounts: clients.CoreV1().ServiceAccounts(names.Namespace), Audiences: o.People.Audiences[:1],
		},
	}, mgr.GetClient()), nil
}
