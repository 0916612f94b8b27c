package eks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// associationRequest is the body of a creation or an update; nil means not given.
type associationRequest struct {
	Namespace          string            `json:"namespace"`
	ServiceAccount     string            `json:"serviceAccount"`
	RoleARN            *string           `json:"roleArn"`
	Tags               map[string]string `json:"tags"`
	DisableSessionTags *bool             `json:"disableSessionTags"`
	TargetRoleARN      *string           `json:"targetRoleArn"`
	Policy             *string           `json:"policy"`
	ClientRequestToken string            `json:"clientRequestToken"`
}

func (s *Service) create(ctx context.Context, x *wire.Exchange, c *clusterState) (*wire.Reply, error) {
	var in associationRequest
	if json.Unmarshal(x.Body, &in) != nil {
		return refuseInvalid(x, "The request body is not valid."), nil
	}
	if why := in.invalid(); why != "" {
		return refuseInvalid(x, why), nil
	}
	made := Association{Tags: in.Tags}
	made.change(in)
	if why := made.invalid(); why != "" {
		return refuseInvalid(x, why), nil
	}
	if why, err := s.invalidRole(ctx, x, made.RoleARN); why != "" || err != nil {
		return refuseInvalid(x, why), err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if same, refusal := s.again(x, c, in); refusal != nil {
		return refusal, nil
	} else if same != nil {
		return shown(same.now)
	}
	if have := s.taken(c, in.Namespace, in.ServiceAccount); have != nil {
		return x.Fail(http.StatusConflict, "ResourceInUseException", "Association already exists: "+
			have.now.Summary.AssociationID), nil
	}
	if limit := int(cmp.Or(s.quota.Load(), associationQuota)); s.count(c) >= limit {
		return x.Fail(http.StatusBadRequest, "ResourceLimitExceededException",
			"The maximum number of pod identity associations per cluster is "+strconv.Itoa(limit)+"."), nil
	}
	return shown(s.add(c, in, made))
}

// add stores a new association, which may take effect later.
func (s *Service) add(c *clusterState, in associationRequest, made Association) Association {
	id := "a-" + strings.ToLower(rand.Text())[:17]
	made.CreatedAt = s.seconds()
	made.ModifiedAt = made.CreatedAt
	made.Summary = associationSummary{
		ClusterName: c.id.Name, Namespace: in.Namespace, ServiceAccount: in.ServiceAccount,
		AssociationID: id, AssociationARN: c.id.arn("podidentityassociation/" + c.id.Name + "/" + id),
	}
	c.associations[id] = &associationState{now: made, request: in.text()}
	if in.ClientRequestToken != "" {
		c.tokens[in.ClientRequestToken] = id
	}
	s.lag.Begin(made.Summary.AssociationARN, associationLag)
	return made
}

// seconds returns the current time in EKS's format: seconds since 1970.
func (s *Service) seconds() float64 { return float64(s.now().UnixMilli()) / 1000 }

// again returns the association that was created with the request's token, or a refusal if that request was a
// different one.
func (s *Service) again(x *wire.Exchange, c *clusterState, in associationRequest) (*associationState, *wire.Reply) {
	a := c.associations[c.tokens[in.ClientRequestToken]]
	if in.ClientRequestToken == "" || a == nil || a.deleted {
		return nil, nil
	}
	if a.request != in.text() {
		return nil, refuseInvalid(x, "The client request token was used before, with other parameters.")
	}
	return a, nil
}

// text returns the request in a form that can be compared.
func (r associationRequest) text() string {
	text, _ := json.Marshal(r) // it was parsed from JSON
	return string(text)
}

// count returns the number of associations in a cluster.
func (s *Service) count(c *clusterState) (n int) {
	for _, a := range c.associations {
		if !a.deleted {
			n++
		}
	}
	return n
}

// change applies a request to the association. An empty text removes the former value.
func (a *Association) change(in associationRequest) {
	if in.RoleARN != nil {
		a.RoleARN = *in.RoleARN
	}
	if in.DisableSessionTags != nil {
		a.DisableSessionTags = *in.DisableSessionTags
	}
	if in.Policy != nil {
		a.Policy = *in.Policy
	}
	if in.TargetRoleARN == nil {
		return
	}
	a.TargetRoleARN = *in.TargetRoleARN
	switch {
	case a.TargetRoleARN == "":
		a.ExternalID = ""
	case a.ExternalID == "":
		a.ExternalID = wire.RequestID(wire.RESTJSON)
	}
}

func (s *Service) update(ctx context.Context, x *wire.Exchange, c *clusterState) (*wire.Reply, error) {
	var in associationRequest
	if json.Unmarshal(x.Body, &in) != nil {
		return refuseInvalid(x, "The request body is not valid."), nil
	}
	have, refusal := s.find(x, c)
	if refusal != nil {
		return refusal, nil
	}
	if in.RoleARN == nil && in.DisableSessionTags == nil && in.TargetRoleARN == nil && in.Policy == nil {
		return refuseInvalid(x,
			"At least one of roleArn, targetRoleArn, disableSessionTags and policy must be changed."), nil
	}
	made := have
	made.change(in)
	if why := made.invalid(); why != "" {
		return refuseInvalid(x, why), nil
	}
	if in.RoleARN != nil {
		if why, err := s.invalidRole(ctx, x, made.RoleARN); why != "" || err != nil {
			return refuseInvalid(x, why), err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := c.associations[have.Summary.AssociationID]
	if a == nil || a.deleted {
		return noAssociation(x, have.Summary.AssociationID), nil
	}
	made = a.now // it may have changed since
	made.change(in)
	made.ModifiedAt = s.seconds()
	s.replace(a, made)
	return shown(made)
}

// replace sets the state of an association, which may take effect later.
func (s *Service) replace(a *associationState, by Association) {
	if before := s.effective(a); before != nil {
		held := *before
		a.before = &held
	}
	a.now = by
	s.lag.Begin(by.Summary.AssociationARN, associationLag)
}

// find returns the association that a call names, or the refusal if it does not exist.
func (s *Service) find(x *wire.Exchange, c *clusterState) (Association, *wire.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := associationOf(x.Path)
	if a := c.associations[id]; a != nil && !a.deleted {
		return a.now, nil
	}
	return Association{}, noAssociation(x, id)
}

func (s *Service) remove(_ context.Context, x *wire.Exchange, c *clusterState) (*wire.Reply, error) {
	have, refusal := s.find(x, c)
	if refusal != nil {
		return refusal, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := c.associations[have.Summary.AssociationID]; a != nil {
		s.replace(a, a.now)
		a.deleted = true
	}
	return shown(have)
}

func (s *Service) describe(_ context.Context, x *wire.Exchange, c *clusterState) (*wire.Reply, error) {
	have, refusal := s.find(x, c)
	if refusal != nil {
		return refusal, nil
	}
	return shown(have)
}

// associationsPage is the number of associations on a page, by the reference of ListPodIdentityAssociations.
const associationsPage = 100

func (s *Service) list(_ context.Context, x *wire.Exchange, c *clusterState) (*wire.Reply, error) {
	limit := associationsPage
	if text := x.Query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > associationsPage {
			return refuseInvalid(x, "maxResults must be between 1 and "+strconv.Itoa(associationsPage)+"."), nil
		}
		limit = n
	}
	after, err := base64.RawURLEncoding.DecodeString(x.Query.Get("nextToken"))
	if err != nil || len(after) > 0 && !strings.HasPrefix(string(after), "a-") {
		return refuseInvalid(x, "The nextToken is not valid."), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	page := []associationSummary{}
	answer := map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(c.associations)) {
		a := c.associations[id]
		if a.deleted || id <= string(after) || !a.now.Summary.passes(x) {
			continue
		}
		if len(page) == limit {
			answer["nextToken"] = base64.RawURLEncoding.EncodeToString([]byte(page[limit-1].AssociationID))
			break
		}
		page = append(page, a.now.Summary)
	}
	answer["associations"] = page
	return jsonReply(answer)
}

// passes reports whether the association matches the listing's filters.
func (a associationSummary) passes(x *wire.Exchange) bool {
	namespace, account := x.Query.Get("namespace"), x.Query.Get("serviceAccount")
	return (namespace == "" || namespace == a.Namespace) && (account == "" || account == a.ServiceAccount)
}
