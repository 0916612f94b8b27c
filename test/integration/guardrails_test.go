//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/guardrails/guardrailstest"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/tiers"
)

// withoutAdmission removes the guardrail policies until the test ends.
func withoutAdmission(t *testing.T, c client.Client) {
	t.Helper()
	probe := bucketOf(team(t, c), "probe")
	probe.Spec.Region = "ap-south-9"
	await(t, "the policies to be in force", func() (bool, string) {
		err := c.Create(t.Context(), probe.DeepCopy(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "does not allow region ap-south-9"), fmt.Sprint(err)
	})
	defer passes(t, c, probe)
	names := []string{"portico-team-guardrails-s3buckets"}
	for _, p := range guardrails.Policies() {
		if p.Resource != "s3buckets" {
			names = append(names, p.Name)
		}
	}
	for _, name := range append(names, "portico-guardrails-s3buckets") { // the probe is for the last one
		b := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, b); err != nil {
			t.Fatal(err)
		}
		if err := c.Delete(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			b.ResourceVersion, b.UID = "", ""
			if err := c.Create(context.Background(), b); err != nil { // the test's own context is over
				t.Error(err)
			}
		})
	}
}

// passes waits until the API server accepts an object that a policy refused.
func passes(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	await(t, "the policies to be gone", func() (bool, string) {
		err := c.Create(t.Context(), obj.DeepCopyObject().(client.Object), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
}

func typed[T any](t *testing.T, from map[string]any) *T {
	t.Helper()
	into := new(T)
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return into
}

// Without the policies the operator refuses the same, with the same messages, and creates nothing: by an AWSProvider
// and by a Team.
func TestTheOperatorRefusesWhatTheTableRefuses(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	withoutAdmission(t, c)
	free, of := team(t, c), team(t, c)
	p := account(t, c, "230000000081")
	growth := newTeam(t, c, "growth-refused", of, map[string]any{"providers": []any{map[string]any{"name": p.Name}}})
	refused := 0
	for n, row := range guardrailstest.Cases {
		if len(row.Refused) == 0 {
			continue
		}
		refused++
		edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.Guardrails = nil })
		edit(t, c, growth, func(g *v1alpha1.Team) {
			g.Spec.Guardrails = typed[v1alpha1.TeamGuardrails](t, row.Limits())
		})
		refusedByOperator(t, c, row, of, fmt.Sprintf("team-%d", n), p.Name, "Team growth-refused")
		if !row.Team {
			edit(t, c, p, func(p *v1alpha1.AWSProvider) {
				p.Spec.Guardrails = typed[v1alpha1.Guardrails](t, row.Limits())
			})
			refusedByOperator(t, c, row, free, fmt.Sprintf("provider-%d", n), p.Name, "AWSProvider "+p.Name)
		}
	}
	if refused < 30 {
		t.Errorf("%d cases", refused)
	}
}

func refusedByOperator(t *testing.T, c client.Client, row guardrailstest.Case, ns, name, provider, by string) {
	t.Helper()
	raw := objectOf(row.Kind, ns, name, row.Object(provider))
	made, err := scheme().New(raw.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, made); err != nil {
		t.Fatal(err)
	}
	obj := made.(engine.Object)
	create(t, c, obj)
	got := reason(t, c, obj, v1alpha1.ReasonNotAllowed)
	for _, r := range guardrails.Check(row.Kind, row.Object(provider), guardrails.Limits{By: by, Rules: row.Limits()}) {
		if !strings.Contains(got.Message, r.Message) {
			t.Errorf("%s: %q does not say %q", row, got.Message, r.Message)
		}
	}
	if o, ok := obj.(interface {
		AWS() (*v1alpha1.AWSSpec, *v1alpha1.AWSStatus)
	}); ok {
		if _, s := o.AWS(); s.ARN != "" || s.AccountID != "" {
			t.Errorf("%s: something was made: %+v", row, s)
		}
	}
	gone(t, c, obj)
}

func blocks(t *testing.T, api *s3.Client, b *v1alpha1.S3Bucket) []bool {
	t.Helper()
	out, err := api.GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: &b.Spec.BucketName})
	if err != nil {
		t.Fatal(err)
	}
	x := out.PublicAccessBlockConfiguration
	return []bool{
		aws.ToBool(x.BlockPublicAcls), aws.ToBool(x.IgnorePublicAcls), aws.ToBool(x.BlockPublicPolicy),
		aws.ToBool(x.RestrictPublicBuckets),
	}
}

