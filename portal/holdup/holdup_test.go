package holdup

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/operator"
)

// namespace is a cluster with the namespace payments: an AWS account, its resources, and databases.
type namespace struct {
	kinds    catalog.Catalog
	notReady bool
	has      operator.Offers
	asked    []string // fields of which the account's list was read
}

func (n *namespace) parts() *cluster.Cluster {
	return &cluster.Cluster{
		Kinds: catalog.NewLive(n.kinds), Objects: objects{namespace: n}, Teams: ofTeam{namespace: n}, Operator: ofOperator{namespace: n},
	}
}

type (
	objects struct {
		cluster.Objects
		*namespace
	}
	ofTeam struct {
		cluster.Teams
		*namespace
	}
	ofOperator struct {
		cluster.Operator
		*namespace
	}
)

func (n objects) Get(_ context.Context, _ auth.Identity, ref catalog.Ref) (*unstructured.Unstructured, error) {
	switch ref.Name {
	case "orders", "legacy":
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": ref.Name}}}, nil
	case "leaving":
		return &unstructured.Unstructured{
			Object: map[string]any{"metadata": map[string]any{
				"name": ref.Name, "deletionTimestamp": "2026-01-01T00:00:00Z",
			}},
		}, nil
	case "secret":
		return nil, &failure.ForbiddenError{}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: ref.Kind.Plural}, ref.Name)
}

func (n ofOperator) OwnUsers(_ context.Context, database *unstructured.Unstructured) (can bool, why string, err error) {
	if database.GetName() == "legacy" {
		return false, "Portico makes no users in the engine sqlserver-ex", nil
	}
	return true, "", nil
}

func (n ofTeam) Providers(context.Context, auth.Identity, catalog.Kind, string) ([]teams.Provider, error) {
	return []teams.Provider{{Name: "aws-prod", Region: "eu-west-1", Ready: !n.notReady}}, nil
}

func (n ofOperator) Offers(_ context.Context, _ auth.Identity, _ catalog.Kind, q operatorapi.OfferQuery) (
	operator.Offers, error,
) {
	n.asked = append(n.asked, q.Field)
	return n.has, nil
}

func listed(values ...string) operator.Offers {
	has := operator.Offers{Known: true}
	for _, v := range values {
		has.Items = append(has.Items, operatorapi.Offer{Value: v})
	}
	return has
}

func TestWhatHoldsAnObjectUpIsSaid(t *testing.T) {
	const machine = "kind: EC2Instance\nspec: {providerRef: {name: aws-prod}, imageID: ami-1, subnetID: subnet-1, " +
		"securityGroupIDs: [sg-1, sg-2]}"
	pending := listed()
	pending.Pending = true
	for name, row := range map[string]struct {
		object string
		in     namespace
		want   []string
		asked  []string
	}{
		"all is there": {machine, namespace{has: listed("subnet-1", "sg-1", "sg-2")}, nil, []string{"securityGroupIDs", "subnetID"}},
		"no such groups": {
			machine,
			namespace{has: listed("subnet-1")},
			[]string{
				"spec.securityGroupIDs: the AWS account aws-prod has no sg-1 that Payments can use, by a list " +
					"that is five minutes old at most. Choose another one, or ask a platform admin to allow it.",
				"spec.securityGroupIDs: the AWS account aws-prod has no sg-2 that Payments can use, by a list that " +
					"is five minutes old at most. Choose another one, or ask a platform admin to allow it.",
			},
			[]string{"securityGroupIDs", "subnetID"},
		},
		"AWS does not answer": {machine, namespace{has: pending}, nil, []string{"securityGroupIDs", "subnetID"}},
		"no operator":         {machine, namespace{}, nil, []string{"securityGroupIDs", "subnetID"}},
		"not ready":           {machine, namespace{notReady: true}, []string{"The AWS account aws-prod is not ready: it waits until a platform admin has repaired that."}, nil},
		"another account": {
			"kind: S3Bucket\nspec: {providerRef: {name: aws-other}}",
			namespace{},
			[]string{"Payments cannot use an AWS account aws-other: choose another one, or ask a platform admin to " +
				"open it."},
			nil,
		},
		"another region": {
			"kind: S3Bucket\nspec: {providerRef: {name: aws-prod}, region: ap-south-1}",
			namespace{},
			[]string{"The AWS account aws-prod allows eu-west-1, and not ap-south-1."},
			nil,
		},
		"not there": {
			"kind: DatabaseUser\nspec: {databaseRef: {name: nowhere}}",
			namespace{},
			[]string{"It names the database nowhere, which is not there yet: it waits until somebody requests it."},
			nil,
		},
		"being deleted": {"kind: DatabaseUser\nspec: {databaseRef: {name: leaving}}", namespace{}, []string{"It names the database leaving, which is being deleted."}, nil},
		"hidden":        {"kind: DatabaseUser\nspec: {databaseRef: {name: secret}}", namespace{}, nil, nil},
		"users":         {"kind: DatabaseUser\nspec: {databaseRef: {name: orders}}", namespace{}, nil, nil},
		"no users": {
			"kind: DatabaseUser\nspec: {databaseRef: {name: legacy}}",
			namespace{},
			[]string{"It needs a user of its own in the database legacy, and there can be none: Portico makes no " +
				"users in the engine sqlserver-ex."},
			nil,
		},
		"an app's own user": {
			"kind: WebApp\nspec: {bindings: [{kind: RDSInstance, name: legacy, user: Own}]}",
			namespace{},
			[]string{"It needs a user of its own in the database legacy, and there can be none: Portico " +
				"makes no users in the engine sqlserver-ex."},
			nil,
		},
		"the master": {"kind: WebApp\nspec: {bindings: [{kind: RDSInstance, name: legacy, user: Master}]}", namespace{}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(row.object), &obj.Object); err != nil {
				t.Fatal(err)
			}
			row.in.kinds = catalogtest.Kinds(t)
			kind, ok := row.in.kinds.ByName(obj.GetKind())
			if !ok {
				t.Fatalf("no kind %s", obj.GetKind())
			}
			got, err := Finder{Cluster: row.in.parts(), Kind: kind, Namespace: "payments", Team: "Payments"}.Find(
				t.Context(), obj)
			if err != nil || !slices.Equal(got, row.want) {
				t.Errorf("got %q, %v; want %q", got, err, row.want)
			}
			slices.Sort(row.in.asked)
			if !slices.Equal(row.in.asked, row.asked) {
				t.Errorf("asked AWS of %q, want %q", row.in.asked, row.asked)
			}
		})
	}
}
