package stack

import (
	"context"

	"github.com/portico-platform/portico/test/stack/build"
)

// build builds what the parts need.
func (o *Options) build(ctx context.Context) error {
	if o.Built {
		return nil
	}
	return build.Build(ctx, o.Root, o.targets(), o.Progress)
}

// targets returns the build targets that the parts need.
func (o *Options) targets() []build.Target {
	var targets []build.Target
	need := func(parts Parts, more ...build.Target) {
		if o.Parts.has(parts) {
			targets = append(targets, more...)
		}
	}
	if o.ExternalKubeconfig == "" {
		need(ControlPlane, build.Etcd, build.APIServer, build.ControllerManager)
	}
	need(ControlPlane, build.Kubectl) // for people, and for tests of kubectl commands
	need(Scheduler, build.Scheduler)
	need(Nodes, build.Kwok, build.KwokStages)
	if o.AWSEndpoint == "" {
		need(AWS, build.AWS)
	}
	need(Dex, build.Dex)
	need(Operator, build.Operator)
	need(Portal, build.Portal, build.CLI)
	return targets
}
