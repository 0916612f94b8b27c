package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/portico-platform/portico/api/deploy"
)

const (
	// cleanEvery is how often records that have ended are deleted, and cleanPage how many are listed at once.
	cleanEvery = 5 * time.Minute
	cleanPage  = 500
	// keepFor is how long a record outlives the token of its deployer: until then, its run is looked up.
	keepFor = 30 * time.Minute
)

// Records remember each exchange, one Lease each, in the namespace of deployers: that its token was used, whatever
// restarts, and which run has which token of Kubernetes.
type Records struct {
	Leases coordinationclient.LeaseInterface
	Now    func() time.Time
	Log    logr.Logger
}

// Add records an exchange. It fails with AlreadyExists if the token was exchanged before.
func (r *Records) Add(ctx context.Context, of *token, m *minted, run deploy.Run) error {
	sum := sha256.Sum256([]byte(of.key()))
	until := m.expires.Add(keepFor)
	if of.expires.After(until) {
		until = of.expires
	}
	_, err := r.Leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name:   "exchange-" + hex.EncodeToString(sum[:20]),
		Labels: map[string]string{deploy.LabelCredential: m.credential},
		Annotations: map[string]string{
			deploy.AnnotationRun: run.Text(), deploy.AnnotationUntil: until.Add(clockSlack).UTC().Format(time.RFC3339),
		},
	}}, metav1.CreateOptions{})
	return err
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (r *Records) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable: it deletes records that have ended.
func (r *Records) Start(ctx context.Context) error {
	ticker := time.NewTicker(cleanEvery)
	defer ticker.Stop()
	for {
		if err := r.Clean(ctx); err != nil && ctx.Err() == nil {
			r.Log.Error(err, "delete records of exchanges")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Clean deletes the records that have ended.
func (r *Records) Clean(ctx context.Context) error {
	options := metav1.ListOptions{LabelSelector: deploy.LabelCredential, Limit: cleanPage}
	for {
		list, err := r.Leases.List(ctx, options)
		if err != nil {
			return fmt.Errorf("list records of exchanges: %w", err)
		}
		for i := range list.Items {
			until, err := time.Parse(time.RFC3339, list.Items[i].Annotations[deploy.AnnotationUntil])
			if err == nil && r.Now().Before(until) {
				continue
			}
			err = r.Leases.Delete(ctx, list.Items[i].Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete a record of an exchange: %w", err)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return nil
		}
	}
}
