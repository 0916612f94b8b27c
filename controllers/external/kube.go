package external

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Kube is an adapter's access to the cluster. Adapters stay in their object's own namespace.
type Kube struct {
	// Reader reads Secrets and ConfigMaps live, and our own kinds from the cache.
	Reader client.Reader
	// Secrets manages the Secrets that belong to an object.
	Secrets Secrets
}

// SecretValue returns one key of a Secret in namespace. It must not reach a status, an event, a log or an error.
func (k Kube) SecretValue(ctx context.Context, namespace string, ref v1alpha1.SecretKeyRef) (string, error) {
	secret := &corev1.Secret{}
	if err := k.get(ctx, "Secret", v1alpha1.ReasonSecretNotFound, namespace, ref.Name, secret); err != nil {
		return "", err
	}
	value, ok := secret.Data[ref.Key]
	if !ok || len(value) == 0 {
		return "", engine.Blocked(v1alpha1.ReasonSecretKeyNotFound, "the Secret %s has no key %s, or it is empty; "+
			"add it, or change the reference", ref.Name, ref.Key)
	}
	return string(value), nil
}

// ConfigMapValue returns one key of a ConfigMap in namespace.
func (k Kube) ConfigMapValue(ctx context.Context, namespace string, ref v1alpha1.ConfigMapKeyRef) (string, error) {
	config := &corev1.ConfigMap{}
	if err := k.get(ctx, "ConfigMap", v1alpha1.ReasonConfigMapNotFound, namespace, ref.Name, config); err != nil {
		return "", err
	}
	if value := config.Data[ref.Key]; value != "" {
		return value, nil
	}
	if value := config.BinaryData[ref.Key]; len(value) > 0 {
		return string(value), nil
	}
	return "", engine.Blocked(v1alpha1.ReasonConfigMapKeyNotFound, "the ConfigMap %s has no key %s, or it is empty; "+
		"add it, or change the reference", ref.Name, ref.Key)
}

func (k Kube) get(ctx context.Context, kind, reason, namespace, name string, obj client.Object) error {
	found, err := engine.Find(ctx, k.Reader, client.ObjectKey{Namespace: namespace, Name: name}, obj)
	if err == nil && !found {
		return engine.Blocked(reason, "there is no %s %s in this namespace; create it, or change the reference", kind,
			name)
	}
	return err
}
