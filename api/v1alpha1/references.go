package v1alpha1

// ObjectRef names an object of one of Portico's kinds, in the same namespace.
type ObjectRef struct {
	// kind of the object.
	Kind string `json:"kind"`
	// name of the object.
	Name string `json:"name"`
}

// References returns what the application uses, and the hostname at which it answers.
func (a *WebApp) References() (all []ObjectRef) {
	for _, b := range a.Spec.Bindings {
		all = append(all, ObjectRef{b.Kind, b.Name})
	}
	if e := a.Spec.Expose; e != nil {
		all = append(all, ObjectRef{KindGatewayHostnameRequest, e.Hostname})
	}
	return all
}

// References returns the queues that the topic delivers to.
func (t *SNSTopic) References() (all []ObjectRef) {
	for _, s := range t.Spec.Subscriptions {
		all = append(all, ObjectRef{KindSQSQueue, s.QueueRef.Name})
	}
	return all
}

// References returns the dead-letter queue.
func (q *SQSQueue) References() []ObjectRef {
	if dlq := q.Spec.DeadLetterQueue; dlq != nil && dlq.TargetRef != nil {
		return []ObjectRef{{KindSQSQueue, dlq.TargetRef.Name}}
	}
	return nil
}
