package chaos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack/process"
)

// The operator's intervals are short, so that a campaign includes many audits.
const (
	auditInterval = 20 * time.Second
	sweepInterval = 10 * time.Second
	passTimeout   = 10 * time.Second
)

// operator is the test build's process. Like a kubelet, the test restarts it whenever it exits.
type operator struct {
	*campaign.Replica
	clock string // the file with the clock's offset

	mu     sync.Mutex
	offset time.Duration
	held   bool // not to be restarted for now
}

func (w *world) startOperator(ctx context.Context) (err error) {
	o := &operator{clock: filepath.Join(w.Dir, "clock")}
	if err := o.setClock(0); err != nil {
		return err
	}
	w.operator = o
	o.Replica, err = w.StartOperator(ctx, process.Spec{
		Name: "operator", Path: w.binary,
		Args: []string{
			"--development", "--inspect-bind-address", "0", "--audit-interval", auditInterval.String(),
			"--sweep-interval", sweepInterval.String(), "--provider-resync", sweepInterval.String(),
			"--reconcile-timeout", passTimeout.String(), "--aws-rate", "Route 53=200",
		},
		Env: []string{"PORTICO_TEST_CLOCK_OFFSET=" + o.clock, fmt.Sprintf("PORTICO_TEST_TIME_SCALE=%v", operatorScale)},
		Died: func(*process.DiedError) { // without the API server it loses its lease and exits
			w.counts.add("kills", "operator, by itself")
			w.revive(context.WithoutCancel(ctx))
		},
	})
	return err
}

// revive starts the operator, repeatedly until it succeeds, unless it is held down.
func (w *world) revive(ctx context.Context) {
	o := w.operator
	for ctx.Err() == nil {
		o.mu.Lock()
		if o.held || o.Replica == nil || o.PID() != 0 {
			o.mu.Unlock()
			return
		}
		err := o.Start(ctx)
		o.mu.Unlock()
		if err == nil {
			return
		}
		_ = campaign.Pause(ctx, time.Second)
	}
}

// killOperator kills the operator and holds it down for a while.
func (w *world) killOperator(ctx context.Context, down time.Duration) error {
	o := w.operator
	o.hold(true)
	err := o.Kill()
	_ = campaign.Pause(ctx, down)
	o.hold(false)
	w.revive(context.WithoutCancel(ctx))
	return err
}

func (o *operator) hold(on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held = on
}

// setClock sets the offset of the operator's clock.
func (o *operator) setClock(offset time.Duration) error {
	next := o.clock + ".next"
	if err := os.WriteFile(next, []byte(offset.String()), 0o600); err != nil {
		return err
	}
	o.offset = offset
	return os.Rename(next, o.clock)
}