// A later rule removes nothing from existing resources, which stay managed, and does not let them become worse.
func TestARuleMadeLater(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	p := account(t, c, "230000000082")
	api := outside(t, p.Name)
	open, closed := bucketOf(ns, "open"), bucketOf(ns, "closed")
	open.Spec.ProviderRef.Name, closed.Spec.ProviderRef.Name = p.Name, p.Name
	open.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicPolicy: aws.Bool(false)}
	createReady(t, c, open)
	createReady(t, c, closed)

	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.Guardrails = &v1alpha1.Guardrails{RequirePrivateBuckets: true}
	})
	got := reason(t, c, open, v1alpha1.ReasonNotAllowed)
	if want := "spec.publicAccessBlock.blockPublicPolicy: false is not allowed: AWSProvider " + p.Name +
		" allows"; !strings.Contains(got.Message, want) {
		t.Errorf("%q does not say %q", got.Message, want)
	}
	ready(t, c, closed)
	edit(t, c, open, func(b *v1alpha1.S3Bucket) { b.Spec.Tags = v1alpha1.Tags{"tier": "web"} }) // admission allows it
	await(t, "the tag", func() (bool, string) {
		tags := tagsOf(t, api, open.Spec.BucketName)
		return tags["tier"] == "web", fmt.Sprint(tags)
	})
	if got := blocks(t, api, open); !slices.Equal(got, []bool{true, true, false, true}) {
		t.Errorf("what was there was changed: %v", got)
	}
	publish := func(b *v1alpha1.S3Bucket, options ...client.UpdateOption) error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			t.Fatal(err)
		}
		b.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{BlockPublicAcls: aws.Bool(false)}
		return c.Update(t.Context(), b, options...)
	}
	await(t, "admission to refuse an edit", func() (bool, string) {
		err := publish(closed, client.DryRunAll)
		return apierrors.IsInvalid(err) &&
				strings.Contains(err.Error(), "spec.publicAccessBlock.blockPublicAcls: false is not allowed"),
			fmt.Sprint(err)
	})

	withoutAdmission(t, c)
	await(t, "the edit to pass", func() (bool, string) { err := publish(closed); return err == nil, fmt.Sprint(err) })
	reason(t, c, closed, v1alpha1.ReasonNotAllowed)
	if got := blocks(t, api, closed); !slices.Equal(got, []bool{true, true, true, true}) {
		t.Errorf("it was opened: %v", got)
	}

	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.Guardrails = nil })
	ready(t, c, open)
	ready(t, c, closed)
	if got := blocks(t, api, closed); !slices.Equal(got, []bool{false, true, true, true}) {
		t.Errorf("after the rule is gone: %v", got)
	}
}

// A namespace of a team has the AWS accounts and regions that the Team lists, and its tags.
func TestWhatATeamListsOfAWS(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	p := account(t, c, "230000000083")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AllowedRegions = []string{"eu-west-1", "eu-north-1"}
		p.Spec.DefaultTags, p.Spec.EnforcedTags = v1alpha1.Tags{"a": "provider", "b": "provider", "c": "provider"},
			v1alpha1.Tags{"e": "provider"}
	})
	ready(t, c, p)
	withoutAdmission(t, c)
	growth := newTeam(t, c, "growth-lists", ns, map[string]any{"providers": []any{map[string]any{"name": "other"}}})
	b := bucketOf(ns, "listed")
	b.Spec.ProviderRef.Name, b.Spec.Tags = p.Name, v1alpha1.Tags{"c": "own", "d": "own", "e": "own"}
	create(t, c, b)
	got := reason(t, c, b, v1alpha1.ReasonProviderNotFound)
	if want := fmt.Sprintf("there is no AWSProvider %s that namespace %s may use;", p.Name, ns); !strings.Contains(
		got.Message, want) {
		t.Errorf("%q does not say %q", got.Message, want)
	}
	edit(t, c, growth, func(g *v1alpha1.Team) {
		g.Spec.Providers = []v1alpha1.TeamProvider{{Name: p.Name, Regions: []string{"eu-north-1"}}}
	})
	got = reason(t, c, b, v1alpha1.ReasonRegionNotAllowed)
	if want := "Team growth-lists does not allow region eu-west-1 of provider " + p.Name +
		"; it allows eu-north-1"; !strings.Contains(got.Message, want) {
		t.Errorf("%q does not say %q", got.Message, want)
	}
	edit(t, c, growth, func(g *v1alpha1.Team) {
		g.Spec.Providers[0].Regions = nil
		g.Spec.Defaults = &v1alpha1.TeamDefaults{Tags: v1alpha1.Tags{"b": "team", "c": "team"}}
		g.Spec.Guardrails = &v1alpha1.TeamGuardrails{
			EnforcedTags:     v1alpha1.Tags{"d": "team", "e": "team"},
			ForbiddenTagKeys: []string{"bill*"},
		}
	})
	ready(t, c, b)
	tags := tagsOf(t, outside(t, p.Name), b.Spec.BucketName)
	for key, want := range map[string]string{"a": "provider", "b": "team", "c": "own", "d": "team", "e": "provider"} {
		if tags[key] != want {
			t.Errorf("tag %s is of %s, not of %s", key, tags[key], want)
		}
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Tags["Billing"] = "free" })
	if got := reason(t, c, b, v1alpha1.ReasonTagForbidden); !strings.Contains(
		got.Message, "Team growth-lists keeps for the platform: Billing") {
		t.Errorf("message %q", got.Message)
	}
}

