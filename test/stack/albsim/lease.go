package albsim

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The Lease of the controller's leader election, and how often it is renewed.
const (
	LeaseNamespace = "kube-system"
	LeaseName      = "aws-load-balancer-controller-leader"
	renewEvery     = time.Second
)

// holdLease renews the Lease until ctx ends, regardless of how long a pass takes. It does not while the simulator is
// paused.
func (s *Simulator) holdLease(ctx context.Context) {
	for {
		if !s.paused.Load() {
			if err := s.renewLease(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("renew the Lease", "error", err)
			}
		}
		if !sleep(ctx, renewEvery) {
			return
		}
	}
}

func (s *Simulator) renewLease(ctx context.Context) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: LeaseNamespace, Name: LeaseName}}
	holder, seconds := "albsim", int32(15)
	after := lease.DeepCopy()
	after.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: &seconds,
		RenewTime: &metav1.MicroTime{Time: time.Now()},
	}
	err := s.kube.Patch(ctx, after, client.MergeFrom(lease))
	if apierrors.IsNotFound(err) {
		err = s.kube.Create(ctx, after)
	}
	return err
}
