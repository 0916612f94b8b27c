//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	entries "github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/controllers/apply"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/tiers"
)

// texts returns the paths of all strings in a schema that a user can choose freely.
func texts(at string, s *apiextensionsv1.JSONSchemaProps) []string {
	if s.Type == "string" && len(s.Enum) == 0 {
		return []string{at}
	}
	var all []string
	for name := range maps.Keys(s.Properties) {
		p := s.Properties[name]
		all = append(all, texts(strings.TrimPrefix(at+"."+name, "."), &p)...)
	}
	if s.Items != nil {
		all = append(all, texts(at+"[]", s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, texts(at+"{}", s.AdditionalProperties.Schema)...)
	}
	return all
}

// Every name that a spec can have is either in the table of broken references, or known to refer to nothing but the
// object.
func TestTheTableOfReferencesIsWhole(t *testing.T) {
	all, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for i := range all {
		one := &all[i]
		kind := one.Spec.Names.Kind
		kinds = append(kinds, kind)
		spec := crd.Spec(one)
		have := texts("", &spec)
		var unique []string
		for _, field := range entries.Of(one).Form.Unique {
			unique = append(unique, string(field))
		}
		known := plain(kind, unique)
		for _, x := range astray() {
			if x.kind == kind {
				known = append(known, x.path)
			}
		}
		for _, path := range have {
			if !slices.Contains(known, path) {
				t.Errorf("%s: spec.%s is new: if it names something that may be missing add it to astray of its "+
					"specimen, else to plain", kind, path)
			}
		}
		for _, path := range known {
			if !slices.Contains(have, path) {
				t.Errorf("%s: there is no spec.%s", kind, path)
			}
		}
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, controllers.Kinds()) {
		t.Errorf("kinds %v, want %v", kinds, controllers.Kinds())
	}
}

// journey is an environment in which every kind can be requested.
type journey struct {
	t *testing.T
	c client.Client
	domain
	keys   *v1alpha1.AWSProvider // a working provider
	astray []stray
}

func newJourney(t *testing.T) journey {
	t.Helper()
	c := admin(t)
	withoutAdmission(t, c) // it would refuse a region at once
	startOperator(t, operatorOptions{newClient: live})
	return journey{
		t, c, domainOf(t, c),
		newRightsAccount(t, c, "240000000001", v1alpha1.WorkloadIdentityPodIdentity).provider, astray(),
	}
}

// object returns an object of the kind with only the required fields, and the given spec merged into it.
func (j journey) object(kind, name, spec string) engine.Object {
	j.t.Helper()
	var o engine.Object
	for _, s := range specimens() {
		if s.kind == kind {
			o = s.object(j.ns, name)
		}
	}
	switch kind {
	case "WebApp":
		o = appOf(j.ns, name)
	case "AccessBinding":
		hands(j.t, j.c, j.ns, name)
		o = &v1alpha1.AccessBinding{ObjectMeta: meta1(j.ns, name), Spec: v1alpha1.AccessBindingSpec{
			ProviderRef: v1alpha1.LocalRef{Name: j.keys.Name}, ServiceAccountName: name,
		}}
	case "DatabaseUser":
		o = &v1alpha1.DatabaseUser{ObjectMeta: meta1(j.ns, name), Spec: v1alpha1.DatabaseUserSpec{
			DatabaseRef: v1alpha1.LocalRef{Name: "ledger"},
		}}
	case "GatewayHostnameRequest":
		o = &v1alpha1.GatewayHostnameRequest{ObjectMeta: meta1(j.ns, name), Spec: v1alpha1.GatewayHostnameRequestSpec{
			ProviderRef: sampleProvider().ProviderRef, Hostname: name + "." + j.name, ZoneID: v1alpha1.HostedZoneID(
				j.zone),
		}}
	case "AWSProvider":
		o = &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: j.ns + "-" + name}, Spec: *j.keys.Spec.DeepCopy()}
		j.t.Cleanup(func() { forget(j.t, j.c, o.GetName()) })
	case "CatalogEntry":
		o = widgetEntry()
	case "DeployPolicy":
		o = &v1alpha1.DeployPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DeployPolicyName},
			Spec: v1alpha1.DeployPolicySpec{Issuers: []v1alpha1.DeployIssuer{{
				Name: "github", Type: v1alpha1.IssuerGitHub, Owners: []v1alpha1.DeployOwner{{ID: "65", Name: "acme"}},
			}}},
		}
	case "Team":
		o = &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: j.ns + "-" + name}}
		j.t.Cleanup(func() { dismiss(j.t, j.c, o.(*v1alpha1.Team)) })
	case "HostnameGrant":
		o = &v1alpha1.HostnameGrant{
			ObjectMeta: meta1(team(j.t, j.c), v1alpha1.HostnameGrantName), Spec: v1alpha1.HostnameGrantSpec{
				Suffixes: []string{"nobodys.example"},
			},
		}
	case "PoolGateway":
		o = &v1alpha1.PoolGateway{ObjectMeta: meta1(gateways, j.ns+"-"+name), Spec: v1alpha1.PoolGatewaySpec{
			Visibility: "internal", GatewayClass: controllers.DefaultGatewayClass,
			ProviderRef: sampleProvider().ProviderRef,
			AccountID:   "123456789012", Region: "eu-west-1",
		}}
	case "DomainClaim":
		o = &v1alpha1.DomainClaim{
			ObjectMeta: metav1.ObjectMeta{Name: name + "." + j.name},
			Spec: v1alpha1.DomainClaimSpec{
				Hostname: name + "." + j.name, Visibility: "internal", Gateway: "none",
				Holder: v1alpha1.ClaimHolder{Namespace: j.ns, Name: "nobody", UID: "00000000-0000-0000-0000-000000000000"},
			},
		}
	}
	j.lay(o, spec)
	return o
}

