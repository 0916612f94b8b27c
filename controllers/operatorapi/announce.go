package operatorapi

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/portico-platform/portico/api/operatorapi"
)

// announcer writes on the leader's Lease where the leader answers.
type announcer struct {
	leases coordinationclient.LeaseInterface
}

// announce makes the Lease say so, and writes only if it does not. It sends the annotations alone and no version, so it
// never fails because the Lease was renewed meanwhile. A renewal that was on its way is refused once, for its version
// is old, and is sent again by client-go with the Lease as it is then, annotations included: an election loses nothing
// but a round trip. The Lease of another leader must not be annotated: only the leader calls.
func (a announcer) announce(ctx context.Context, url, ca string) (changed bool, err error) {
	lease, err := a.leases.Get(ctx, operatorapi.Lease, metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read the Lease %s: %w", operatorapi.Lease, err)
	}
	if lease.Annotations[operatorapi.AnnotationURL] == url && lease.Annotations[operatorapi.AnnotationCA] == ca {
		return false, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		operatorapi.AnnotationURL: url, operatorapi.AnnotationCA: ca,
	}}})
	if err != nil {
		return false, err
	}
	if _, err := a.leases.Patch(ctx, operatorapi.Lease, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return false, fmt.Errorf("annotate the Lease %s: %w", operatorapi.Lease, err)
	}
	return true, nil
}
