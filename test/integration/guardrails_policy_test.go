//go:build integration

package integration

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/guardrails/guardrailstest"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/tiers"
)

// newAccount creates an AWSProvider that this namespace can use, without a check of its credentials.
func newAccount(t *testing.T, c client.Client, name string, spec map[string]any) {
	t.Helper()
	all := map[string]any{"region": "eu-west-1", "allowedNamespaces": map[string]any{}}
	maps.Copy(all, spec)
	p := &unstructured.Unstructured{Object: map[string]any{"spec": all}}
	p.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindAWSProvider))
	p.SetName(name)
	create(t, c, p)
	t.Cleanup(func() { release(context.Background(), t, c, p) })
}

// newTeam creates a Team and assigns the namespace to it, as the operator does. mayUse are the AWSProviders that the
// namespace can use.
func newTeam(t *testing.T, c client.Client, name, ns string, spec map[string]any,
	mayUse ...v1alpha1.AWSProvider,
) *v1alpha1.Team {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindTeam))
	obj.SetName(name)
	if spec["namespaces"] == nil {
		spec["namespaces"] = []any{map[string]any{"name": ns}}
	}
	create(t, c, obj)
	team := &v1alpha1.Team{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, team); err != nil {
		t.Fatal(err)
	}
	edit(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, func(n *corev1.Namespace) {
		if n.Annotations == nil {
			n.Annotations = map[string]string{}
		}
		n.Labels[v1alpha1.LabelTeam], n.Labels[v1alpha1.LabelAWS] = name, v1alpha1.AWSAllowed
		n.Annotations[v1alpha1.AnnotationTeamUID], n.Annotations[v1alpha1.AnnotationGuardrails] = string(team.UID),
			guardrails.Note(team, mayUse...)
	})
	t.Cleanup(func() { disband(t, c, team, ns) })
	return team
}

func objectOf(kind, ns, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	obj.SetNamespace(ns)
	obj.SetName(name)
	return obj
}

// disband deletes a Team with the objects of its namespace: a Team with resources is not deleted.
func disband(t *testing.T, c client.Client, team *v1alpha1.Team, ns string) {
	t.Helper()
	abandon(t, c, ns)
	ctx := context.Background() // the test's own context is cancelled
	await(t, "the Team "+team.Name+" to be deleted", func() (bool, string) {
		_ = c.Patch(ctx, team, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		err := c.Delete(ctx, team)
		return client.IgnoreNotFound(err) == nil, fmt.Sprint(err)
	})
}

// The API server refuses what the table refuses, with the same messages: each case by an AWSProvider in a namespace
// without a team, by a Team, and by an AWSProvider of a Team.
func TestAdmissionRefusesWhatTheTableRefuses(t *testing.T) {
	tiers.Long(t)
	c := admin(t)
	ns := team(t, c)
	for n, row := range guardrailstest.Cases {
		name := fmt.Sprintf("guard-%d", n)
		if !row.Team {
			newAccount(t, c, name, map[string]any{"guardrails": row.Limits()})
			refusedAtAdmission(t, c, objectOf(row.Kind, ns, "a", row.Object(name)), row, "AWSProvider "+name)
			var p v1alpha1.AWSProvider
			if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &p); err != nil {
				t.Fatal(err)
			}
			of := team(t, c)
			newTeam(t, c, name+"-lists", of, map[string]any{"providers": []any{map[string]any{"name": name}}}, p)
			refusedAtAdmission(t, c, objectOf(row.Kind, of, "a", row.Object(name)), row, "AWSProvider "+name)
		}
		of := team(t, c)
		newTeam(t, c, name, of, map[string]any{
			"guardrails": row.Limits(), "providers": []any{map[string]any{"name": "any"}},
		})
		refusedAtAdmission(t, c, objectOf(row.Kind, of, "a", row.Object("any")), row, "Team "+name)
	}
}

