package pods

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/portico-platform/portico/test/stack/process"
)

// restartDelay is the delay before the first restart of a container that ended; each restart doubles it, up to
// longestDelay.
const restartDelay, longestDelay = time.Second, time.Minute

// Addresses of Pods begin with loopback. Kubernetes accepts no loopback addresses as endpoints, so the status shows
// another one.
const loopback, shownAs = "127.245.", "10.245."

// mountsAgain is how often mounted Secrets, ConfigMaps and tokens are checked for changes.
const mountsAgain = 5 * time.Second

// pod is one Pod, of one container.
type pod struct {
	spec      *corev1.Pod
	options   Options
	folder    string
	unapplied bool // not in the API server

	ending chan int64 // the grace period in seconds
	once   sync.Once

	process *process.Process
	died    chan *process.DiedError

	mu         sync.Mutex
	ip         string
	logFile    string
	ready      bool
	started    bool
	count      int32 // restarts
	last       *corev1.ContainerStateTerminated
	over       bool // it has ended, and will not be restarted
	waiting    *corev1.ContainerStateWaiting
	since      metav1.Time
	conditions []corev1.PodCondition
}

func newPod(spec *corev1.Pod, o Options, folder string) *pod {
	return &pod{
		spec: spec, options: o, folder: folder, ending: make(chan int64, 1),
		died: make(chan *process.DiedError, 1), since: metav1.Now(),
	}
}

func (p *pod) container() *corev1.Container { return &p.spec.Spec.Containers[0] }

func (p *pod) endWithin(seconds int64) { p.once.Do(func() { p.ending <- seconds }) }

// run runs the Pod until it is deleted, or ctx ends.
func (p *pod) run(ctx context.Context) {
	defer p.clean()
	delay := restartDelay
	for {
		err := p.start(ctx)
		if err == nil {
			if !p.watch(ctx) {
				return
			}
		} else {
			p.options.Say("%-24s cannot be started yet: %v", p.container().Name, err)
			p.wait("CreateContainerError", err.Error())
		}
		p.tell(ctx)
		select {
		case <-ctx.Done():
			return
		case seconds := <-p.ending:
			p.gone(ctx, seconds)
			return
		case <-time.After(delay):
		}
		delay = min(2*delay, longestDelay)
		p.mu.Lock()
		p.count++
		p.mu.Unlock()
	}
}

