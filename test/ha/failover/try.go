package failover

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/campaign"
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
		if err := w.Kube.Create(ctx, obj); err != nil {
			return times{}, err
		}
	}
	mark := w.Proxy.Mark()
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- one.end(leader) }()
	if err := w.Kube.Create(ctx, late); err != nil {
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
func (w *world) watch(ctx context.Context, began time.Time, mark awsproxy.Mark, standby *campaign.Replica,
	late *v1alpha1.S3Bucket,
) (t times, err error) {
	err = w.Until(ctx, poll, "the other operator to lead and to work", func() error {
		if t.leads == 0 && standby.Leads(ctx) == nil {
			t.leads = time.Since(began)
		}
		for _, c := range w.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator)) {
			if c.Operation == "CreateBucket" && c.Names(late.Spec.BucketName) && t.works == 0 {
				t.works = c.Time.Sub(began)
			}
		}
		if t.leads == 0 || t.works == 0 {
			return fmt.Errorf("leads after %s, works after %s", t.leads, t.works)
		}
		return nil
	})
	return t, err
}

// ready waits until all objects are Ready.
func (w *world) ready(ctx context.Context, all []client.Object) error {
	for _, obj := range all {
		err := w.Until(ctx, poll, obj.GetName()+" to be Ready", func() error {
			if err := w.Kube.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
				return err
			}
			all := obj.(interface{ Common() *v1alpha1.CommonStatus }).Common().Conditions
			if !meta.IsStatusConditionTrue(all, v1alpha1.ConditionReady) {
				return fmt.Errorf("its conditions are %+v", all)
			}
			return nil
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
func (w *world) pause(ctx context.Context, times int) error {
	changes := 0
	for i := range times {
		leader, _, err := w.roles(ctx)
		if err != nil {
			return err
		}
		pid := w.Part("kube-apiserver").PID()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(hiccup)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			return err
		}
		late := bucket(fmt.Sprintf("hiccup-%d", i))
		if err := w.Kube.Create(ctx, late); err != nil {
			return err
		}
		if err := w.ready(ctx, []client.Object{late}); err != nil {
			return err
		}
		if leader.Leads(ctx) != nil {
			changes++
		}
	}
	w.results.Goal("leaders that ended for an absent API server", float64(changes), 0, "",
		fmt.Sprintf("it was away %d times, for %s", times, hiccup))
	if changes > 0 {
		return fmt.Errorf("%d leaders ended because the API server was away for %s", changes, hiccup)
	}
	return nil
}

// doubles fails if the proxy's journal shows that something was created more than once.
func (w *world) doubles() error {
	made := map[string]int{}
	for _, c := range w.Proxy.CallsSince(w.began, awsproxy.By(awsproxy.Operator), awsproxy.Writes) {
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
	w.results.Goal("creations in AWS done twice", float64(len(twice)), 0, "", fmt.Sprintf("of %d", len(made)))
	if len(twice) > 0 {
		return fmt.Errorf("done more than once: %s", strings.Join(twice, ", "))
	}
	return nil
}
