// Package runs looks up which run of a pipeline has a token of a deployer: operator and portal name it.
package runs

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/portico-platform/portico/api/deploy"
)

// Find returns the run that has the token with an ID, as in deploy.ExtraCredential; false if it is not known, or not
// any more. leases are those of deploy.Namespace, where each exchange is recorded.
func Find(ctx context.Context, leases coordinationclient.LeaseInterface, credential string) (
	run deploy.Run, known bool, err error,
) {
	id := strings.TrimPrefix(credential, deploy.ExtraCredentialPrefix)
	if id == "" {
		return run, false, nil
	}
	list, err := leases.List(ctx, metav1.ListOptions{LabelSelector: deploy.LabelCredential + "=" + id, Limit: 1})
	if err != nil {
		return run, false, fmt.Errorf("look up the run of a deployer: %w", err)
	}
	for i := range list.Items {
		return deploy.ParseRun(list.Items[i].Annotations[deploy.AnnotationRun]), true, nil
	}
	return run, false, nil
}
