//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/test/stack"
)

// podOfApp creates a Pod like those of the operator's Deployments, without the operator.
func podOfApp(t *testing.T, app string, marked bool, change ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	return podOfAppIn(t, "payments", app, marked, change...)
}

func podOfAppIn(t *testing.T, ns, app string, marked bool, change ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: unique(app), Annotations: map[string]string{"note": "s3cret"},
			Labels: map[string]string{v1alpha1.LabelWebApp: app},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "registry.example.com/shop:1.0.0", Env: []corev1.EnvVar{
				{Name: "PASSWORD", Value: "s3cret"},
			},
		}}},
	}
	if marked {
		pod.Labels["app.kubernetes.io/managed-by"] = "portico"
	}
	for _, one := range change {
		one(pod)
	}
	c := admin(t)
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), pod, client.GracePeriodSeconds(0)) })
	return pod
}

func shopNamed(name string) *unstructured.Unstructured {
	app := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "portico.dev/v1alpha1", "kind": "WebApp"}}
	app.SetNamespace("payments")
	app.SetName(name)
	return app
}

func TestWhoSeesPodsAndLogs(t *testing.T) {
	c, _ := newCluster(t, slog.New(slog.DiscardHandler))
	name := unique("seen")
	sub := c.Changes.Subscribe(t.Context())
	pod, stranger := podOfApp(t, name, true), podOfApp(t, name, false)
	app := shopNamed(name)
	var got []*corev1.Pod
	await(t, "the Pod to run and to be in the cache", func() (bool, string) {
		var err error
		got, err = c.Pods.List(t.Context(), payer, app)
		return err == nil && len(got) > 0 && got[0].Status.Phase == corev1.PodRunning, fmt.Sprintf("%v, %v", got, err)
	})
	if len(got) != 1 || got[0].Name == stranger.Name || strings.Contains(fmt.Sprintf("%+v", got[0]), "s3cret") {
		t.Errorf("Pods %+v", got)
	}
	changes, _ := sub.Take()
	if want := (feed.Change{Kind: "webapps", Namespace: "payments", Name: name, Pods: true}); !slices.Contains(
		changes, want) {
		t.Errorf("subscribers were told %v", changes)
	}
	q := pods.LogQuery{Namespace: "payments", Pod: pod.Name, Container: "app", Tail: 50}
	await(t, "a line of the log", func() (bool, string) {
		log, err := c.Pods.Logs(t.Context(), payer, q)
		if err != nil {
			return false, err.Error()
		}
		defer func() { _ = log.Close() }()
		lines, _, err := log.Last()
		return err == nil && len(lines) > 0, fmt.Sprintf("%d lines, %v", len(lines), err)
	})
	if _, err := c.Pods.Events(t.Context(), payer, got[0]); err != nil {
		t.Errorf("events: %v", err)
	}

	for _, name := range []string{pod.Name, "there-is-none"} {
		q.Pod = name
		if _, err := c.Pods.Logs(t.Context(), searcher, q); !isForbidden(err) {
			t.Errorf("another team reads the log of %s: %v", name, err)
		}
	}
	if _, err := c.Pods.List(t.Context(), searcher, app); !isForbidden(err) {
		t.Errorf("another team sees Pods: %v", err)
	}
	if _, err := c.Pods.Events(t.Context(), searcher, got[0]); !isForbidden(err) {
		t.Errorf("another team sees events: %v", err)
	}
	if _, err := c.Pods.Logs(t.Context(), payer, q); !apierrors.IsNotFound(err) {
		t.Errorf("the log of nobody: %v", err)
	}
}

// TestThePodWithoutANodeSaysWhy: the API server's answer for its log is empty.
func TestThePodWithoutANodeSaysWhy(t *testing.T) {
	c, _ := newCluster(t, slog.New(slog.DiscardHandler))
	pod := podOfApp(t, unique("nowhere"), true, func(p *corev1.Pod) {
		p.Spec.NodeSelector = map[string]string{"disk": "none-has-it"}
	})
	q := pods.LogQuery{Namespace: "payments", Pod: pod.Name, Container: "app", Tail: 1}
	await(t, "the scheduler's reason", func() (bool, string) {
		log, err := c.Pods.Logs(t.Context(), payer, q)
		if err == nil {
			_ = log.Close() // the Pod is not in the cache yet
			return false, "a log"
		}
		none, ok := errors.AsType[*failure.NoLogError](err)
		return ok && !none.Never && strings.HasPrefix(none.Why, "Pod "+pod.Name+" has no node yet: 0/") &&
			strings.Contains(none.Why, "didn't match Pod's node affinity/selector"), err.Error()
	})
}

