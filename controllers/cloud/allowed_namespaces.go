package cloud

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// checkNamespace checks allowedNamespaces, and that the namespace's team lists the provider. The error names the
// provider only if the object already has something there.
func checkNamespace(p *v1alpha1.AWSProvider, namespace *metav1.PartialObjectMetadata, u ProviderUse) error {
	if u.Deleting || u.Platform {
		return nil
	}
	allowed, err := AllowsNamespace(p, namespace.Labels)
	allowed = allowed && (u.team == nil || u.ofTeam() != nil)
	switch {
	case allowed:
		return nil
	case u.AccountID == "":
		return providerNotFound(u)
	case err != nil:
		return err
	}
	return engine.Blocked(v1alpha1.ReasonProviderNotAllowed, "namespace %s can no longer use the AWS account %s; ask "+
		"a platform admin to allow it again; or request a new object in another one", u.Namespace, p.Name)
}

// AllowsNamespace reports whether a namespace with these labels can use the provider. No selector matches no namespace.
func AllowsNamespace(p *v1alpha1.AWSProvider, namespaceLabels map[string]string) (bool, error) {
	if p.Spec.AllowedNamespaces == nil {
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(p.Spec.AllowedNamespaces)
	if err != nil {
		return false, engine.Blocked(v1alpha1.ReasonInvalidProvider, "provider %s: allowedNamespaces is not a valid "+
			"label selector: %v", p.Name, err)
	}
	return selector.Matches(labels.Set(namespaceLabels)), nil
}

// providerNotFound returns the same error whether the provider does not exist or is not allowed, so that guessing names
// reveals nothing.
func providerNotFound(u ProviderUse) error {
	if u.AccountID != "" {
		return engine.Blocked(v1alpha1.ReasonProviderNotFound, "there is no AWSProvider %s any more, by which this "+
			"object has something in account %s: ask a platform admin to create it again", u.Provider, u.AccountID)
	}
	if u.Platform {
		return engine.Blocked(v1alpha1.ReasonProviderNotFound, "there is no AWSProvider %s, which Portico itself "+
			"needs for this: ask a platform admin to create it", u.Provider)
	}
	return engine.Blocked(v1alpha1.ReasonProviderNotFound, "there is no AWSProvider %s that namespace %s may use; "+
		"choose another one, or ask a platform admin to create it, or to allow this namespace there and in its Team",
		u.Provider, u.Namespace)
}

func namespaceOf(ctx context.Context, reader client.Reader, name string) (*metav1.PartialObjectMetadata, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, ns); err != nil {
		return nil, fmt.Errorf("read the namespace %s: %w", name, err)
	}
	return ns, nil
}
