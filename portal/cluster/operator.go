package cluster

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/hostnames"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/operator"
)

// account is the portal's own ServiceAccount, in its own namespace.
const account = "portico-portal"

// operatorPart implements Operator.
type operatorPart struct {
	kinds     *catalog.Live
	rights    *rights.Rights
	hostnames *hostnames.Hostnames
	operator  *operator.Client
	client    kubernetes.Interface
}

// Checks returns the operator's checks of obj, to a caller who can get obj; others get a *failure.ForbiddenError. If
// the operator does not answer, they are unknown, and that is no error.
func (o *operatorPart) Checks(ctx context.Context, id auth.Identity, obj *unstructured.Unstructured) (
	operator.Checks, error,
) {
	kind, ok := o.kinds.Now().ByName(obj.GetKind())
	if !ok {
		return operator.Checks{}, fmt.Errorf("checks of %s %s: there is no such kind", obj.GetKind(), obj.GetName())
	}
	ref := catalog.Ref{Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := o.rights.RequireOne(ctx, id, "get", ref); err != nil {
		return operator.Checks{}, err
	}
	return o.operator.Of(ctx, operator.Object{
		Kind: kind.Name, Namespace: ref.Namespace, Name: ref.Name, UID: string(obj.GetUID()),
		Version: obj.GetResourceVersion(),
	}), nil
}

// operatorAccess implements operator.Kubernetes with the portal's own rights.
type operatorAccess struct {
	*impersonate.Tokens
	namespace string
}

func newOperatorAccess(client kubernetes.Interface, namespace string, c clock.PassiveClock) operatorAccess {
	return operatorAccess{namespace: namespace, Tokens: &impersonate.Tokens{
		Client: client, Account: types.NamespacedName{Namespace: namespace, Name: account},
		Audiences: []string{operatorapi.Audience}, Clock: c,
	}}
}

// Lease implements operator.Kubernetes.
func (a operatorAccess) Lease(ctx context.Context) (*coordinationv1.Lease, error) {
	lease, err := a.Client.CoordinationV1().Leases(a.namespace).Get(ctx, operatorapi.Lease, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the Lease %s: %w", operatorapi.Lease, err)
	}
	return lease, nil
}

// Token implements operator.Kubernetes.
func (a operatorAccess) Token(ctx context.Context) (string, error) { return a.Current(ctx) }

// Drop implements operator.Kubernetes.
func (a operatorAccess) Drop(token string) { a.Tokens.Drop(token) }

// Features returns which optional parts of the operator are on, for platform admins.
func (o *operatorPart) Features(ctx context.Context, id auth.Identity) (operator.Features, error) {
	if err := o.requirePlatform(ctx, id); err != nil {
		return operator.Features{}, err
	}
	return o.operator.Features(ctx), nil
}

// Controllers returns what the operator's controllers do, for platform admins.
func (o *operatorPart) Controllers(ctx context.Context, id auth.Identity) (operator.Work, error) {
	if err := o.requirePlatform(ctx, id); err != nil {
		return operator.Work{}, err
	}
	return o.operator.Work(ctx), nil
}

// CallHistory returns the operator's AWS calls of the last hour, as this replica of the portal has recorded them, for
// platform admins.
func (o *operatorPart) CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error) {
	if err := o.requirePlatform(ctx, id); err != nil {
		return nil, err
	}
	return o.operator.History(), nil
}

// requirePlatform returns a *failure.ForbiddenError unless the caller can list claims, which belong to no team: a
// platform admin.
func (o *operatorPart) requirePlatform(ctx context.Context, id auth.Identity) error {
	kind, ok := o.kinds.Now().ByName(hostnames.ClaimKind)
	if !ok {
		return errors.New("there is no kind " + hostnames.ClaimKind)
	}
	return o.rights.RequireRight(ctx, id, rights.To("list", kind, ""))
}