// refusedAtAdmission waits for the message of a refusal. To check that something is allowed, it first waits until an
// object that must be refused is.
func refusedAtAdmission(t *testing.T, c client.Client, obj *unstructured.Unstructured, row guardrailstest.Case,
	by string,
) {
	t.Helper()
	limits := guardrails.Limits{By: by, Rules: row.Limits()}
	want := ""
	if found := guardrails.Check(row.Kind, row.Object("any"), limits); len(found) > 0 {
		want = found[0].Message
	}
	if want == "" {
		known(t, c, obj, by)
	}
	await(t, row.String()+" by "+by, func() (bool, string) {
		err := c.Create(t.Context(), obj.DeepCopy(), client.DryRunAll)
		if want == "" {
			return err == nil, fmt.Sprint(err)
		}
		return apierrors.IsInvalid(err) && strings.HasSuffix(err.Error(), "denied request: "+want), fmt.Sprint(err) +
			", want " + want
	})
}

// known waits until the API server judges by the AWSProvider or Team, which refuses something that it does not allow
// at all.
func known(t *testing.T, c client.Client, obj *unstructured.Unstructured, by string) {
	t.Helper()
	probe := bucketOf(obj.GetNamespace(), "probe")
	says := "does not allow region ap-south-9"
	if name, ok := strings.CutPrefix(by, "AWSProvider "); ok {
		probe.Spec.ProviderRef.Name, probe.Spec.Region = name, "ap-south-9"
	} else {
		probe.Spec.ProviderRef.Name, says = "unlisted", "there is no AWSProvider unlisted that namespace "+
			obj.GetNamespace()+" may use"
	}
	await(t, by+" to be known", func() (bool, string) {
		err := c.Create(t.Context(), probe.DeepCopy(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), says), fmt.Sprint(err)
	})
}

// The API server keeps the same keys of tags for the platform as the operator.
func TestAdmissionKeepsTheTagsThatTheOperatorKeeps(t *testing.T) {
	c := admin(t)
	free, ofTeam, listed := team(t, c), team(t, c), team(t, c)
	rules := guardrails.OfTeam(&v1alpha1.Team{Spec: v1alpha1.TeamSpec{Guardrails: &v1alpha1.TeamGuardrails{
		ForbiddenTagKeys: guardrailstest.ForbiddenTagKeys, EnforcedTags: guardrailstest.EnforcedTags,
	}}}).Rules
	newAccount(t, c, "tags-strict", rules)
	newAccount(t, c, "tags-open", map[string]any{})
	newTeam(t, c, "tags-rules", ofTeam, map[string]any{
		"guardrails": rules, "providers": []any{map[string]any{"name": "tags-open"}},
	}, providerNamed(t, c, "tags-open"))
	newTeam(t, c, "tags-lists", listed, map[string]any{"providers": []any{map[string]any{"name": "tags-strict"}}},
		providerNamed(t, c, "tags-strict"))
	for _, row := range []struct{ ns, provider, by string }{
		{free, "tags-strict", "AWSProvider tags-strict"},
		{ofTeam, "tags-open", "Team tags-rules"},
		{listed, "tags-strict", "AWSProvider tags-strict"},
	} {
		for key, kept := range guardrailstest.TagKeys {
			b := bucketOf(row.ns, "tagged")
			b.Spec.ProviderRef.Name, b.Spec.Tags = row.provider, v1alpha1.Tags{key: "own"}
			says := ""
			if kept {
				says = "denied request: spec.tags: " + row.by + " keeps these keys for the platform: " + key + ". "
			}
			judgedAtAdmission(t, c, b, row.by, says)
		}
	}
}

