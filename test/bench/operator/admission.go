package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

const (
	admissionTeams     = 200
	admissionProviders = 20
	admissionTries     = 500
)

// admission measures what Portico's admission policies add to a request. It compares dry runs of objects whose team and
// provider have guardrails with dry runs of ConfigMaps, to which no policy applies. The API server's metrics give the
// time that the policies take.
func admission(ctx context.Context, w *world, _ *fleet, t *campaign.Results) error {
	teams, err := w.makeTeams(ctx)
	if err != nil {
		return err
	}
	if err := w.calm(ctx); err != nil {
		return err
	}
	namespace := teams[0].Name
	before, err := w.policyTimes(ctx)
	if err != nil {
		return err
	}
	plain, err := w.dryRuns(ctx, func(i int) client.Object {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("plain-%d", i)},
			Data:       map[string]string{"a": "b"},
		}
	})
	if err != nil {
		return err
	}
	tellRequest(t, "a ConfigMap", plain)
	if err := w.judged(ctx, namespace, plain, t); err != nil {
		return err
	}
	after, err := w.policyTimes(ctx)
	if err != nil {
		return err
	}
	tellPolicies(t, before, after)
	return w.removeTeams(ctx, teams)
}

// judged measures requests to which the policies apply.
func (w *world) judged(ctx context.Context, namespace string, plain []time.Duration, t *campaign.Results) error {
	for _, kind := range []struct {
		name string
		make func(i int) client.Object
	}{
		{"a bucket", func(i int) client.Object {
			b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: fmt.Sprintf("bucket-%04d", i),
			}}
			b.Spec.ProviderRef.Name = "bench-0"
			return b
		}},
		{"a database", func(i int) client.Object { return newDatabase(namespace, i) }},
		{"a machine", func(i int) client.Object { return newMachine(namespace, i) }},
	} {
		took, err := w.dryRuns(ctx, kind.make)
		if err != nil {
			return err
		}
		tellRequest(t, kind.name, took)
		added := campaign.Percentile(took, .99) - campaign.Percentile(plain, .99)
		t.Goal(kind.name+", p99 without that of a ConfigMap", added.Seconds()*1000, 10, " ms",
			"the schema's rules and what the API server does for a custom resource included")
	}
	return nil
}

func tellRequest(t *campaign.Results, what string, took []time.Duration) {
	ms := func(p float64) float64 { return campaign.Percentile(took, p).Seconds() * 1000 }
	t.Figure("dry run of "+what, fmt.Sprintf("%.1f ms", ms(.5)),
		fmt.Sprintf("p50 of %d; p99 %.1f ms", len(took), ms(.99)))
}