// start creates the process, with everything that the container specifies, and starts it.
func (p *pod) start(ctx context.Context) error {
	if n := len(p.spec.Spec.Containers) + len(p.spec.Spec.InitContainers); n != 1 {
		return fmt.Errorf("a Pod of %d containers cannot be played; of one it can", n)
	}
	if err := p.takeAddress(); err != nil {
		return err
	}
	if err := p.mount(ctx); err != nil {
		return err
	}
	if err := p.prepare(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	p.waiting, p.since, p.logFile = nil, metav1.Now(), p.process.LogFile()
	p.mu.Unlock()
	p.tell(ctx)
	if err := p.process.Start(ctx); err != nil {
		return p.failed(err)
	}
	p.set(ctx, true, true)
	return nil
}

// takeAddress gives the Pod an address, which it keeps when its container restarts.
func (p *pod) takeAddress() error {
	if p.ip != "" {
		return nil
	}
	ip, err := p.options.Address()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ip = ip
	return nil
}

// prepare creates the process of the container, without starting it.
func (p *pod) prepare(ctx context.Context) error {
	binary, confined, err := p.program()
	if err != nil {
		return err
	}
	env, err := p.environment(ctx)
	if err != nil {
		return err
	}
	args := slices.Concat(p.container().Command, p.container().Args)
	if len(p.container().Command) > 0 {
		args = args[1:] // Portico's images have one program
	}
	for i := range args {
		args[i] = p.mapped(args[i])
	}
	p.process = p.options.Add(process.Spec{
		Name: p.container().Name, Path: binary, Args: args, Env: env, OnlyEnv: true, Confined: confined,
		Grace: time.Duration(ptr.Deref(p.spec.Spec.TerminationGracePeriodSeconds, 30)) * time.Second,
		Died: func(e *process.DiedError) {
			if p.spec.Spec.RestartPolicy != corev1.RestartPolicyNever {
				p.options.Died(e)
			}
			p.died <- e
		},
		Ready: p.probe(p.container().ReadinessProbe),
	})
	return nil
}

// failed records how a container ended that was never ready.
func (p *pod) failed(err error) error {
	if _, ok := errors.AsType[*process.DiedError](err); ok {
		p.ended(<-p.died) // the same end is also sent to died
	}
	return err
}

// watch supervises a running container. It returns whether the container must be restarted.
func (p *pod) watch(ctx context.Context) (again bool) {
	mounts := time.NewTicker(mountsAgain)
	defer mounts.Stop()
	c := p.container()
	ready, alive := newProber(c.ReadinessProbe), newProber(c.LivenessProbe)
	defer ready.stop()
	defer alive.stop()
	for {
		select {
		case <-ctx.Done():
			_ = p.process.Stop()
			return false
		case seconds := <-p.ending:
			p.gone(ctx, seconds)
			return false
		case e := <-p.died:
			p.ended(e)
			if p.spec.Spec.RestartPolicy == corev1.RestartPolicyNever {
				p.finish(ctx)
				return false
			}
			p.wait("CrashLoopBackOff", "started again in a while")
			return true
		case <-mounts.C:
			_ = p.mount(ctx) // what cannot be read now stays as it was
		case <-ready.ticks():
			if ready.turned(ctx, p.probe(c.ReadinessProbe)) {
				p.set(ctx, true, !ready.failed)
			}
		case <-alive.ticks():
			// A process that a test has stopped is left alone.
			if p.process.PID() != 0 && alive.turned(ctx, p.probe(c.LivenessProbe)) && alive.failed {
				_ = p.process.Stop()
				p.wait("Unhealthy", "the liveness probe failed")
				return true
			}
		}
	}
}

// gone stops the container as its Pod specifies, and then deletes the Pod.
func (p *pod) gone(ctx context.Context, seconds int64) {
	if !p.over {
		p.set(ctx, true, false)
	}
	if p.process != nil && p.process.PID() != 0 {
		if l := p.container().Lifecycle; seconds > 0 && l != nil && l.PreStop != nil && l.PreStop.Sleep != nil {
			select {
			case <-time.After(time.Duration(l.PreStop.Sleep.Seconds) * time.Second):
			case <-ctx.Done():
			}
		}
		_ = p.process.Stop()
	}
	if !p.unapplied {
		_ = p.options.Clients.CoreV1().Pods(p.spec.Namespace).Delete(ctx, p.spec.Name, metav1.DeleteOptions{
			GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: &p.spec.UID},
		})
	}
}

func (p *pod) set(ctx context.Context, started, ready bool) {
	p.mu.Lock()
	p.started, p.ready = started, ready
	p.mu.Unlock()
	p.tell(ctx)
}

func (p *pod) wait(reason, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready, p.started = false, false
	p.waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
}

func (p *pod) ended(e *process.DiedError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", Message: e.Tail, StartedAt: p.since,
		FinishedAt: metav1.Now(),
	}
	if e.Err == nil {
		p.last.ExitCode, p.last.Reason, p.last.Message = 0, "Completed", ""
	}
}

// finish keeps a Pod that runs once in its final state, until it is deleted.
func (p *pod) finish(ctx context.Context) {
	p.mu.Lock()
	p.over, p.ready, p.started = true, false, false
	p.mu.Unlock()
	p.tell(ctx)
	select {
	case <-ctx.Done():
	case seconds := <-p.ending:
		p.gone(ctx, seconds)
	}
}

func (p *pod) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logFile
}

// path returns the folder of the volume that is mounted at mount.
func (p *pod) path(mount string) string {
	return filepath.Join(p.folder, "volumes", filepath.FromSlash(mount))
}
