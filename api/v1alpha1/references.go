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
		if s.QueueRef != nil {
			all = append(all, ObjectRef{KindSQSQueue, s.QueueRef.Name})
		}
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

// References returns the queues and topics that the bucket notifies.
func (b *S3Bucket) References() (all []ObjectRef) {
	for _, n := range b.Spec.Notifications {
		switch {
		case n.QueueRef != nil:
			all = append(all, ObjectRef{KindSQSQueue, n.QueueRef.Name})
		case n.TopicRef != nil:
			all = append(all, ObjectRef{KindSNSTopic, n.TopicRef.Name})
		}
	}
	return all
}

// Admitted returns the objects of the namespace that may send to the queue, or use it as their dead-letter queue. The
// queue works without them: they are no References.
func (q *SQSQueue) Admitted() []ObjectRef {
	all := q.Spec.AllowFrom.refs()
	if p := q.Spec.RedriveAllowPolicy; p != nil {
		for _, source := range p.SourceQueueRefs {
			all = append(all, ObjectRef{KindSQSQueue, source.Name})
		}
	}
	return all
}

// Admitted returns the objects of the namespace that may publish to the topic. The topic works without them: they are
// no References.
func (t *SNSTopic) Admitted() []ObjectRef { return t.Spec.AllowFrom.refs() }
