package external

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Secrets manages Secrets that belong to an object: its binding Secret, of type servicebinding.io/<type> as in the
// Service Binding specification, and Portico's own secret records. It reads them by name and past every cache, so the
// operator needs no list or watch of Secrets. A Secret that does not belong to the object is never changed.
type Secrets struct {
	APIReader client.Reader
	Client    client.Client
}

// Purposes of an object's Secrets.
const (
	purposeBinding = "binding"
	// PurposeMaster is the purpose of the record of a master password.
	PurposeMaster = "master"
)

// SecretName returns the name of one of obj's Secrets; the end of a very long name is replaced by a hash.
func SecretName(kind string, obj client.Object, purpose string) string {
	name, suffix := obj.GetName(), "-"+strings.ToLower(kind)+"-"+purpose
	if most := 253 - len(suffix); len(name) > most {
		sum := sha256.Sum256([]byte(name))
		hash := hex.EncodeToString(sum[:4])
		name = strings.TrimRight(name[:most-len(hash)-1], "-.") + "-" + hash
	}
	return name + suffix
}

// BindingName returns the name of obj's binding Secret.
func BindingName(kind string, obj client.Object) string { return SecretName(kind, obj, purposeBinding) }

// Publish writes details into obj's binding Secret.
func (s Secrets) Publish(ctx context.Context, kind string, obj client.Object, details map[string]string) (
	*v1alpha1.Binding, error,
) {
	secret, err := s.write(ctx, kind, obj, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: BindingName(kind, obj)},
		Type:       corev1.SecretType("servicebinding.io/" + details["type"]),
		Data:       data(details),
	}, !hasPublished(obj))
	if err != nil {
		return nil, err
	}
	return &v1alpha1.Binding{
		Name: secret.Name, ResourceVersion: secret.ResourceVersion, Keys: slices.Sorted(maps.Keys(secret.Data)),
	}, nil
}

// hasPublished reports whether the status of obj names its binding Secret.
func hasPublished(obj client.Object) bool {
	resource, ok := obj.(Object)
	if !ok {
		return true
	}
	_, status := resource.AWS()
	return status.Binding != nil
}

// Published returns the content of obj's binding Secret; empty if there is none.
func (s Secrets) Published(ctx context.Context, kind string, obj client.Object) (map[string]string, error) {
	return s.Load(ctx, kind, obj, purposeBinding)
}

// Store writes values into obj's Secret for this purpose.
func (s Secrets) Store(ctx context.Context, kind string, obj client.Object, purpose string,
	values map[string]string,
) error {
	_, err := s.write(ctx, kind, obj, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: SecretName(kind, obj, purpose)},
		Type:       corev1.SecretTypeOpaque,
		Data:       data(values),
	}, false)
	return err
}

// Load returns what Store stored; empty if there is nothing.
func (s Secrets) Load(ctx context.Context, kind string, obj client.Object, purpose string) (map[string]string, error) {
	secret, err := s.read(ctx, kind, obj, SecretName(kind, obj, purpose))
	if err != nil || secret == nil {
		return map[string]string{}, err
	}
	values := make(map[string]string, len(secret.Data))
	for key, value := range secret.Data {
		values[key] = string(value)
	}
	return values, nil
}

// read returns obj's Secret of this name, and nil if there is none.
func (s Secrets) read(ctx context.Context, kind string, obj client.Object, name string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	if found, err := engine.Find(ctx, s.APIReader, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name},
		secret); !found {
		return nil, err
	}
	if isKeptFor(secret, obj) {
		return secret, s.takeUp(ctx, obj, secret)
	}
	if owner := metav1.GetControllerOf(secret); owner != nil && owner.Kind == kind && owner.Name == obj.GetName() &&
		owner.UID != obj.GetUID() {
		return nil, engine.Wait(v1alpha1.ReasonBindingPending, 2*time.Second,
			"the Secret %s is of an earlier object of this name and about to go", name)
	}
	if !metav1.IsControlledBy(secret, obj) {
		return nil, engine.Blocked(v1alpha1.ReasonBindingConflict,
			"the Secret %s exists and does not belong to this object; rename or delete it, so that the connection "+
				"details can be published", name)
	}
	return secret, nil
}

// write writes want's data into obj's Secret of that name if it differs. If it is likely new, write creates it without
// reading it first.
func (s Secrets) write(ctx context.Context, kind string, obj client.Object, want *corev1.Secret, likelyNew bool) (
	*corev1.Secret, error,
) {
	if likelyNew {
		made := want.DeepCopy()
		if err := s.create(ctx, obj, made); !apierrors.IsAlreadyExists(err) {
			return made, err
		}
	}
	secret, err := s.read(ctx, kind, obj, want.Name)
	if err != nil {
		return nil, err
	}
	if secret == nil {
		return want, s.create(ctx, obj, want)
	}
	if !maps.EqualFunc(secret.Data, want.Data, func(a, b []byte) bool { return string(a) == string(b) }) {
		before := secret.DeepCopy()
		secret.Data = want.Data
		if err := s.Client.Patch(
			ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return nil, fmt.Errorf("update the Secret %s: %w", secret.Name, err)
		}
	}
	return secret, nil
}

func (s Secrets) create(ctx context.Context, obj client.Object, secret *corev1.Secret) error {
	secret.Labels = map[string]string{"app.kubernetes.io/managed-by": "portico"}
	if err := controllerutil.SetControllerReference(obj, secret, s.Client.Scheme()); err != nil {
		return fmt.Errorf("own the Secret %s: %w", secret.Name, err)
	}
	if err := s.Client.Create(ctx, secret); err != nil {
		return fmt.Errorf("create the Secret %s: %w", secret.Name, err)
	}
	return nil
}

func data(details map[string]string) map[string][]byte {
	out := make(map[string][]byte, len(details))
	for k, v := range details {
		if v != "" {
			out[k] = []byte(v)
		}
	}
	return out
}
