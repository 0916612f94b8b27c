package sqs

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestMessagesAreCounted(t *testing.T) {
	made := object(func(q *v1alpha1.SQSQueue) {
		q.Status.QueueURL = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"
	})
	full := map[string]string{
		"ApproximateNumberOfMessages": "3", "ApproximateNumberOfMessagesNotVisible": "2",
		"ApproximateNumberOfMessagesDelayed": "0", "DelaySeconds": "5",
	}
	for name, c := range map[string]struct {
		sqs   *fakeSQS
		obj   *v1alpha1.SQSQueue
		want  map[string]string
		error string
		calls int
	}{
		"there":        {&fakeSQS{exists: true, attributes: full}, made, map[string]string{"messages": "3", "messagesInFlight": "2", "messagesDelayed": "0"}, "", 1},
		"not made yet": {&fakeSQS{}, object(), nil, "", 0},
		"gone":         {&fakeSQS{}, made, nil, "", 1},
		"denied":       {&fakeSQS{exists: true, fail: code("AccessDenied")}, made, nil, "ask a platform admin", 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.obj.DeepCopy()
			got, err := adapter(t, c.sqs).ReadLive(t.Context(), c.obj)
			if !maps.Equal(got, c.want) {
				t.Errorf("ReadLive() = %v, want %v", got, c.want)
			}
			if (err == nil) != (c.error == "") || !strings.Contains(fmt.Sprint(err), c.error) {
				t.Errorf("error = %v, want %q", err, c.error)
			}
			if len(c.sqs.calls) != c.calls || c.sqs.writes > 0 || before.Status.QueueURL != c.obj.Status.QueueURL {
				t.Errorf("after %v", c.sqs.calls)
			}
		})
	}
}
