package teams

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Provider is an AWS account that a namespace can use.
type Provider struct {
	Name           string
	AccountID      string
	Region         string
	AllowedRegions []string
	Ready          bool
	Message        string // of the Ready condition
	// Guardrails are the provider's.
	Guardrails guardrails.Limits
}

// Regions returns the regions that the namespace can choose.
func (p Provider) Regions() []string {
	if len(p.AllowedRegions) == 0 {
		return []string{p.Region}
	}
	return p.AllowedRegions
}

// Providers returns the AWSProviders whose allowedNamespaces select the namespace, by name. It fails closed: a provider
// without a selector, or with one that does not parse, is left out. The caller needs no right to AWSProviders, only the
// right to create or list objects of the kind in the namespace.
func (t *Teams) Providers(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	[]Provider, error,
) {
	if err := t.rights.RequireInterest(ctx, id, k, namespace); err != nil {
		return nil, err
	}
	kind, ok := t.feed.Kinds.Now().ByName("AWSProvider")
	if !ok {
		return nil, nil
	}
	metas, err := t.feed.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(metas, func(n metav1.PartialObjectMetadata) bool { return n.Name == namespace })
	if i < 0 {
		return nil, nil
	}
	items, err := t.feed.Objects(ctx, kind, "")
	if err != nil {
		return nil, err
	}
	team, err := t.teamOf(ctx, metas[i])
	if err != nil {
		return nil, err
	}
	var out []Provider
	for _, item := range items {
		if selects(item, metas[i].Labels) && team.narrow(item.GetName()) != nil {
			p := providerOf(item)
			p.AllowedRegions = team.narrow(p.Name)(p.AllowedRegions)
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Provider) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// selects reports whether the provider's allowedNamespaces match a namespace with these labels.
func selects(provider *unstructured.Unstructured, of map[string]string) bool {
	raw, ok, err := unstructured.NestedMap(provider.Object, "spec", "allowedNamespaces")
	if err != nil || !ok {
		return false
	}
	var sel metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &sel); err != nil {
		return false
	}
	s, err := metav1.LabelSelectorAsSelector(&sel)
	return err == nil && s.Matches(labels.Set(of))
}

func providerOf(obj *unstructured.Unstructured) Provider {
	p := Provider{Name: obj.GetName()}
	p.Region, _, _ = unstructured.NestedString(obj.Object, "spec", "region")
	p.AllowedRegions, _, _ = unstructured.NestedStringSlice(obj.Object, "spec", "allowedRegions")
	p.AccountID, _, _ = unstructured.NestedString(obj.Object, "status", "accountID")
	rules, _, _ := unstructured.NestedMap(obj.Object, "spec", "guardrails")
	p.Guardrails = guardrails.Limits{By: "AWSProvider " + p.Name, Rules: rules}
	p.Ready, _, _ = unstructured.NestedBool(obj.Object, "status", "ready")
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Ready" {
			p.Message, _ = m["message"].(string)
		}
	}
	return p
}