// dryRuns returns the duration of each request.
func (w *world) dryRuns(ctx context.Context, one func(i int) client.Object) (took []time.Duration, err error) {
	for i := range admissionTries {
		o := one(i)
		began := time.Now()
		if err := w.Kube.Create(ctx, o, client.DryRunAll); err != nil {
			return nil, fmt.Errorf("dry run of %s: %w", o.GetName(), err)
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// makeTeams creates teams with guardrails, each with a namespace, and providers with other guardrails. It returns when
// all teams are Ready.
func (w *world) makeTeams(ctx context.Context) (teams []*v1alpha1.Team, err error) {
	if err := w.makeProviders(ctx); err != nil {
		return nil, err
	}
	for i := range admissionTeams {
		team := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bench-admission-team-%d", i)}}
		team.Spec.Members = []v1alpha1.TeamMember{{Group: "oidc:bench", Role: v1alpha1.TeamDeveloper}}
		team.Spec.Providers = []v1alpha1.TeamProvider{{Name: "bench-0"}}
		team.Spec.Guardrails = &v1alpha1.TeamGuardrails{Guardrails: v1alpha1.Guardrails{
			AllowedInstanceTypes: []string{"t3.*"}, AllowedDatabaseClasses: []string{"db.t4g.*"},
			RequirePrivateBuckets: true, RequireIMDSv2: true,
		}, ForbiddenTagKeys: []string{"cost-centre"}}
		if err := w.Kube.Create(ctx, team); err != nil {
			return nil, fmt.Errorf("make a team: %w", err)
		}
		teams = append(teams, team)
	}
	for _, team := range teams {
		if err := w.Until(ctx, poll, "team "+team.Name+" to be Ready", func() error {
			err := w.Kube.Get(ctx, client.ObjectKeyFromObject(team), team)
			if err == nil && !team.Status.Ready {
				err = errors.New("it is not Ready")
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return teams, nil
}

// makeProviders creates copies of the sample provider, with guardrails.
func (w *world) makeProviders(ctx context.Context) error {
	for i := range admissionProviders {
		p := &v1alpha1.AWSProvider{}
		if err := w.Kube.Get(ctx, client.ObjectKey{Name: stack.Provider}, p); err != nil {
			return fmt.Errorf("read the sample provider: %w", err)
		}
		p.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("bench-%d", i)}
		p.Spec.Guardrails = &v1alpha1.Guardrails{
			AllowedInstanceTypes: []string{"t3.*", "m7g.large"},
			RequireEncryption:    true,
		}
		if err := client.IgnoreAlreadyExists(w.Kube.Create(ctx, p)); err != nil {
			return fmt.Errorf("make a provider: %w", err)
		}
	}
	return nil
}

func (w *world) removeTeams(ctx context.Context, teams []*v1alpha1.Team) error {
	for _, team := range teams {
		if err := w.Kube.Delete(ctx, team); err != nil {
			return fmt.Errorf("delete a team: %w", err)
		}
	}
	return w.calm(ctx)
}

// policyTimes holds the API server's metrics of one admission plugin: the number of requests, how many took at most 5
// ms, and the total time.
type policyTimes struct{ requests, quick, seconds float64 }

func (w *world) policyTimes(ctx context.Context) (map[string]policyTimes, error) {
	samples, err := w.APIServer(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]policyTimes{}
	for _, plugin := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"} {
		sum := func(suffix, le string) float64 {
			return samples.Sum("apiserver_admission_controller_admission_duration_seconds"+suffix,
				func(l map[string]string) bool {
					return l["name"] == plugin && l["operation"] == "CREATE" && l["rejected"] == "false" &&
						l["le"] == le
				})
		}
		all[plugin] = policyTimes{sum("_count", ""), sum("_bucket", "0.005"), sum("_sum", "")}
	}
	return all, nil
}

func tellPolicies(t *campaign.Results, before, after map[string]policyTimes) {
	for _, plugin := range slices.Sorted(maps.Keys(after)) {
		was, is := before[plugin], after[plugin]
		n := is.requests - was.requests
		t.Figure(plugin+", in the API server", fmt.Sprintf("%.2f ms", 1000*(is.seconds-was.seconds)/n),
			fmt.Sprintf("mean of %.0f, those of the ConfigMaps included; %.2f %% within 5 ms", n,
				100*(is.quick-was.quick)/n))
	}
}

func newDatabase(namespace string, i int) client.Object {
	d := &v1alpha1.RDSInstance{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("database-%04d", i)},
	}
	d.Spec.ProviderRef.Name, d.Spec.Engine, d.Spec.DBInstanceClass = "bench-0", "postgres", "db.t4g.micro"
	d.Spec.AllocatedStorage, d.Spec.MasterUsername = 20, "ledger"
	return d
}

func newMachine(namespace string, i int) client.Object {
	m := &v1alpha1.EC2Instance{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("machine-%04d", i)},
	}
	m.Spec.ProviderRef.Name, m.Spec.ImageID, m.Spec.InstanceType = "bench-0", "ami-0123456789abcdef0", "t3.micro"
	m.Spec.InstanceName = "machine"
	return m
}
