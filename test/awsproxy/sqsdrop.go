package awsproxy

import (
	"encoding/json"
	"slices"
)

// DropQueueAttributes makes SetQueueAttributes accept these attributes and take no notice of them, until it is called
// again. AWS shows a change up to a minute late; queues of other makers, ElasticMQ for one, never show some.
func (p *Proxy) DropQueueAttributes(names ...string) {
	p.queues.mu.Lock()
	defer p.queues.mu.Unlock()
	p.queues.dropped = slices.Clone(names)
}

// drop takes out of a SetQueueAttributes what is to be dropped.
func (s *sqsService) drop(x *exchange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	given, ok := x.json["Attributes"].(map[string]any)
	if !ok || len(s.dropped) == 0 {
		return nil
	}
	for _, name := range s.dropped {
		delete(given, name)
	}
	body, err := json.Marshal(x.json)
	if err == nil {
		x.body = body
	}
	return err
}
