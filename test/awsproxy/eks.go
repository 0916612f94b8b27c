package awsproxy

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// associationLag is how long an association may keep its former state: the references of
	// CreatePodIdentityAssociation and UpdatePodIdentityAssociation say that it "may take several seconds to be
	// effective".
	associationLag = 10 * time.Second
	// associationQuota is the number of associations that a cluster may have, by "Amazon EKS service quotas".
	associationQuota = 5000
)

// EKSCluster identifies a cluster of Amazon EKS.
type EKSCluster struct{ Account, Region, Name string }

// ARN returns the ARN of the cluster.
func (c EKSCluster) ARN() string { return c.arn("cluster/" + c.Name) }

func (c EKSCluster) arn(resource string) string {
	return strings.Join([]string{"arn", partition(c.Region), "eks", c.Region, c.Account, resource}, ":")
}

// AddEKSCluster adds a cluster to the account, which exists until the proxy ends.
func (s *eksService) AddEKSCluster(account, region, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := EKSCluster{Account: account, Region: region, Name: name}
	if s.all[id] == nil {
		s.all[id] = &eksCluster{id: id, associations: map[string]*associationState{}, tokens: map[string]string{}}
	}
}

// SetAssociationQuota limits the Pod Identity associations of each cluster; 0 restores AWS's own limit.
func (s *eksService) SetAssociationQuota(n int) { s.quota.Store(int64(n)) }

// eksService simulates the Pod Identity associations of EKS, which moto does not have.
type eksService struct {
	roles *roleBook
	lag   *lag
	now   func() time.Time
	quota atomic.Int64

	mu  sync.Mutex
	all map[EKSCluster]*eksCluster
}

// eksCluster has the associations of a cluster by their IDs, and the IDs by the idempotency tokens of their
// creations.
type eksCluster struct {
	id           EKSCluster
	associations map[string]*associationState
	tokens       map[string]string
}

// association is the representation of an association in EKS's API.
type association struct {
	Summary associationSummary `json:"-"`

	RoleARN            string            `json:"roleArn"`
	Tags               map[string]string `json:"tags"`
	CreatedAt          float64           `json:"createdAt"`
	ModifiedAt         float64           `json:"modifiedAt"`
	DisableSessionTags bool              `json:"disableSessionTags"`
	TargetRoleARN      string            `json:"targetRoleArn,omitempty"`
	ExternalID         string            `json:"externalId,omitempty"`
	Policy             string            `json:"policy,omitempty"`
}

// associationSummary is the representation of an association in a listing.
type associationSummary struct {
	ClusterName    string `json:"clusterName"`
	Namespace      string `json:"namespace"`
	ServiceAccount string `json:"serviceAccount"`
	AssociationARN string `json:"associationArn"`
	AssociationID  string `json:"associationId"`
}

// associationState is an association, and the state that is effective until its last change is.
type associationState struct {
	now     association
	before  *association // nil if it did not exist
	deleted bool
	request string // the request that created it
}

func newEKS(roles *roleBook, lag *lag, now func() time.Time) *eksService {
	return &eksService{roles: roles, lag: lag, now: now, all: map[EKSCluster]*eksCluster{}}
}

// around serves the calls about associations, and passes on all others.
func (s *eksService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if tag := map[string]func(*exchange, *associationState) (*reply, error){
		"TagResource": s.tag, "UntagResource": s.untag, "ListTagsForResource": s.tags,
	}[x.call.Operation]; tag != nil {
		return s.about(x, tag)
	}
	serve := map[string]func(context.Context, *exchange, *eksCluster) (*reply, error){
		"CreatePodIdentityAssociation": s.create, "UpdatePodIdentityAssociation": s.update,
		"DeletePodIdentityAssociation":   s.remove,
		"DescribePodIdentityAssociation": s.describe, "ListPodIdentityAssociations": s.list,
	}[x.call.Operation]
	if serve == nil {
		return next(ctx)
	}
	c := s.cluster(x)
	if c == nil {
		return x.fail(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: "+clusterOf(x.path)+
			"."), nil
	}
	return serve(ctx, x, c)
}

// cluster returns the cluster that a call is about; nil if it does not exist.
func (s *eksService) cluster(x *exchange) *eksCluster {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[EKSCluster{Account: x.call.Account, Region: x.call.Region, Name: clusterOf(x.path)}]
}

const (
	associationsPath = "pod-identity-associations"
	tagsPath         = "/tags/"
)

// clusterOf returns the cluster's name in a path.
func clusterOf(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 3 || parts[1] != "clusters" {
		return ""
	}
	return parts[2]
}

// associationOf returns the association's ID in a path.
func associationOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// eksOperation returns the operation on associations by its name in the API reference, and its resource: for a
// creation, with the ServiceAccount.
func eksOperation(method, path string, body map[string]any) (operation, resource string) {
	parts := strings.Split(path, "/")
	if arn, found := strings.CutPrefix(path, tagsPath); found {
		name := map[string]string{
			http.MethodGet: "ListTagsForResource", http.MethodPost: "TagResource",
			http.MethodDelete: "UntagResource",
		}[method]
		return name, associationOf(arn)
	}
	if len(parts) < 4 || parts[1] != "clusters" || parts[3] != associationsPath {
		return method + " " + path, ""
	}
	if one := len(parts) == 5; one {
		name := map[string]string{
			http.MethodGet: "Describe", http.MethodPost: "Update",
			http.MethodDelete: "Delete",
		}[method]
		return name + "PodIdentityAssociation", parts[4]
	}
	if method == http.MethodGet {
		return "ListPodIdentityAssociations", parts[2]
	}
	namespace, _ := body["namespace"].(string)
	account, _ := body["serviceAccount"].(string)
	return "CreatePodIdentityAssociation", parts[2] + "," + namespace + "/" + account
}

// effective returns the effective state of the association; nil if it is not effective.
func (s *eksService) effective(a *associationState) *association {
	switch {
	case s.lag.hides(a.now.Summary.AssociationARN):
		return a.before
	case a.deleted:
		return nil
	default:
		return &a.now
	}
}

// taken returns the association of a ServiceAccount; nil if it has none. An association that was deleted a moment ago
// may still count.
func (s *eksService) taken(c *eksCluster, namespace, serviceAccount string) *associationState {
	for _, id := range slices.Sorted(maps.Keys(c.associations)) {
		a := c.associations[id]
		if a.deleted && !s.lag.hides(a.now.Summary.AssociationARN) {
			delete(c.associations, id)
			continue
		}
		if a.now.Summary.Namespace == namespace && a.now.Summary.ServiceAccount == serviceAccount {
			return a
		}
	}
	return nil
}

// associationOf returns a copy of the effective association of a ServiceAccount; false if there is none.
func (s *eksService) associationOf(id EKSCluster, namespace, serviceAccount string) (association, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[id]
	if c == nil {
		return association{}, false
	}
	a := s.taken(c, namespace, serviceAccount)
	if a == nil {
		return association{}, false
	}
	now := s.effective(a)
	if now == nil {
		return association{}, false
	}
	return *now, true
}

// MarshalJSON implements [json.Marshaler].
func (a association) MarshalJSON() ([]byte, error) {
	type plain association
	return json.Marshal(struct {
		associationSummary
		plain
	}{a.Summary, plain(a)})
}

func jsonReply(body any) (*reply, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &reply{status: http.StatusOK, body: text, header: http.Header{"Content-Type": {"application/json"}}}, nil
}

// shown returns a reply with one association.
func shown(a association) (*reply, error) { return jsonReply(map[string]any{"association": a}) }
