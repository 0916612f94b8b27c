package external

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
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

// Publisher keeps binding Secrets: type servicebinding.io/<type>, as the Service Binding convention has it. It reads
// them by name and past every cache, so the operator needs no list or watch of Secrets.
type Publisher struct {
	Live   client.Reader
	Writer client.Client
}

// BindingName is the name of obj's binding Secret; of a very long name the end gives way to a hash.
func BindingName(kind string, obj client.Object) string {
	name, suffix := obj.GetName(), "-"+strings.ToLower(kind)+"-binding"
	if most := 253 - len(suffix); len(name) > most {
		sum := sha256.Sum256([]byte(name))
		hash := hex.EncodeToString(sum[:4])
		name = strings.TrimRight(name[:most-len(hash)-1], "-.") + "-" + hash
	}
	return name + suffix
}

// Publish writes details into obj's binding Secret if they differ. A Secret of that name that is not obj's is never
// touched.
func (p Publisher) Publish(ctx context.Context, kind string, obj client.Object, details map[string]string) (*v1alpha1.Binding, error) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: BindingName(kind, obj)}}
	err := p.Live.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if apierrors.IsNotFound(err) {
		return p.create(ctx, obj, secret, details)
	}
	if err != nil {
		return nil, fmt.Errorf("read the binding Secret %s: %w", secret.Name, err)
	}
	if owner := metav1.GetControllerOf(secret); owner != nil && owner.Kind == kind && owner.Name == obj.GetName() && owner.UID != obj.GetUID() {
		return nil, engine.Wait("BindingPending", 2*time.Second, "the Secret %s is of an earlier object of this name and about to go", secret.Name)
	}
	if !metav1.IsControlledBy(secret, obj) {
		return nil, engine.Blocked("BindingConflict",
			"the Secret %s exists and does not belong to this object; rename or delete it, so that the connection details can be published", secret.Name)
	}
	want := data(details)
	if !maps.EqualFunc(secret.Data, want, func(a, b []byte) bool { return string(a) == string(b) }) {
		before := secret.DeepCopy()
		secret.Data = want
		if err := p.Writer.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return nil, fmt.Errorf("update the binding Secret %s: %w", secret.Name, err)
		}
	}
	return &v1alpha1.Binding{Name: secret.Name, ResourceVersion: secret.ResourceVersion}, nil
}

func (p Publisher) create(ctx context.Context, obj client.Object, secret *corev1.Secret, details map[string]string) (*v1alpha1.Binding, error) {
	secret.Type = corev1.SecretType("servicebinding.io/" + details["type"])
	secret.Labels = map[string]string{"app.kubernetes.io/managed-by": "portico"}
	secret.Data = data(details)
	if err := controllerutil.SetControllerReference(obj, secret, p.Writer.Scheme()); err != nil {
		return nil, fmt.Errorf("own the binding Secret %s: %w", secret.Name, err)
	}
	if err := p.Writer.Create(ctx, secret); err != nil {
		return nil, fmt.Errorf("create the binding Secret %s: %w", secret.Name, err)
	}
	return &v1alpha1.Binding{Name: secret.Name, ResourceVersion: secret.ResourceVersion}, nil
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