// A Team narrows the lists of an AWSProvider.
func TestATeamNarrowsWhatItsMachinesCanName(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	p := account(t, c, "230000000084")
	withoutAdmission(t, c)
	s := sharedAccount{t, ec2.NewFromConfig(outsideConfig(t, p.Name)), iam.NewFromConfig(outsideConfig(t, p.Name))}
	ours, theirs := s.group("narrow-ours"), s.group("narrow-theirs")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AllowedSecurityGroups, p.Spec.AllowedInstanceProfiles, p.Spec.AllowedKMSKeys = []string{ours, theirs},
			[]string{"*"}, []string{"*"}
	})
	ready(t, c, p)
	growth := newTeam(t, c, "growth-narrows", ns, map[string]any{
		"providers":  []any{map[string]any{"name": p.Name}},
		"guardrails": map[string]any{"allowedInstanceProfiles": []any{"web"}, "allowedImageOwners": []any{"self"}},
	})
	m := machineOf(ns, "profile", func(s *v1alpha1.EC2InstanceSpec) {
		s.ProviderRef.Name, s.IAMInstanceProfile, s.SecurityGroupIDs = p.Name, "deployer", []string{theirs}
	})
	create(t, c, m)
	if got := reason(t, c, m, v1alpha1.ReasonNotAllowed); !strings.Contains(
		got.Message, "the instance profile deployer is not allowed: Team growth-narrows allows web, by "+
			"spec.guardrails.allowedInstanceProfiles.") {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.IAMInstanceProfile = "" })
	await(t, "the image to be refused", func() (bool, string) {
		got := reason(t, c, m, v1alpha1.ReasonNotAllowed)
		return strings.Contains(got.Message, "the image "+m.Spec.ImageID+" of account") &&
				strings.Contains(got.Message,
					"Team growth-narrows allows self, by spec.guardrails.allowedImageOwners."),
			got.Message
	})
	edit(t, c, growth, func(g *v1alpha1.Team) { g.Spec.Guardrails = nil })
	ready(t, c, m)
	edit(t, c, growth, func(g *v1alpha1.Team) {
		g.Spec.Guardrails = &v1alpha1.TeamGuardrails{
			TeamReferences: v1alpha1.TeamReferences{AllowedSecurityGroups: []string{ours}},
		}
	})
	reason(t, c, m, v1alpha1.ReasonNotAllowed)
	edit(t, c, m, func(m *v1alpha1.EC2Instance) { m.Spec.SecurityGroupIDs = []string{ours} })
	ready(t, c, m)
	edit(t, c, growth, func(g *v1alpha1.Team) {
		g.Spec.Guardrails = &v1alpha1.TeamGuardrails{
			TeamReferences: v1alpha1.TeamReferences{AllowedKMSKeys: []string{"alias/ours"}},
		}
	})
	b := bucketOf(ns, "keyed")
	b.Spec.ProviderRef.Name, b.Spec.Encryption = p.Name, &v1alpha1.S3Encryption{
		Algorithm: "aws:kms", KMSKeyID: "alias/theirs",
	}
	create(t, c, b)
	if got := reason(t, c, b, v1alpha1.ReasonNotAllowed); !strings.Contains(
		got.Message, "the KMS key alias/theirs is not allowed: Team growth-narrows allows alias/ours, by "+
			"spec.guardrails.allowedKMSKeys.") {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Encryption.KMSKeyID = "alias/ours" })
	ready(t, c, b)
}

