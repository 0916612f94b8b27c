package team

import (
	"context"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// providers checks whether the team can use the AWS accounts that it lists. It changes nothing.
func (p *pass) providers(ctx context.Context) (string, error) {
	var failed firstError
	names := make([]string, 0, len(p.team.Spec.Providers))
	for _, one := range p.team.Spec.Providers {
		failed.add(p.provider(ctx, one))
		names = append(names, one.Name)
	}
	if d := p.team.Spec.Defaults; d != nil && d.Provider != "" && !slices.Contains(names, d.Provider) {
		failed.add(engine.Blocked(v1alpha1.ReasonInvalidSpec, "defaults.provider is %s, which is not among "+
			"providers; add it there, or choose one of %s", d.Provider, strings.Join(names, ", ")))
	}
	return "the team can use " + strings.Join(names, ", "), failed.err()
}

func (p *pass) provider(ctx context.Context, use v1alpha1.TeamProvider) error {
	at := slices.IndexFunc(p.offered, func(o v1alpha1.AWSProvider) bool { return o.Name == use.Name })
	if at < 0 {
		return engine.Blocked(v1alpha1.ReasonProviderNotFound, "there is no AWSProvider %s; create it, or take it "+
			"out of spec.providers", use.Name)
	}
	found := &p.offered[at]
	offered := append([]string{found.Spec.Region}, found.Spec.AllowedRegions...)
	for _, region := range use.Regions {
		if !slices.Contains(offered, region) {
			return engine.Blocked(v1alpha1.ReasonRegionNotAllowed, "the AWSProvider %s does not allow the region %s; "+
				"it allows %s", use.Name, region, strings.Join(offered, ", "))
		}
	}
	for _, name := range p.kept {
		ns, exists, err := readNamespace(ctx, p.Client, name)
		if err != nil {
			return err
		}
		var have map[string]string
		if exists { // it may have other labels, which the provider's selector may match
			have = ns.Labels
		}
		labels, _ := p.marks(name, have)
		switch allowed, err := cloud.AllowsNamespace(found, labels); {
		case err != nil:
			return err
		case !allowed:
			return engine.Blocked(v1alpha1.ReasonProviderNotAllowed,
				"the AWSProvider %s does not allow the namespace %s: set its spec.allowedNamespaces to select it, "+
					"for example by matchLabels %s: %s",
				use.Name, name, v1alpha1.LabelTeam, p.team.Name)
		}
	}
	return nil
}

// readProviders reads the AWSProviders that the team lists, skipping those that do not exist.
func (p *pass) readProviders(ctx context.Context) error {
	for _, one := range p.team.Spec.Providers {
		found := v1alpha1.AWSProvider{}
		switch ok, err := engine.Find(ctx, p.Client, client.ObjectKey{Name: one.Name}, &found); {
		case err != nil:
			return err
		case ok:
			p.offered = append(p.offered, found)
		}
	}
	return nil
}

// usable returns those of the team's AWSProviders that allow a namespace with these labels.
func (p *pass) usable(labels map[string]string) []v1alpha1.AWSProvider {
	var all []v1alpha1.AWSProvider
	for i := range p.offered {
		// The providers step reports errors.
		if allowed, err := cloud.AllowsNamespace(&p.offered[i], labels); err == nil && allowed {
			all = append(all, p.offered[i])
		}
	}
	return all
}
