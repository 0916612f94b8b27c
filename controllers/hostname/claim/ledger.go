package claim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// ledger reads the ledger, or makes it.
func (r *Registry) ledger(ctx context.Context) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: Ledger}, found)
	if apierrors.IsNotFound(err) {
		found = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: Ledger}}
		err = r.Client.Create(ctx, found, client.FieldOwner("portico"))
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger of hostnames, ConfigMap %s/%s: %w", r.Namespace, Ledger, err)
	}
	if found.Data == nil {
		found.Data = map[string]string{}
	}
	return found, nil
}

// announce writes want into the ledger as it was read: whoever has written it since wins.
func (r *Registry) announce(ctx context.Context, ledger *corev1.ConfigMap, name string, want v1alpha1.DomainClaimSpec) error {
	text, err := json.Marshal(want)
	if err != nil {
		return fmt.Errorf("announce a claim: %w", err)
	}
	ledger.Data[name] = string(text)
	if err := r.updateLedger(ctx, ledger); err != nil {
		return fmt.Errorf("announce a claim in the ledger of hostnames: %w", err)
	}
	return nil
}

// announced decodes an entry of the ledger; false if it is nothing that announce wrote.
func announced(text string) (one v1alpha1.DomainClaimSpec, ok bool) {
	err := json.Unmarshal([]byte(text), &one)
	return one, err == nil
}

// updateLedger replaces the ledger under the resourceVersion at which it was read.
func (r *Registry) updateLedger(ctx context.Context, ledger *corev1.ConfigMap) error {
	return r.Client.Update(ctx, ledger, client.FieldOwner("portico")) //nolint:forbidigo // a patch of one key would not fail where another one was added
}

// withdraw takes what the holder has announced out of the ledger.
func (r *Registry) withdraw(ctx context.Context, holder v1alpha1.ClaimHolder) error {
	for range maxAttempts {
		ledger, err := r.ledger(ctx)
		if err != nil {
			return err
		}
		before := len(ledger.Data)
		maps.DeleteFunc(ledger.Data, func(_, text string) bool {
			one, ok := announced(text)
			return ok && one.Holder.UID == holder.UID
		})
		if len(ledger.Data) == before {
			return nil
		}
		err = r.updateLedger(ctx, ledger)
		if err == nil || !apierrors.IsConflict(err) {
			return err
		}
	}
	return engine.Wait(v1alpha1.ReasonReleasing, 0, "many ask for hostnames at this moment")
}
