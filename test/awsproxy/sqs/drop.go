package sqs

import (
	"encoding/json"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// DropQueueAttributes makes SetQueueAttributes accept these attributes and ignore them, until it is called again. AWS
// shows a change up to a minute late; queues of other makers, such as ElasticMQ, never show some.
func (s *Service) DropQueueAttributes(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped = slices.Clone(names)
}

// drop removes the ignored attributes from a SetQueueAttributes.
func (s *Service) drop(x *wire.Exchange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	given, ok := x.JSON["Attributes"].(map[string]any)
	if !ok || len(s.dropped) == 0 {
		return nil
	}
	for _, name := range s.dropped {
		delete(given, name)
	}
	body, err := json.Marshal(x.JSON)
	if err == nil {
		x.Body = body
	}
	return err
}