// A web app whose image is forbidden for the team is not rolled out; a running one continues.
func TestImagesOfWebAppsAreOfAllowedRegistries(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	withoutAdmission(t, c)
	growth := newTeam(t, c, "growth-images", ns,
		map[string]any{"guardrails": map[string]any{"allowedImageRegistries": []any{"ghcr.io/shop/*"}}})
	app := appOf(ns, "shop")
	create(t, c, app)
	got := reason(t, c, app, v1alpha1.ReasonNotAllowed)
	if want := "spec.image: registry.example.com/shop:1.0.0 is not allowed: Team growth-images allows " +
		"ghcr.io/shop/*, by spec.guardrails.allowedImageRegistries."; !strings.Contains(got.Message, want) {
		t.Errorf("%q does not say %q", got.Message, want)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(app), &appsv1.Deployment{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is a Deployment: %v", err)
	}
	allow := func(registries ...string) {
		edit(t, c, growth, func(g *v1alpha1.Team) { g.Spec.Guardrails.AllowedImageRegistries = registries })
	}
	allow("ghcr.io/shop/*", "registry.example.com/*")
	ready(t, c, app)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Image = "evil.example/shop:1" })
	reason(t, c, app, v1alpha1.ReasonNotAllowed)
	runs := func() string {
		return child(t, c, app, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image
	}
	if runs() != "registry.example.com/shop:1.0.0" {
		t.Errorf("%s runs", runs())
	}
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Image = "registry.example.com/shop:1.0.0" })
	ready(t, c, app)
	allow("ghcr.io/shop/*")
	reason(t, c, app, v1alpha1.ReasonNotAllowed)
	edit(t, c, app, func(a *v1alpha1.WebApp) { a.Spec.Replicas = new(int32(2)) })
	await(t, "the web app to be looked after", func() (bool, string) {
		n := child(t, c, app, &appsv1.Deployment{}).Spec.Replicas
		return *n == 2 && runs() == "registry.example.com/shop:1.0.0", fmt.Sprint(*n, runs())
	})
	edit(t, c, growth, func(g *v1alpha1.Team) { g.Spec.Guardrails = nil })
	ready(t, c, app)
}

// A new object that breaks a rule does not adopt a resource either; one that is only observed is not limited.
func TestWhatIsOfferedIsNotTakenAgainstARule(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	p := account(t, c, "230000000085")
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.Guardrails = &v1alpha1.Guardrails{RequirePrivateBuckets: true}
	})
	ready(t, c, p)
	withoutAdmission(t, c)
	b := bucketOf(ns, "offered")
	b.Spec.ProviderRef.Name, b.Spec.AdoptionPolicy = p.Name, v1alpha1.AdoptionAdopt
	api := outside(t, p.Name)
	if _, err := api.CreateBucket(
		t.Context(), &s3.CreateBucketInput{
			Bucket: &b.Spec.BucketName, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
				LocationConstraint: "eu-west-1", Tags: []s3types.Tag{
					{Key: aws.String("portico.dev/adopt"), Value: aws.String(ns + "/offered")},
				},
			},
		}); err != nil {
		t.Fatal(err)
	}
	create(t, c, b)
	if got := reason(t, c, b, v1alpha1.ReasonNotAllowed); !strings.Contains(
		got.Message, "leaving it out with adoptionPolicy Adopt is not allowed") {
		t.Errorf("message %q", got.Message)
	}
	if tags := tagsOf(t, api, b.Spec.BucketName); tags["portico.dev/uid"] != "" {
		t.Errorf("it was taken over: %v", tags)
	}
	on := aws.Bool(true)
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Spec.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{
			BlockPublicAcls: on, IgnorePublicAcls: on,
			BlockPublicPolicy: on, RestrictPublicBuckets: on,
		}
	})
	ready(t, c, b)
}
