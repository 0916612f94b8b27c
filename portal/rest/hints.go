package rest

import (
	"context"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/holdup"
	"github.com/portico-platform/portico/portal/humanize"
)

// tried returns the response to a dry run: the object that would be stored, with warnings that say why it could not
// become Ready at present.
func (a *API) tried(ctx context.Context, ref catalog.Ref, got write.Result) (*writeOutput, error) {
	finder := holdup.Finder{
		Cluster: a.cluster, ID: caller(ctx), Kind: ref.Kind, Namespace: ref.Namespace,
		Team: "namespace " + ref.Namespace,
	}
	why, err := finder.Find(ctx, got.Object)
	if err == nil && ref.Kind.ID() == v1alpha1.KindGatewayHostnameRequest && got.Was == nil {
		why, err = a.withHostname(ctx, ref, got, why)
	}
	if err != nil {
		return nil, a.fail(ctx, err)
	}
	for _, one := range why {
		got.Warnings = append(got.Warnings, "It cannot become Ready as things are. "+humanize.Sentence(one))
	}
	return written(got, 0, true), nil
}

// withHostname adds why the hostname is not available.
func (a *API) withHostname(ctx context.Context, ref catalog.Ref, got write.Result, why []string) ([]string, error) {
	text := func(field string) string { return catalog.TextAt(got.Object, "spec", field) }
	answer, err := a.cluster.Hostnames.Check(ctx, caller(ctx), ref.Namespace, availability.Query{
		Hostname: text("hostname"), Zone: text("zoneId"), Visibility: text("visibility"),
		Environment: text("environment"),
	})
	if err != nil || answer.State == availability.Free {
		return why, err
	}
	return append(why, answer.Message), nil
}