// lay merges JSON into the object's spec; null removes a field.
func (j journey) lay(o client.Object, spec string) {
	j.t.Helper()
	if err := json.Unmarshal([]byte(`{"spec":`+spec+`}`), o); err != nil {
		j.t.Fatal(err)
	}
}

// lost checks that nothing of the object is left in AWS.
func (j journey) lost(t *testing.T, kind string, uid types.UID) {
	t.Helper()
	for _, s := range specimens() {
		if s.kind != kind {
			continue
		}
		if left := s.owned(t, string(uid)); len(left) != 0 {
			t.Errorf("left in AWS: %v", left)
		}
	}
}

// nothingLeft waits until nothing of Portico is left in the namespace, or in AWS for its domain.
func (j journey) nothingLeft(t *testing.T) {
	t.Helper()
	await(t, "nothing to be left", func() (bool, string) {
		var left []string
		for _, list := range []client.ObjectList{
			&corev1.SecretList{}, &corev1.ServiceList{},
			&corev1.ServiceAccountList{}, &appsv1.DeploymentList{},
		} {
			if err := j.c.List(t.Context(), list, client.InNamespace(j.ns), client.MatchingLabels{
				apply.Label: apply.LabelValue,
			}); err != nil {
				return false, err.Error()
			}
			_ = meta.EachListItem(list, func(o runtime.Object) error {
				left = append(left, fmt.Sprintf("%T %s", o, o.(client.Object).GetName()))
				return nil
			})
		}
		left = slices.Concat(left, claimsOf(t, j.c, j.ns), j.records(), j.certificates())
		return len(left) == 0, fmt.Sprint(left)
	})
}

// begin creates all objects of the stage before it waits for any.
func (j journey) begin(stage string, some func(stray) bool, spec func(stray) string) map[int]engine.Object {
	j.t.Helper()
	all := map[int]engine.Object{}
	for i, x := range j.astray {
		if some(x) {
			all[i] = j.object(x.kind, fmt.Sprintf("%s-%d", stage, i), spec(x))
			create(j.t, j.c, all[i])
		}
	}
	return all
}

// end deletes all objects before it waits for any, and checks that nothing is left of them.
func (j journey) end(stage string, all map[int]engine.Object) {
	j.t.Helper()
	for _, o := range all {
		if err := erase(j.t, j.c, o); client.IgnoreNotFound(err) != nil {
			j.t.Fatal(err)
		}
	}
	for i, o := range all {
		uid := o.GetUID()
		j.row(stage, i, func(t *testing.T) {
			t.Helper()
			awaitGone(t, j.c, o)
			j.lost(t, j.astray[i].kind, uid)
		})
	}
}

func (j journey) row(stage string, i int, do func(*testing.T)) {
	j.t.Helper()
	j.t.Run(fmt.Sprintf("%s/%s/%s/%d", stage, j.astray[i].kind, j.astray[i].path, i), do)
}

// A deletion never waits for what was never created, or for what it does not need, regardless of what is missing or
// mistyped, and at any stage.
func TestNothingThatLeadsAstrayHoldsUpADeletion(t *testing.T) {
	tiers.Long(t)
	j := newJourney(t)
	create(t, j.c, &corev1.Secret{ObjectMeta: meta1(j.ns, "there"), StringData: map[string]string{
		"password": "long-enough-1",
	}})
	create(t, j.c, &corev1.ConfigMap{ObjectMeta: meta1(j.ns, "there"), Data: map[string]string{"script": "true"}})
	create(t, j.c, keysOf("there", "there"))
	every, editable := func(stray) bool { return true }, func(x stray) bool { return x.edited }
	asked, nothing := func(x stray) string { return x.spec }, func(stray) string { return "{}" }

	if tiers.EveryCase() {
		j.end("at once", j.begin("once", every, asked))
	}
	blocked, edited := j.begin("blocked", every, asked), j.begin("edited", editable, nothing)
	for i, o := range blocked {
		if j.astray[i].reason != "" {
			j.row("blocked", i, func(t *testing.T) {
				t.Helper()
				reason(t, j.c, o, j.astray[i].reason)
			})
		}
	}
	j.end("blocked", blocked)
	for _, o := range edited {
		ready(t, j.c, o)
	}
	for i, o := range edited {
		j.row("edited", i, func(t *testing.T) {
			t.Helper()
			edit(t, j.c, o, func(o engine.Object) { j.lay(o, j.astray[i].spec) })
			reason(t, j.c, o, j.astray[i].reason)
		})
	}
	j.end("edited", edited)
	j.nothingLeft(t)
}
