package team

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestUnusedDeployersAreNamed checks that the condition names deployers that nobody has used for 90 days, counted from
// their last use, else from when they were set up.
func TestUnusedDeployersAreNamed(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	days := func(n int) metav1.Time { return metav1.NewTime(now.AddDate(0, 0, -n)) }
	used := func(n int) *metav1.Time { at := days(n); return &at }
	p := &pass{
		Reconciler: Reconciler{Now: func() time.Time { return now }},
		team: &v1alpha1.Team{Status: v1alpha1.TeamStatus{Deployers: []v1alpha1.TeamDeployerStatus{
			{Name: "daily", Since: days(400), LastUsed: used(1)},
			{Name: "new", Since: days(89)},
			{Name: "old", Since: days(400), LastUsed: used(91)},
			{Name: "never", Since: days(91)},
		}}},
	}
	const want = "4 deployers can exchange tokens; not used for 90 days: old, never: remove what is not needed"
	if got := p.used(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