// The API server refuses the same regions as the operator.
func TestAdmissionRefusesTheRegionsThatTheOperatorRefuses(t *testing.T) {
	c := admin(t)
	free := team(t, c)
	newAccount(t, c, "regions", map[string]any{
		"region": guardrailstest.Region, "allowedRegions": guardrailstest.AllowedRegions,
	})
	for n, row := range guardrailstest.Regions {
		of, name := team(t, c), fmt.Sprintf("regions-%d", n)
		lists := map[string]any{"name": "regions"}
		if row.Team != nil {
			lists["regions"] = row.Team
		}
		newTeam(t, c, name, of, map[string]any{"providers": []any{lists}}, providerNamed(t, c, "regions"))
		says := map[string]string{
			"provider": "spec.region: provider regions does not allow region " + row.Region + "; it allows ",
			"Team":     "spec.region: Team " + name + " does not allow region " + row.Region + " of provider regions; it allows ",
		}[row.Refused]
		b := bucketOf(of, "regional")
		b.Spec.ProviderRef.Name, b.Spec.Region = "regions", row.Region
		judgedAtAdmission(t, c, b, "Team "+name, says)
		if row.Team == nil {
			b.Namespace = free
			judgedAtAdmission(t, c, b, "AWSProvider regions", says)
		}
	}
}

// judgedAtAdmission waits until the API server judges by the AWSProvider or Team, then compares what it says of the
// object; "" is nothing.
func judgedAtAdmission(t *testing.T, c client.Client, b *v1alpha1.S3Bucket, by, says string) {
	t.Helper()
	known(t, c, objectOf(v1alpha1.KindS3Bucket, b.Namespace, b.Name, nil), by)
	err := c.Create(t.Context(), b.DeepCopy(), client.DryRunAll)
	if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("%v in %s of %s: %v, want %q", b.Spec.Tags, b.Spec.Region, b.Spec.ProviderRef.Name, err, says)
	}
}

// An edit that moves an object to another account or region is judged by the guardrails there, like a creation.
func TestAdmissionJudgesWhatMovesLikeWhatIsNew(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	newAccount(t, c, "moves-wide", map[string]any{"allowedRegions": []any{"eu-west-1", "eu-north-1"}})
	newAccount(t, c, "moves-narrow", map[string]any{"guardrails": map[string]any{"requireEncryption": true}})
	newAccount(t, c, "moves-closed", map[string]any{})
	newTeam(t, c, "moves", ns, map[string]any{
		"providers": []any{map[string]any{"name": "moves-wide"}, map[string]any{"name": "moves-narrow"}},
	},
		providerNamed(t, c, "moves-wide"), providerNamed(t, c, "moves-narrow"))
	b := bucketOf(ns, "mover")
	b.Spec.ProviderRef.Name, b.Spec.RequireTLS = "moves-wide", new(false)
	create(t, c, b)
	for name, row := range map[string]struct {
		patch, says string // "" is allowed
	}{
		"another region":           {`{"spec":{"region":"eu-north-1"}}`, ""},
		"a region nobody has":      {`{"spec":{"region":"ap-south-9"}}`, "does not allow region ap-south-9"},
		"an account of no use":     {`{"spec":{"providerRef":{"name":"moves-closed"}}}`, "there is no AWSProvider moves-closed"},
		"a narrower account":       {`{"spec":{"providerRef":{"name":"moves-narrow"}}}`, "spec.requireTLS"},
		"to what it allows there":  {`{"spec":{"providerRef":{"name":"moves-narrow"},"requireTLS":true}}`, ""},
		"a field, where it stands": {`{"spec":{"tags":{"a":"b"}}}`, ""},
	} {
		await(t, name, func() (bool, string) {
			err := c.Patch(t.Context(), b.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(row.patch)),
				client.DryRunAll)
			return row.says == "" && err == nil || row.says != "" && err != nil && strings.Contains(
				err.Error(), row.says), fmt.Sprint(err)
		})
	}
}

func providerNamed(t *testing.T, c client.Client, name string) v1alpha1.AWSProvider {
	t.Helper()
	p := v1alpha1.AWSProvider{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &p); err != nil {
		t.Fatal(err)
	}
	return p
}
