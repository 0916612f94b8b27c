package awsproxy

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// state returns the association with the ARN; nil if there is none. The caller holds the lock of the service.
func (s *eksService) state(arn string) *associationState {
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
func taggedARN(x *exchange) string { return strings.TrimPrefix(x.path, tagsPath) }

// about serves a call about the tags of an association.
func (s *eksService) about(x *exchange, serve func(*exchange, *associationState) (*reply, error)) (*reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	arn := taggedARN(x)
	a := s.state(arn)
	if a == nil || !strings.HasPrefix(arn, x.arn("eks", "")) {
		return x.fail(http.StatusNotFound, "NotFoundException", "Resource not found: "+arn), nil
	}
	return serve(x, a)
}

func (s *eksService) tag(x *exchange, a *associationState) (*reply, error) {
	var in associationRequest
	if json.Unmarshal(x.body, &in) != nil {
		return refuseInvalid(x, "The request body is not valid."), nil //nolint:nilerr // it is refused for that
	}
	all := maps.Clone(a.now.Tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, in.Tags)
	if why := invalidTags(all); why != "" {
		return x.fail(http.StatusBadRequest, "BadRequestException", why), nil
	}
	a.now.Tags = all
	return jsonReply(struct{}{})
}

func (s *eksService) untag(x *exchange, a *associationState) (*reply, error) {
	all := maps.Clone(a.now.Tags)
	for _, key := range x.query["tagKeys"] {
		delete(all, key)
	}
	a.now.Tags = all
	return jsonReply(struct{}{})
}

func (s *eksService) tags(_ *exchange, a *associationState) (*reply, error) {
	return jsonReply(map[string]any{"tags": a.now.Tags})
}
