package albsim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// event records an event about a Gateway, once for each different message.
func (s *Simulator) event(ctx context.Context, t *topology, reason, message string) error {
	sum := sha256.Sum256([]byte(string(t.gateway.UID) + reason + message))
	now := metav1.Time{Time: time.Now()}
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: t.gateway.Namespace, Name: t.gateway.Name + "." + hex.EncodeToString(sum[:8])},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: gatewayv1.GroupVersion.String(), Kind: "Gateway", Namespace: t.gateway.Namespace,
			Name: t.gateway.Name, UID: t.gateway.UID,
		},
		Reason: reason, Message: message, Type: corev1.EventTypeWarning, Source: corev1.EventSource{
			Component: "gateway",
		},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	if err := s.kube.Create(ctx, e); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("tell of Gateway %s/%s: %w", t.gateway.Namespace, t.gateway.Name, err)
	}
	return nil
}
