package pool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// maxGateways bounds the names, gw-00 to gw-99.
const maxGateways = 100

// Allocator finds a PoolGateway for a new hostname.
type Allocator struct {
	Client    client.Client
	APIReader client.Reader
	Namespace string // of PoolGateways
}

// Allocate returns the first PoolGateway of this kind that has room for the budget in addition to the claims, or
// creates one. The caller checks again that the room is still there before it takes it.
func (a Allocator) Allocate(ctx context.Context, want v1alpha1.PoolGatewaySpec, budget v1alpha1.LoadBalancerBudget,
	claims []v1alpha1.DomainClaimSpec,
) (string, error) {
	list := &v1alpha1.PoolGatewayList{}
	if err := a.APIReader.List(ctx, list, client.InNamespace(a.Namespace)); err != nil {
		return "", fmt.Errorf("list the PoolGateways: %w", err)
	}
	slices.SortFunc(list.Items, func(x, y v1alpha1.PoolGateway) int { return strings.Compare(x.Name, y.Name) })
	names := map[string]bool{}
	// A Gateway removed by force leaves its name to its hostnames: one created later may be of another kind.
	for _, c := range claims {
		names[c.Gateway] = true
	}
	for i := range list.Items {
		one := &list.Items[i]
		names[one.Name] = true
		if fits(one, want) && hasRoom(one, budget, claims) {
			return one.Name, nil
		}
	}
	for n := range maxGateways {
		if name := fmt.Sprintf("gw-%02d", n); !names[name] {
			made := &v1alpha1.PoolGateway{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: name}, Spec: want}
			if err := a.Client.Create(ctx, made, client.FieldOwner("portico")); err != nil {
				return "", fmt.Errorf("create the PoolGateway %s: %w", name, err)
			}
			return name, nil
		}
	}
	return "", engine.Blocked(v1alpha1.ReasonPoolFull, "all %d Gateways of the pool are full; ask a platform admin",
		maxGateways)
}

// fits reports whether hostnames of this kind can be on the Gateway. The provider need not match: the account decides.
func fits(g *v1alpha1.PoolGateway, want v1alpha1.PoolGatewaySpec) bool {
	have := g.Spec
	have.ProviderRef = want.ProviderRef
	return have == want && g.DeletionTimestamp.IsZero()
}

// hasRoom reports whether the Gateway has room for the budget. It checks the reservations, and also the actual counts:
// somebody may have added rules by hand.
func hasRoom(g *v1alpha1.PoolGateway, budget v1alpha1.LoadBalancerBudget, claims []v1alpha1.DomainClaimSpec) bool {
	return HasPlace(g.Name, budget, claims) && int(g.Status.Certificates) < v1alpha1.PoolHostnames &&
		g.Status.Rules < v1alpha1.PoolRules && g.Status.TargetGroups < v1alpha1.PoolTargetGroups
}

// HasPlace reports whether the claims leave a place and the budget on the Gateway.
func HasPlace(gateway string, budget v1alpha1.LoadBalancerBudget, claims []v1alpha1.DomainClaimSpec) bool {
	taken := 0
	for i := range claims {
		if claims[i].Gateway == gateway {
			taken++
		}
	}
	return taken < v1alpha1.PoolHostnames && budget.Within(Room(gateway, claims))
}

// Room returns what no claim has reserved of the Gateway's load balancer.
func Room(gateway string, claims []v1alpha1.DomainClaimSpec) v1alpha1.LoadBalancerBudget {
	room := v1alpha1.LoadBalancerBudget{
		Rules:        v1alpha1.PoolRules - v1alpha1.PoolOwnRules,
		TargetGroups: v1alpha1.PoolTargetGroups,
	}
	for i := range claims {
		if claims[i].Gateway == gateway {
			kept := claims[i].Reserved()
			room.Rules, room.TargetGroups = room.Rules-kept.Rules, room.TargetGroups-kept.TargetGroups
		}
	}
	return room
}
