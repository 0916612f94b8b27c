//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// ladder is a role that starts with few actions of a policy document or none, and is granted the others one by one.
type ladder struct {
	t       *testing.T
	c       client.Client
	role    string
	file    map[string]any // the policy document
	granted []string
	asked   map[string]int // counts at the start
	detach  func()
	wake    func(engine.Object) // triggers the objects that wait for a permission
}

// newLadder removes all actions of a kind's document from a role, except those given.
func newLadder(t *testing.T, c client.Client, kind, role string, given ...string) *ladder {
	t.Helper()
	text, err := os.ReadFile("../../docs/iam/" + strings.ToLower(kind) + ".json")
	if err != nil {
		t.Fatal(err)
	}
	l := &ladder{t: t, c: c, role: role, granted: given, asked: world.Proxy.AskedActions(role), detach: func() {}}
	l.wake = func(o engine.Object) { wakeNow(t, c, o) }
	if err := json.Unmarshal(text, &l.file); err != nil {
		t.Fatal(err)
	}
	l.attach()
	t.Cleanup(func() { l.detach() })
	return l
}

// actions returns the actions of the document, without those that list offers for forms, which no request needs: see
// TestAnAccountsOffersAreListed.
func (l *ladder) actions() []string {
	var all []string
	for _, s := range l.file["Statement"].([]any) {
		if strings.HasPrefix(s.(map[string]any)["Sid"].(string), "Lists") {
			continue
		}
		for _, a := range s.(map[string]any)["Action"].([]any) {
			all = append(all, a.(string))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// attach attaches each statement of the document to the role, with only the granted actions.
func (l *ladder) attach() {
	l.t.Helper()
	var policies iampolicy.Policies
	var kept []any
	for _, s := range l.file["Statement"].([]any) {
		copied := maps.Clone(s.(map[string]any))
		var actions []any
		for _, a := range copied["Action"].([]any) {
			if slices.Contains(l.granted, a.(string)) {
				actions = append(actions, a)
			}
		}
		if copied["Action"] = actions; len(actions) > 0 {
			kept = append(kept, copied)
		}
	}
	if len(kept) > 0 {
		text, err := json.Marshal(map[string]any{"Version": l.file["Version"], "Statement": kept})
		if err != nil {
			l.t.Fatal(err)
		}
		policy, err := awsproxy.ParsePolicy(text)
		if err != nil {
			l.t.Fatal(err)
		}
		policies.Identity = []*iampolicy.Policy{policy}
	}
	l.detach()
	l.detach = world.Proxy.AttachPolicies(l.role, policies)
}

var missingAction = regexp.MustCompile(
	`(?:is not authorized to perform:|the provider's identity lacks|to grant) ([a-zA-Z0-9-]+:[a-zA-Z]+)`)

// climb grants each action that the object's condition names, until done returns true.
func (l *ladder) climb(what string, obj engine.Object, done func() bool) {
	l.t.Helper()
	await(l.t, what, func() (bool, string) {
		if done() {
			return true, ""
		}
		found := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady)
		if found == nil {
			return false, "no condition"
		}
		state := fmt.Sprintf("%s: %s, with %v", found.Reason, found.Message, l.granted)
		m := missingAction.FindStringSubmatch(found.Message)
		if m == nil {
			return false, state
		}
		i := slices.IndexFunc(l.actions(), func(a string) bool { return strings.EqualFold(a, m[1]) })
		if i < 0 {
			l.t.Fatalf("the document does not allow it: %s", state)
		}
		if action := l.actions()[i]; !slices.Contains(l.granted, action) {
			l.granted = append(l.granted, action)
			l.attach()
			l.wake(obj)
		}
		return false, state
	})
}

// used checks that AWS was asked for every action of the document, except those in other, each of which has a reason.
func (l *ladder) used(other map[string]string) {
	l.t.Helper()
	asked := world.Proxy.AskedActions(l.role)
	for _, action := range l.actions() {
		why, left := other[action]
		switch was := asked[action] > l.asked[action]; {
		case was && left:
			l.t.Errorf("%s is said not to be asked for, for %q, and is", action, why)
		case !was && !left:
			l.t.Errorf("%s was never asked for: take it away, or say why it is there", action)
		}
		delete(other, action)
	}
	for action := range other {
		l.t.Errorf("the document has no %s", action)
	}
}

// lead creates an object, applies its stages, each of which is a patch, and deletes it.
func (l *ladder) lead(o engine.Object, stages []string) {
	l.t.Helper()
	if err := json.Unmarshal([]byte(stages[0]), o); err != nil {
		l.t.Fatal(err)
	}
	create(l.t, l.c, o)
	for i, stage := range stages {
		if err := l.c.Patch(l.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(stage))); i > 0 &&
			err != nil {
			l.t.Fatal(err)
		}
		l.climb(fmt.Sprintf("stage %d", i), o, func() bool {
			err := l.c.Get(l.t.Context(), client.ObjectKeyFromObject(o), o)
			return err == nil && o.Common().Ready && o.Common().ObservedGeneration == o.GetGeneration()
		})
	}
	if err := erase(l.t, l.c, o); err != nil {
		l.t.Fatal(err)
	}
	l.climb("the end", o, func() bool {
		return apierrors.IsNotFound(l.c.Get(l.t.Context(), client.ObjectKeyFromObject(o), o))
	})
}

// Each permission of a document is needed: while one is missing, the condition names it, if AWS does. Granted one by
// one, they suffice for creation, changes and deletion.
func TestAMissingPermissionIsNamed(t *testing.T) {
	tiers.Long(t)
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		row, home := permitted[s.kind], homes[s.kind]
		p, ns := account(t, c, home), team(t, c)
		in := strings.NewReplacer("NAMESPACE", ns)
		if row.setup != nil {
			in = strings.NewReplacer(append(row.setup(sharedAccountOf(t, p), ns), "NAMESPACE", ns)...)
		}
		l := newLadder(t, c, s.kind, stack.RoleARN(home), row.given...)
		for i, stages := range row.lives {
			o := s.object(ns, fmt.Sprintf("permitted-%d", i))
			spec, _ := o.AWS()
			spec.ProviderRef.Name = p.Name
			for n := range stages {
				stages[n] = in.Replace(stages[n])
			}
			l.lead(o, stages)
		}
		l.used(maps.Clone(row.other))
	})
}

// A hostname needs several objects, in sessions of two namespaces.
func TestAMissingPermissionOfAHostnameIsNamed(t *testing.T) {
	c := admin(t)
	startOperator(t, operatorOptions{})
	d := domainOf(t, c)
	l := newLadder(t, c, "GatewayHostnameRequest", stack.RoleARN(stack.AccountID))
	l.wake = func(o engine.Object) {
		wakeNow(t, c, o)
		places := &v1alpha1.PoolGatewayList{}
		if err := c.List(t.Context(), places); err != nil {
			t.Fatal(err)
		}
		for i := range places.Items {
			annotate(t, c, &places.Items[i], v1alpha1.AnnotationReconcileRequestedAt, fmt.Sprint(counter.Add(1)))
		}
	}
	r := d.request("shop." + d.name)
	l.climb("the hostname", r, func() bool {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r)
		return err == nil && r.Common().Ready
	})
	if err := erase(t, c, r); err != nil {
		t.Fatal(err)
	}
	l.climb("the end", r, func() bool {
		return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(r), r))
	})
	l.used(map[string]string{"tag:GetResources": "it finds a certificate whose request got no answer, or that a lost " +
		"cluster had; a test of its own has such"})
}
