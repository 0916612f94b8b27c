package awsproxy

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

func (s *eksService) create(ctx context.Context, x *exchange, c *eksCluster) (*reply, error) {
	var in associationRequest
	if json.Unmarshal(x.body, &in) != nil {
		return refuseInvalid(x, "The request body is not valid."), nil
	}
	if why := in.invalid(); why != "" {
		return refuseInvalid(x, why), nil
	}
	made := association{Tags: in.Tags}
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
		return x.fail(http.StatusConflict, "ResourceInUseException", "Association already exists: "+
			have.now.Summary.AssociationID), nil
	}
	if limit := int(cmp.Or(s.quota.Load(), associationQuota)); s.count(c) >= limit {
		return x.fail(http.StatusBadRequest, "ResourceLimitExceededException",
			"The maximum number of pod identity associations per cluster is "+strconv.Itoa(limit)+"."), nil
	}
	return shown(s.add(c, in, made))
}

// add stores a new association, which may take effect later.
func (s *eksService) add(c *eksCluster, in associationRequest, made association) association {
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
	s.lag.begin(made.Summary.AssociationARN, associationLag)
	return made
}

// seconds returns the current time in EKS's format: seconds since 1970.
func (s *eksService) seconds() float64 { return float64(s.now().UnixMilli()) / 1000 }

// again returns the association that was created with the request's token, or a refusal if that request was a
// different one.
func (s *eksService) again(x *exchange, c *eksCluster, in associationRequest) (*associationState, *reply) {
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
func (s *eksService) count(c *eksCluster) (n int) {
	for _, a := range c.associations {
		if !a.deleted {
			n++
		}
	}
	return n
}

// change applies a request to the association. An empty text removes the former value.
func (a *association) change(in associationRequest) {
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
		a.ExternalID = requestID(protoRESTJSON)
	}
}

func (s *eksService) update(ctx context.Context, x *exchange, c *eksCluster) (*reply, error) {
	var in associationRequest
	if json.Unmarshal(x.body, &in) != nil {
		return refuseInvalid(x, "The request body is not valid."), nil
	}
	have, refusal := s.find(x, c)
	if refusal != nil {
		return refusal, nil
	}
	if in.RoleARN == nil && in.DisableSessionTags == nil && in.TargetRoleARN == nil && in.Policy == nil {
		return refuseInvalid(x, "At least one of roleArn, targetRoleArn, disableSessionTags and policy must be changed."), nil
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
func (s *eksService) replace(a *associationState, by association) {
	if before := s.effective(a); before != nil {
		held := *before
		a.before = &held
	}
	a.now = by
	s.lag.begin(by.Summary.AssociationARN, associationLag)
}

// find returns the association that a call names, or the refusal if it does not exist.
func (s *eksService) find(x *exchange, c *eksCluster) (association, *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := associationOf(x.path)
	if a := c.associations[id]; a != nil && !a.deleted {
		return a.now, nil
	}
	return association{}, noAssociation(x, id)
}

func (s *eksService) remove(_ context.Context, x *exchange, c *eksCluster) (*reply, error) {
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

func (s *eksService) describe(_ context.Context, x *exchange, c *eksCluster) (*reply, error) {
	have, refusal := s.find(x, c)
	if refusal != nil {
		return refusal, nil
	}
	return shown(have)
}

// associationsPage is the number of associations on a page, by the reference of ListPodIdentityAssociations.
const associationsPage = 100

func (s *eksService) list(_ context.Context, x *exchange, c *eksCluster) (*reply, error) {
	limit := associationsPage
	if text := x.query.Get("maxResults"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > associationsPage {
			return refuseInvalid(x, "maxResults must be between 1 and " + strconv.Itoa(associationsPage) + "."), nil
		}
		limit = n
	}
	after, err := base64.RawURLEncoding.DecodeString(x.query.Get("nextToken"))
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
func (a associationSummary) passes(x *exchange) bool {
	namespace, account := x.query.Get("namespace"), x.query.Get("serviceAccount")
	return (namespace == "" || namespace == a.Namespace) && (account == "" || account == a.ServiceAccount)
}
