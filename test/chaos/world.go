package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
)

const (
	poll = 100 * time.Millisecond
	// answerTimeout is the timeout of a user's request to the API server.
	answerTimeout = 5 * time.Second
)

// manyHostnames is each namespace's hostname limit. It is high, so that the pacing of certificates, which applies to 12
// hours, does not delay hostnames that come and go.
const manyHostnames = 1000

// world is everything that the campaign acts on, and its findings.
type world struct {
	*campaign.World
	options
	admin    client.Client            // like those of users, it waits only for answerTimeout
	users    map[string]client.Client // by namespace
	account  *account
	services map[string]service // by kind
	operator *operator
	counts   *counts
	ledger   *ledger
	control  map[string]string // the configuration of each resource of another owner

	spaces         sync.Mutex // held while a namespace is deleted, or the API server killed
	apiServerBegan time.Time

	mu      sync.Mutex
	invalid []string // invalid requests that were accepted
	trials  int      // number of trial namespaces so far
}

// places are the namespaces in which users act, with the user of each.
var places = []struct{ namespace, user string }{{"payments", "payments-dev"}, {"search", "search-dev"}, {
	growth, "growth-dev",
}}

func (w *world) fill(ctx context.Context) (err error) {
	if w.admin, err = newClient(w.Admin); err != nil {
		return err
	}
	for _, p := range places {
		cfg, err := w.UserConfig(p.user)
		if err == nil {
			w.users[p.namespace], err = newClient(cfg)
		}
		if err != nil {
			return err
		}
	}
	w.account = newAccount(w.OutsideAWS(), w.Zones[stack.Zone{Domain: stack.Domain}])
	w.services = w.account.services()
	w.Proxy.SetRoute53Rate(0) // otherwise each hostname of the campaign waits for the previous ones
	if err := w.makeControl(ctx); err != nil {
		return fmt.Errorf("make what is somebody else's: %w", err)
	}
	if err := w.startOperator(ctx); err != nil {
		return err
	}
	if err := stack.ApplyObjects(ctx, w.Admin, w.team()); err != nil {
		return err
	}
	grants, err := w.objects(ctx, kind{name: "HostnameGrant"})
	if err != nil {
		return err
	}
	for i := range grants {
		if err := patch(ctx, w.admin, &grants[i], fmt.Sprintf(`{"maxHostnames":%d}`, manyHostnames)); err != nil {
			return err
		}
	}
	return w.awaitReady(ctx)
}

func newClient(cfg *rest.Config) (client.Client, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS, cfg.Timeout = -1, answerTimeout
	return client.New(cfg, client.Options{Scheme: controllers.Scheme()})
}

// team returns the Team object; users act in its namespace, too.
func (w *world) team() *unstructured.Unstructured {
	type object = map[string]any
	return &unstructured.Unstructured{Object: object{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": v1alpha1.KindTeam, "metadata": object{"name": growth},
		"spec": object{
			"contact":   "growth@portico.test",
			"members":   []any{object{"group": stack.Prefix + "team-growth", "role": "Developer"}},
			"providers": []any{object{"name": stack.Provider}},
			"hostnames": object{"suffixes": []any{growth + "." + stack.Domain}, "zones": []any{w.account.zone}, "maxHostnames": int64(manyHostnames)},
		},
	}}
}

// awaitReady waits until the provider and the team are Ready.
func (w *world) awaitReady(ctx context.Context) error {
	return w.Until(ctx, poll, "the provider and the team to be Ready", func() error {
		all, err := w.unsettled(ctx)
		if err == nil && len(all) > 0 {
			err = errors.New(strings.Join(all, ", "))
		}
		return err
	})
}

// objects lists all objects of a kind.
func (w *world) objects(ctx context.Context, k kind) ([]unstructured.Unstructured, error) {
	l := k.list()
	err := w.admin.List(ctx, l)
	return l.Items, err
}

// note records a finding for the final report.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.invalid = append(w.invalid, fmt.Sprintf(format, args...))
}

// taken returns the invalid requests that were accepted.
func (w *world) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.invalid
}

// ready returns an object's Ready condition.
func ready(o *unstructured.Unstructured) (c metav1.Condition) {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, one := range all {
		have, _ := one.(map[string]any)
		if have["type"] != v1alpha1.ConditionReady {
			continue
		}
		c.Status = metav1.ConditionStatus(fmt.Sprint(have["status"]))
		c.Reason, c.Message = fmt.Sprint(have["reason"]), fmt.Sprint(have["message"])
		c.ObservedGeneration, _ = have["observedGeneration"].(int64)
	}
	return c
}

// field returns a field of an object as a string, or "" if it is not set.
func field(o *unstructured.Unstructured, path ...string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
