package main

import (
	"os"
	"time"

	"github.com/portico-platform/portico/test/bench/measure"
)

func (o *operator) usage() measure.Usage { return measure.Of(o.PID()) }

// busy returns the CPU time of every process involved, by name.
func (w *world) busy() map[string]time.Duration {
	self := "bench and AWS fake"
	if w.aws == nil {
		self = "bench, AWS proxy and load balancer controller"
	}
	all := map[string]time.Duration{"operator": w.operator.usage().Busy, self: measure.Of(os.Getpid()).Busy}
	for _, name := range []string{"kube-apiserver", "etcd", "kube-controller-manager", "moto"} {
		if part := w.stack.Part(name); part != nil {
			all[name] = measure.Of(part.PID()).Busy
		}
	}
	return all
}
