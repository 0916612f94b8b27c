package objects

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

func TestActivityIsForThoseWhoMayListEvents(t *testing.T) {
	event := func(namespace, name, controller string, second int64) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: name},
			ReportingController: controller, EventTime: metav1.NewMicroTime(time.Unix(second, 0)),
		}
	}
	all := []*corev1.Event{
		event("payments", "early", activity.Controller, 2), event("payments", "late", activity.Controller, 9),
		event("payments", "operator", "portico-operator", 5), event("search", "other", activity.Controller, 4),
		event("default", "platform", activity.Controller, 1),
	}
	for reason, c := range map[string]struct {
		may       []string
		namespace string
		want      []string
		narrow    bool
		forbidden bool
	}{
		"one namespace":         {[]string{"list events payments"}, "payments", []string{"late", "early"}, false, false},
		"another's":             {[]string{"list events payments"}, "search", nil, false, true},
		"all that may be seen":  {[]string{"list s3buckets payments", "list events payments", "list s3buckets search"}, "", []string{"late", "early"}, true, false},
		"everything":            {[]string{"list events"}, "", []string{"late", "other", "early", "platform"}, false, false},
		"what has no namespace": {[]string{"list events default"}, "", []string{"platform"}, true, false},
		"nothing":               {nil, "", nil, true, false},
	} {
		t.Run(reason, func(t *testing.T) {
			cl, _ := overseen(t, c.may...)
			there := cl.feed.Cache.(*kubetest.Spaces)
			there.Names, there.Events = append(there.Names, "default"), all
			got, err := cl.Activity(t.Context(), kubetest.Dev, c.namespace)
			var names []string
			for _, e := range got.Events {
				names = append(names, e.Name)
			}
			if forbidden := failure.OutcomeOf(err) == auth.Forbidden; forbidden != c.forbidden || err != nil &&
				!forbidden {
				t.Errorf("%v", err)
			}
			if !slices.Equal(names, c.want) || got.Narrow != c.narrow {
				t.Errorf("%v, narrow %v", names, got.Narrow)
			}
			there.Failed = errors.New("no cache")
			if _, err := cl.Activity(t.Context(), kubetest.Dev, c.namespace); err == nil {
				t.Error("a cache that fails is empty")
			}
		})
	}
}
