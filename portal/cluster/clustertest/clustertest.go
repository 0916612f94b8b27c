// Package clustertest makes parts of a Cluster for tests of other parts.
package clustertest

import (
	"testing"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// NewRights returns the rights that a judge grants, who allows everything.
func NewRights() (*kubetest.Judge, *rights.Rights, *clocktesting.FakePassiveClock) {
	j := kubetest.NewJudge()
	return j, rights.New(rights.Options{Reviews: j.Reviews(), Clock: j.Clock}), j.Clock
}

// NewImpersonator returns an impersonator, and the API server to which it sends.
func NewImpersonator(tb testing.TB, may *rights.Rights) (*impersonate.Impersonator, *kubetest.APIServer) {
	tb.Helper()
	s := kubetest.NewAPIServer(tb)
	// The portal's own credentials must not be sent with users' requests.
	w, err := impersonate.New(s.Config(), s.Minter(), kubetest.Account, may, s.Clock)
	if err != nil {
		tb.Fatal(err)
	}
	return w, s
}

// Bucket names a bucket.
func Bucket(tb testing.TB) catalog.Ref {
	tb.Helper()
	k, _ := catalogtest.Kinds(tb).ByPlural("s3buckets")
	return catalog.Ref{Kind: k, Namespace: "payments", Name: "logs"}
}
