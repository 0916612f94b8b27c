package albsim

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The Lease by which one of the controller's replicas leads, and how often it is renewed.
const (
	LeaseNamespace = "kube-system"
	LeaseName      = "aws-load-balancer-controller-leader"
	renewEvery     = 2 * time.Second
)

// holdLease renews the Lease when it is due.
func (s *Simulator) holdLease(ctx context.Context) error {
	now := time.Now()
	if now.Sub(s.renewed) < renewEvery {
		return nil
	}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: LeaseNamespace, Name: LeaseName}}
	holder, seconds := "albsim", int32(15)
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &metav1.MicroTime{Time: now}}
	err := s.kube.Update(ctx, lease)
	if apierrors.IsNotFound(err) {
		err = s.kube.Create(ctx, lease)
	}
	if err != nil {
		return fmt.Errorf("renew the Lease %s: %w", LeaseName, err)
	}
	s.renewed = now
	return nil
}
