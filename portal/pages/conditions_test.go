package pages

import (
	"strings"
	"testing"
)

// TestInputsTellWhenTheyCount by a hint for everybody, and by attributes for the script that hides them.
func TestInputsTellWhenTheyCount(t *testing.T) {
	page := post(t, newFake(t), askApp, app("add spec.env")).Body.String()
	lacks(t, page, `data-field="spec.env[0].value" data-when="spec.env[0].valueFrom empty"`,
		`data-when="spec.env[0].value empty"`,
		`data-when="spec.env[0].valueFrom.configMapKeyRef empty"`, "not both.")
	lacks(t, visit(t, busySite(t), developer, ask).Body.String(),
		`data-when="spec.encryption.algorithm is aws:kms aws:kms:dsse"`,
		"Applies only if algorithm is aws:kms or aws:kms:dsse.")
	lacks(t, visit(t, newFake(t), developer, "/teams/payments/new/sqsqueues").Body.String(),
		`data-when="spec.fifoQueue is true"`, "Applies only if FIFO queue is yes.",
		`data-when="spec.kmsMasterKeyId is"`, "Applies only if KMS master key ID is set.")
}

func TestInputsTakeUnits(t *testing.T) {
	page := visit(t, newFake(t), developer, "/teams/payments/new/rdsinstances").Body.String()
	lacks(t, page, `<span aria-hidden="true">GiB</span>`, "For example 20, 20 GiB or 1 TiB.")
	const queues = "/teams/payments/new/sqsqueues"
	lacks(t, post(t, newFake(t), queues, filled("yaml", "spec.visibilityTimeout", "5m")).Body.String(),
		"visibilityTimeout: 300")
	lacks(t, post(t, newFake(t), queues, filled("review", "spec.visibilityTimeout", "5 moons")).Body.String(),
		`value="5 moons"`, "Must be a whole number of seconds, such as 45, 45s, 5m or 2h.")
	lacks(t, visit(t, newFake(t), developer, askApp).Body.String(), `<option value="256Mi">`, `<option value="250m">`)
	lacks(t, post(t, newFake(t), askApp, app("yaml", "spec.resources.requests.memory", "2 GiB")).Body.String(),
		"memory: 2Gi")
}

// TestWhatIsFixedSettlesConditions: whether a queue is FIFO cannot change, so its form need not ask.
func TestWhatIsFixedSettlesConditions(t *testing.T) {
	const queue = `{apiVersion: portico.dev/v1alpha1, kind: SQSQueue, metadata: {name: q, namespace: payments, generation: 1}, spec: {providerRef: {name: aws-prod}FIFO}, status: {accountID: "123456789012"}}`
	for fifo, shown := range map[string]bool{
		", fifoQueue: true": true, ", fifoQueue: false": false, "": false,
		", contentBasedDeduplication: true": true, // it is set but must not be: shown, so that it can be fixed
	} {
		f := newFake(t, strings.Replace(queue, "FIFO", fifo, 1))
		page := visit(t, f, developer, "/teams/payments/sqsqueues/q/edit").Body.String()
		if strings.Contains(page, `name="spec.contentBasedDeduplication"`) != shown {
			t.Errorf("of a queue with %q there is an input: %v, want %v", fifo, !shown, shown)
		}
		if strings.Contains(page, `data-when="spec.fifoQueue`) {
			t.Errorf("of a queue with %q the script waits for an input that is not there", fifo)
		}
		lacks(t, page, `data-when="spec.kmsMasterKeyId is"`)
	}
}