func TestAFollowedLogGoesOnUntilItIsClosed(t *testing.T) {
	c, _ := newCluster(t, slog.New(slog.DiscardHandler))
	name := unique("followed")
	pod := podOfApp(t, name, true)
	q := pods.LogQuery{Namespace: "payments", Pod: pod.Name, Container: "app", Tail: 1, Follow: true}
	kube := admin(t)
	await(t, "the Pod to run", func() (bool, string) { // the log of a Pod that does not run yet would end
		err := kube.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)
		return err == nil && pod.Status.Phase == corev1.PodRunning, string(pod.Status.Phase)
	})
	var log *podlogs.Lines
	await(t, "the log", func() (bool, string) {
		var err error
		log, err = c.Pods.Logs(t.Context(), payer, q)
		return err == nil, fmt.Sprint(err)
	})
	for range 2 {
		if _, err := log.Next(); err != nil {
			t.Fatal(err)
		}
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = log.Close() })
	for {
		if _, err := log.Next(); err != nil {
			return
		}
	}
}

// TestTheImpersonatorReadsLogsAndNothingMoreOfPods uses the credentials of the impersonator itself.
func TestTheImpersonatorReadsLogsAndNothingMoreOfPods(t *testing.T) {
	admin(t)
	own, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-impersonator")
	if err != nil {
		t.Fatal(err)
	}
	as := rest.CopyConfig(own)
	as.Impersonate = rest.ImpersonationConfig{UserName: payer.Username, Groups: payer.Groups}
	for who, cfg := range map[string]*rest.Config{"as itself": own, "as the user": as} {
		k, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		core := k.CoreV1()
		_, get := core.Pods("payments").Get(t.Context(), "x", metav1.GetOptions{})
		_, list := core.Pods("payments").List(t.Context(), metav1.ListOptions{})
		_, secret := core.Secrets("payments").Get(t.Context(), "x", metav1.GetOptions{})
		_, event := core.Events("payments").Get(t.Context(), "x", metav1.GetOptions{})
		_, events := core.Events("payments").List(t.Context(), metav1.ListOptions{})
		remove := core.Pods("payments").Delete(t.Context(), "x", metav1.DeleteOptions{})
		exec := core.RESTClient().Post().Namespace("payments").Resource("pods").Name("x").SubResource("exec").Do(
			t.Context()).Error()
		for what, err := range map[string]error{
			"gets a Pod": get, "lists Pods": list, "gets a Secret": secret, "gets an event": event,
			"lists events": events, "deletes a Pod": remove, "executes": exec,
		} {
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s it %s: %v", who, what, err)
			}
		}
	}
	k, err := kubernetes.NewForConfig(own)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.CoreV1().Pods("payments").GetLogs("x", &corev1.PodLogOptions{}).DoRaw(
		t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("the impersonator reads logs as itself: %v", err)
	}
}

func TestScalingIsDoneByTheUser(t *testing.T) {
	c, kinds := newCluster(t, slog.New(slog.DiscardHandler))
	k, ok := kinds.ByPlural("webapps")
	if !ok {
		t.Fatal("no kind webapps")
	}
	app := shopNamed(unique("scaled"))
	app.Object["spec"] = map[string]any{"image": "registry.example.com/shop:1.0.0"}
	if _, err := c.Write.Create(t.Context(), payer, k, app, false); err != nil {
		t.Fatal(err)
	}
	platform := admin(t)
	t.Cleanup(func() { _ = platform.Delete(context.Background(), app) })
	ref := catalog.Ref{Kind: k, Namespace: "payments", Name: app.GetName()}
	for reason, row := range map[string]struct {
		id       auth.Identity
		replicas int64
		fits     func(error) bool
	}{
		"by its team":    {payer, 3, func(err error) bool { return err == nil }},
		"by another one": {searcher, 4, isForbidden},
		"above the most": {payer, 11, apierrors.IsInvalid},
		"below one":      {payer, 0, apierrors.IsInvalid},
	} {
		if _, err := c.Write.Scale(t.Context(), row.id, ref, row.replicas); !row.fits(err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	await(t, "the number", func() (bool, string) {
		got, err := c.Objects.Get(t.Context(), payer, ref)
		if err != nil {
			return false, err.Error()
		}
		n, _, _ := unstructured.NestedInt64(got.Object, "spec", "replicas")
		return n == 3, fmt.Sprintf("%d Pods", n)
	})
}
