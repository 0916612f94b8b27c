package impersonate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/config/check"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// nobody is a user without rights, in a group without rights.
const nobody = "portico:nobody"

// Check returns a check of whether writes as users work, by a dry run as a user without rights: the API server checks
// the impersonation first and then refuses the user. Any other refusal is about the impersonation itself.
func (w *Impersonator) Check(kinds *catalog.Live) func(context.Context) ([]check.Problem, error) {
	return func(ctx context.Context) ([]check.Problem, error) { return w.try(ctx, kinds.Now()) }
}

func (w *Impersonator) try(ctx context.Context, kinds catalog.Catalog) ([]check.Problem, error) {
	at := slices.IndexFunc(kinds, func(k catalog.Kind) bool { return k.Own() && k.Namespaced && k.KeptBy == "" })
	if at < 0 {
		return nil, nil // the catalog is not read yet: the portal is not ready, and this is tried again
	}
	kind := kinds[at]
	client, _, err := w.ClientFor(ctx, auth.Identity{Username: nobody, Groups: []string{nobody}})
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind.GVK())
	obj.SetName("impersonation-probe")
	_, err = client.Resource(kind.Resource).Namespace(metav1.NamespaceDefault).Create(ctx, obj,
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return w.problemsOf(err)
}

// problemsOf returns what is wrong with the impersonation, from the error of a write as a user without rights.
func (w *Impersonator) problemsOf(err error) ([]check.Problem, error) {
	var status apierrors.APIStatus
	problem := check.Problem{
		Object: "ServiceAccount " + w.Tokens.Account.String(), Says: "has no right to act as users",
		Fix: "run portico check --fix as a cluster admin",
	}
	refused, minting := errors.AsType[*mintError](err)
	switch {
	case minting && refused.refused:
		problem.Says = "gives the portal no token"
		return []check.Problem{problem}, nil
	case err == nil, apierrors.IsInvalid(err):
		return nil, nil // a binding lets every user create; the impersonation worked
	case !errors.As(err, &status):
		return nil, fmt.Errorf("try to act as a user: %w", err)
	case apierrors.IsUnauthorized(err) || w.blames(status.Status().Message):
		return []check.Problem{problem}, nil
	case apierrors.IsForbidden(err):
		return nil, nil
	}
	return nil, fmt.Errorf("try to act as a user: %w", err)
}
