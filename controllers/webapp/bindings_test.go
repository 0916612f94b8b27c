package webapp

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestPrefixes(t *testing.T) {
	for name, row := range map[string]struct {
		binding v1alpha1.WebAppBinding
		want    string
	}{
		"the resource's name":      {v1alpha1.WebAppBinding{Name: "orders"}, "ORDERS_"},
		"a name with signs":        {v1alpha1.WebAppBinding{Name: "pay-ments.eu"}, "PAY_MENTS_EU_"},
		"a digit in front":         {v1alpha1.WebAppBinding{Name: "1-a.b"}, "_1_A_B_"},
		"as it is written":         {v1alpha1.WebAppBinding{Name: "orders", Prefix: "queue"}, "queue_"},
		"an underscore at the end": {v1alpha1.WebAppBinding{Name: "orders", Prefix: "QUEUE_"}, "QUEUE_"},
	} {
		if got := prefixOf(row.binding); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestBindings(t *testing.T) {
	details := &v1alpha1.Binding{Name: "orders-binding", Keys: []string{"arn", "queue.url"}, ResourceVersion: "7"}
	orders := v1alpha1.WebAppBinding{Kind: "SQSQueue", Name: "orders"}
	twin := v1alpha1.WebAppBinding{Kind: "S3Bucket", Name: "orders"}
	for name, row := range map[string]struct {
		asked   []v1alpha1.WebAppBinding
		found   BoundResource
		err     error
		inUse   bool
		reason  string
		message string
		want    string
	}{
		"a Ready resource": {asked: []v1alpha1.WebAppBinding{orders}, found: BoundResource{Named: Named{Found: true, Ready: true}, Binding: details}, want: "ORDERS_ARN ORDERS_QUEUE_URL"},
		"with another prefix, two of a name": {
			asked: []v1alpha1.WebAppBinding{orders, {Kind: "S3Bucket", Name: "orders", Prefix: "FILES"}},
			found: BoundResource{Named: Named{Found: true, Ready: true}, Binding: details},
			want:  "ORDERS_ARN ORDERS_QUEUE_URL FILES_ARN FILES_QUEUE_URL",
		},
		"two that give the same variable": {
			asked: []v1alpha1.WebAppBinding{orders, twin}, found: BoundResource{
				Named: Named{Found: true, Ready: true}, Binding: details,
			}, reason: "BindingsCollide",
			message: "the bindings to SQSQueue orders and S3Bucket orders both give the variable ORDERS_ARN; give " +
				"one of them another prefix",
		},
		"not Ready yet": {
			asked: []v1alpha1.WebAppBinding{orders}, found: BoundResource{
				Named: Named{Found: true, State: "the queue is being created"},
			}, reason: "WaitingForBinding",
			message: "waiting for the SQSQueue orders to be Ready: the queue is being created",
		},
		"not Ready at first, with details": {
			asked: []v1alpha1.WebAppBinding{orders}, found: BoundResource{Named: Named{Found: true}, Binding: details},
			reason:  "WaitingForBinding",
			message: "waiting for the SQSQueue orders to be Ready: it is not checked yet",
		},
		"not Ready later": {asked: []v1alpha1.WebAppBinding{orders}, found: BoundResource{Named: Named{Found: true}, Binding: details}, inUse: true, want: "ORDERS_ARN ORDERS_QUEUE_URL"},
		"later without details": {
			asked: []v1alpha1.WebAppBinding{orders}, found: BoundResource{Named: Named{Found: true, Ready: true}},
			inUse: true, reason: "WaitingForBinding",
			message: "waiting for the SQSQueue orders to be Ready: it is not checked yet",
		},
		"not there": {
			asked: []v1alpha1.WebAppBinding{orders}, reason: "BindingNotFound",
			message: "there is no SQSQueue orders in this namespace; request it, or remove the binding",
		},
		"being deleted": {
			asked: []v1alpha1.WebAppBinding{orders}, found: BoundResource{
				Named: Named{Found: true, Deleting: true, Ready: true}, Binding: details,
			}, inUse: true,
			reason:  "BindingNotFound",
			message: "the SQSQueue orders is being deleted; remove the binding, or bind another one",
		},
		"an error is not absence": {asked: []v1alpha1.WebAppBinding{orders}, err: errors.New("boom"), message: "look up the SQSQueue orders: boom"},
		"none":                    {},
	} {
		t.Run(name, func(t *testing.T) {
			app := &v1alpha1.WebApp{Spec: v1alpha1.WebAppSpec{Bindings: row.asked}}
			if row.inUse {
				app.Status.Bindings = []v1alpha1.WebAppBound{{Kind: "SQSQueue", Name: "orders", Secret: details.Name}}
			}
			r := &reconciliation{app: app, Reconciler: Reconciler{
				Bound: func(context.Context, string, string, string) (BoundResource, error) {
					return row.found, row.err
				},
			}}
			_, err := r.resolveBindings(t.Context())
			var got []string
			for _, v := range r.given.variables {
				got = append(got, v.name)
			}
			if (err == nil) != (row.message == "") || err != nil && err.Error() != row.message {
				t.Fatalf("error = %v, want %q", err, row.message)
			}
			if err == nil && strings.Join(got, " ") != row.want {
				t.Fatalf("variables = %q, want %s", got, row.want)
			}
			if wait, ok := engine.AsWait(err); ok != (row.reason != "") || ok && wait.Reason != row.reason {
				t.Errorf("outcome %v, want %s", err, row.reason)
			}
		})
	}
}

func TestTheChecksumFollowsTheDetails(t *testing.T) {
	base := variable{name: "A", secret: "s", key: "k", version: "1"}
	seen := []string{(projection{}).checksum(), projection{variables: []variable{base}}.checksum()}
	for _, change := range []func(*variable){
		func(v *variable) { v.name = "B" }, func(v *variable) { v.secret = "t" }, func(v *variable) {
			v.key = "l"
		}, func(v *variable) { v.version = "2" },
	} {
		other := base
		change(&other)
		sum := projection{variables: []variable{other}}.checksum()
		if slices.Contains(seen, sum) {
			t.Errorf("%+v has the checksum of another", other)
		}
		seen = append(seen, sum)
	}
	if seen[0] != "" || (projection{variables: []variable{base}}).checksum() != seen[1] {
		t.Errorf("%q", seen)
	}
}

func TestWhatIsInUseIsNotedOnceABinding(t *testing.T) {
	of := v1alpha1.WebAppBinding{Kind: "SQSQueue", Name: "orders"}
	r := &reconciliation{given: projection{
		variables: []variable{
			{name: "A", secret: "s", version: "7", of: of},
			{name: "B", secret: "s", version: "7", of: of},
		},
	}}
	if got := r.bound(); !reflect.DeepEqual(
		got, []v1alpha1.WebAppBound{
			{Kind: "SQSQueue", Name: "orders", Secret: "s", ResourceVersion: "7", Variables: []string{"A", "B"}},
		}) {
		t.Errorf("got %+v", got)
	}
}
