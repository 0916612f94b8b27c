package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// times are durations since the leader got its signal.
type times struct {
	leads time.Duration // until the other operator leads
	works time.Duration // until AWS receives the creation of a bucket requested meanwhile
}

// underWay is how many buckets, and how many queues, are being created when the leader ends.
const underWay = 4

// try ends the leader while it works, and requests one more bucket at the same moment.
func (w *world) try(ctx context.Context, one way, name string) (times, error) {
	name = strings.ToLower(name)
	leader, standby, err := w.roles(ctx)
	if err != nil {
		return times{}, err
	}
	var all []client.Object
	for i := range underWay {
		all = append(all, bucket(fmt.Sprintf("%s-%d", name, i)), queue(fmt.Sprintf("%s-%d", name, i)))
	}
	late := bucket(name + "-late")
	for _, obj := range all {
		if err := w.kube.Create(ctx, obj); err != nil {
			return times{}, err
		}
	}
	mark := w.stack.Proxy.Mark()
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- one.end(leader) }()
	if err := w.kube.Create(ctx, late); err != nil {
		return times{}, err
	}
	t, err := w.watch(ctx, began, mark, standby, late)
	if err != nil {
		return t, err
	}
	if err := <-ended; err != nil {
		return t, err
	}
	if err := leader.Start(ctx); err != nil {
		return t, err
	}
	return t, w.ready(ctx, append(all, late))
}

// watch measures when the standby leads, and when late is created in AWS.
func (w *world) watch(ctx context.Context, began time.Time, mark awsproxy.Mark, standby *operator,
	late *v1alpha1.S3Bucket,
) (t times, err error) {
	err = until(ctx, patience, "the other operator to lead and to work", func() (bool, error) {
		if t.leads == 0 && standby.leads(ctx) {
			t.leads = time.Since(began)
		}
		for _, c := range w.stack.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator)) {
			if c.Operation == "CreateBucket" && c.Names(late.Spec.BucketName) && t.works == 0 {
				t.works = c.Time.Sub(began)
			}
		}
		return t.leads > 0 && t.works > 0, nil
	})
	return t, err
}

// ready waits until all objects are Ready.
func (w *world) ready(ctx context.Context, all []client.Object) error {
	for _, obj := range all {
		err := until(ctx, patience, obj.GetName()+" to be Ready", func() (bool, error) {
			if err := w.kube.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
				return false, err
			}
			return meta.IsStatusConditionTrue(obj.(interface{ Common() *v1alpha1.CommonStatus }).Common().Conditions,
				v1alpha1.ConditionReady), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func bucket(name string) *v1alpha1.S3Bucket {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	b.Spec.ProviderRef.Name, b.Spec.BucketName, b.Spec.Versioning = stack.Provider, team+"-"+name, "Enabled"
	return b
}

func queue(name string) *v1alpha1.SQSQueue {
	q := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	q.Spec.ProviderRef.Name, q.Spec.QueueName = stack.Provider, team+"-"+name
	return q
}

// hiccup is how long the API server stops answering: less than the leader's renew deadline.
const hiccup = 3 * time.Second

// pause repeatedly stops the API server for the time of a hiccup, and fails if that makes a leader end.
func (w *world) pause(ctx context.Context, times int, out io.Writer) error {
	changes := 0
	for i := range times {
		leader, _, err := w.roles(ctx)
		if err != nil {
			return err
		}
		pid := w.stack.Part("kube-apiserver").PID()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(hiccup)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return err
		}
		late := bucket(fmt.Sprintf("hiccup-%d", i))
		if err := w.kube.Create(ctx, late); err != nil {
			return err
		}
		if err := w.ready(ctx, []client.Object{late}); err != nil {
			return err
		}
		if !leader.leads(ctx) {
			changes++
		}
	}
	_, _ = fmt.Fprintf(out, "the API server away for %.0f s, %d times\n  leaders that ended for it     %d   goal 0\n",
		hiccup.Seconds(), times, changes)
	if changes > 0 {
		return fmt.Errorf("%d leaders ended because the API server was away for %s", changes, hiccup)
	}
	return nil
}

// doubles fails if the proxy's journal shows that something was created more than once.
func (w *world) doubles(out io.Writer) error {
	made := map[string]int{}
	for _, c := range w.stack.Proxy.CallsSince(w.began, awsproxy.By(awsproxy.Operator), awsproxy.Writes) {
		// without a response it may have had no effect
		if strings.HasPrefix(c.Operation, "Create") && c.Status != 0 && c.Status < 300 {
			made[c.Operation+" "+c.Resource]++
		}
	}
	var twice []string
	for what, n := range made {
		if n > 1 {
			twice = append(twice, fmt.Sprintf("%s %d times", what, n))
		}
	}
	slices.Sort(twice)
	_, _ = fmt.Fprintf(out, "of %d creations in AWS\n  done twice                    %d   goal 0\n", len(made),
		len(twice))
	if len(twice) > 0 {
		return fmt.Errorf("done more than once: %s", strings.Join(twice, ", "))
	}
	return nil
}
