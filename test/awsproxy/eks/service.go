// Package eks is Amazon EKS: its Pod Identity associations, which moto does not have.
package eks

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

	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

const (
	// associationLag is how long an association may keep its former state: the references of
	// CreatePodIdentityAssociation and UpdatePodIdentityAssociation say that it "may take several seconds to be
	// effective".
	associationLag = 10 * time.Second
	// associationQuota is the number of associations that a cluster may have, by "Amazon EKS service quotas".
	associationQuota = 5000
)

const (
	associationsPath = "pod-identity-associations"
	tagsPath         = "/tags/"
)

// Cluster identifies a cluster of Amazon EKS.
type Cluster struct{ Account, Region, Name string }

// ARN returns the ARN of the cluster.
func (c Cluster) ARN() string { return c.arn("cluster/" + c.Name) }

func (c Cluster) arn(resource string) string {
	return wire.ARN{
		Partition: wire.Partition(c.Region), Service: "eks", Region: c.Region, Account: c.Account, Resource: resource,
	}.String()
}

// AddEKSCluster adds a cluster to the account, which exists until the proxy ends.
func (s *Service) AddEKSCluster(account, region, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := Cluster{Account: account, Region: region, Name: name}
	if s.all[id] == nil {
		s.all[id] = &clusterState{id: id, associations: map[string]*associationState{}, tokens: map[string]string{}}
	}
}

// SetAssociationQuota limits the Pod Identity associations of each cluster; 0 restores AWS's own limit.
func (s *Service) SetAssociationQuota(n int) { s.quota.Store(int64(n)) }

// Service simulates the Pod Identity associations of EKS, which moto does not have.
type Service struct {
	roles *iam.Book
	lag   *lag.Lag
	now   func() time.Time
	quota atomic.Int64

	mu  sync.Mutex
	all map[Cluster]*clusterState
}

// clusterState has the associations of a cluster by their IDs, and the IDs by the idempotency tokens of their
// creations.
type clusterState struct {
	id           Cluster
	associations map[string]*associationState
	tokens       map[string]string
}

// Association is the representation of an association in EKS's API.
type Association struct {
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
	now     Association
	before  *Association // nil if it did not exist
	deleted bool
	request string // the request that created it
}

// New returns EKS without clusters; roles are those of its associations.
func New(roles *iam.Book, lag *lag.Lag, now func() time.Time) *Service {
	return &Service{roles: roles, lag: lag, now: now, all: map[Cluster]*clusterState{}}
}

// Around serves the calls about associations, and passes on all others.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if tag := map[string]func(*wire.Exchange, *associationState) (*wire.Reply, error){
		"TagResource": s.tag, "UntagResource": s.untag, "ListTagsForResource": s.tags,
	}[x.Call.Operation]; tag != nil {
		return s.about(x, tag)
	}
	serve := map[string]func(context.Context, *wire.Exchange, *clusterState) (*wire.Reply, error){
		"CreatePodIdentityAssociation": s.create, "UpdatePodIdentityAssociation": s.update,
		"DeletePodIdentityAssociation":   s.remove,
		"DescribePodIdentityAssociation": s.describe, "ListPodIdentityAssociations": s.list,
	}[x.Call.Operation]
	if serve == nil {
		return next(ctx)
	}
	c := s.cluster(x)
	if c == nil {
		return x.Fail(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: "+clusterOf(x.Path)+
			"."), nil
	}
	return serve(ctx, x, c)
}

// cluster returns the cluster that a call is about; nil if it does not exist.
func (s *Service) cluster(x *wire.Exchange) *clusterState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[Cluster{Account: x.Call.Account, Region: x.Call.Region, Name: clusterOf(x.Path)}]
}

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

// Operation returns the operation on associations by its name in the API reference, and its resource: for a
// creation, with the ServiceAccount.
func Operation(method, path string, body map[string]any) (operation, resource string) {
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
func (s *Service) effective(a *associationState) *Association {
	switch {
	case s.lag.Hides(a.now.Summary.AssociationARN):
		return a.before
	case a.deleted:
		return nil
	default:
		return &a.now
	}
}

// taken returns the association of a ServiceAccount; nil if it has none. An association that was deleted a moment ago
// may still count.
func (s *Service) taken(c *clusterState, namespace, serviceAccount string) *associationState {
	for _, id := range slices.Sorted(maps.Keys(c.associations)) {
		a := c.associations[id]
		if a.deleted && !s.lag.Hides(a.now.Summary.AssociationARN) {
			delete(c.associations, id)
			continue
		}
		if a.now.Summary.Namespace == namespace && a.now.Summary.ServiceAccount == serviceAccount {
			return a
		}
	}
	return nil
}

// AssociationOf returns a copy of the effective association of a ServiceAccount; false if there is none.
func (s *Service) AssociationOf(id Cluster, namespace, serviceAccount string) (Association, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.all[id]
	if c == nil {
		return Association{}, false
	}
	a := s.taken(c, namespace, serviceAccount)
	if a == nil {
		return Association{}, false
	}
	now := s.effective(a)
	if now == nil {
		return Association{}, false
	}
	return *now, true
}

// MarshalJSON implements [json.Marshaler].
func (a Association) MarshalJSON() ([]byte, error) {
	type plain Association
	return json.Marshal(struct {
		associationSummary
		plain
	}{a.Summary, plain(a)})
}

func jsonReply(body any) (*wire.Reply, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return &wire.Reply{
		Status: http.StatusOK, Body: text, Header: http.Header{"Content-Type": {"application/json"}},
	}, nil
}

// shown returns a reply with one association.
func shown(a Association) (*wire.Reply, error) { return jsonReply(map[string]any{"association": a}) }
