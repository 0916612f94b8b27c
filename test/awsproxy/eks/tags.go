package eks

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// state returns the association with the ARN; nil if there is none. The caller holds the lock of the service.
func (s *Service) state(arn string) *associationState {
	for _, c := range s.all {
		for _, a := range c.associations {
			if a.now.Summary.AssociationARN == arn && !a.deleted {
				return a
			}
		}
	}
	return nil
}

// taggedARN returns the ARN in the path of a call about tags.
func taggedARN(x *wire.Exchange) string { return strings.TrimPrefix(x.Path, tagsPath) }

// about serves a call about the tags of an association.
func (s *Service) about(x *wire.Exchange, serve func(*wire.Exchange, *associationState) (*wire.Reply, error)) (
	*wire.Reply, error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := taggedARN(x)
	a := s.state(arn)
	if a == nil || !strings.HasPrefix(arn, x.ARN("eks", "")) {
		return x.Fail(http.StatusNotFound, "NotFoundException", "Resource not found: "+arn), nil
	}
	return serve(x, a)
}

func (s *Service) tag(x *wire.Exchange, a *associationState) (*wire.Reply, error) {
	var in associationRequest
	if json.Unmarshal(x.Body, &in) != nil {
		return refuseInvalid(x, "The request body is not valid."), nil //nolint:nilerr // it is refused for that
	}
	all := maps.Clone(a.now.Tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, in.Tags)
	if why := invalidTags(all); why != "" {
		return x.Fail(http.StatusBadRequest, "BadRequestException", why), nil
	}
	a.now.Tags = all
	return jsonReply(struct{}{})
}

func (s *Service) untag(x *wire.Exchange, a *associationState) (*wire.Reply, error) {
	all := maps.Clone(a.now.Tags)
	for _, key := range x.Query["tagKeys"] {
		delete(all, key)
	}
	a.now.Tags = all
	return jsonReply(struct{}{})
}

func (s *Service) tags(_ *wire.Exchange, a *associationState) (*wire.Reply, error) {
	return jsonReply(map[string]any{"tags": a.now.Tags})
}
