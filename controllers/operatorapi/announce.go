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

// announcer records the server's address on the leader's Lease.
type announcer struct {
	leases coordinationclient.LeaseInterface
}

// announce writes the address to the Lease's annotations if they differ. The patch has no resource version, so it never
// conflicts with a renewal of the Lease. A renewal sent at the same time conflicts once, because its version is old;
// client-go repeats it with the current Lease, annotations included, so the leader loses only a round trip. Only the
// leader may call announce: the Lease of another leader must not be annotated.
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
	if _, err := a.leases.Patch(ctx, operatorapi.Lease, types.MergePatchType, patch,
		metav1.PatchOptions{}); err != nil {
		return false, fmt.Errorf("annotate the Lease %s: %w", operatorapi.Lease, err)
	}
	return true, nil
}
