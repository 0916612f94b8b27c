package operator

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/bench/fakeaws"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack/process"
)

// world is the control plane, AWS, and at most one operator.
type world struct {
	*campaign.World
	aws  *fakeaws.Server // nil if AWS is the stack's simulator
	more []string        // flags of every operator

	operator *campaign.Replica
	lives    int // number of operators started
}

// startOperator starts an operator, and returns once it leads.
func (w *world) startOperator(ctx context.Context, flags ...string) (err error) {
	w.lives++
	w.operator, err = w.StartOperator(ctx, process.Spec{
		Name: fmt.Sprintf("operator-%d", w.lives), Args: slices.Concat(w.more, flags), // a scenario counts on its own
	})
	if err != nil {
		return err
	}
	return w.Until(ctx, poll/2, "the operator to lead", func() error { return w.operator.Leads(ctx) })
}

// labels are those of all namespaces: their objects can use the sample provider, and are deleted at once.
var labels = map[string]string{"portico.dev/aws": "allowed", "portico.dev/confirm-deletion": "optional"}

// makeNamespaces creates n namespaces, or a single one if n is 0.
func (w *world) makeNamespaces(ctx context.Context, name string, n int) ([]string, error) {
	all := []string{name}
	if n > 0 {
		all = nil
	}
	for i := range n {
		all = append(all, fmt.Sprintf("%s-%d", name, i))
	}
	for _, one := range all {
		if err := w.MakeTeam(ctx, one, labels); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// counts returns the operator's calls to AWS so far.
func (w *world) counts() fakeaws.Counts {
	if w.aws != nil {
		return w.aws.Counts()
	}
	return countsOf(w.Proxy.Calls(awsproxy.By(awsproxy.Operator)))
}

// poll is the interval for states that cannot be watched.
const poll = 100 * time.Millisecond

// calm waits until the operator has neither called AWS nor written to Kubernetes for a second, which means that
// everything has finished.
func (w *world) calm(ctx context.Context) error {
	last, since := -1, time.Now()
	return w.Until(ctx, poll, "the operator to come to rest", func() error {
		writes, err := w.kubernetesWrites(ctx)
		if err != nil {
			return err
		}
		if now := w.counts().Total() + writes.total(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) <= time.Second {
			return fmt.Errorf("%d calls and writes until now", last)
		}
		return nil
	})
}

// busy returns the CPU time of every process involved, by name.
func (w *world) busy() map[string]time.Duration {
	self := "bench and AWS fake"
	if w.aws == nil {
		self = "bench, AWS proxy and load balancer controller"
	}
	all := map[string]time.Duration{"operator": w.operator.Usage().Busy, self: campaign.Of(os.Getpid()).Busy}
	for _, name := range []string{"kube-apiserver", "etcd", "kube-controller-manager", "moto"} {
		if part := w.Part(name); part != nil {
			all[name] = campaign.Of(part.PID()).Busy
		}
	}
	return all
}
