package entry

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Own reports whether the group is one of Portico's, for which all its policies count.
func Own(group string) bool { return group == v1alpha1.GroupVersion.Group }

// open are the resources of Kubernetes' own groups that can be offered, by group.
var open = map[string][]string{
	// The policies of routes in config/policy/routes.yaml see these, and which hostnames they name; they do not see the
	// other kinds of Gateway API.
	"gateway.networking.k8s.io": {"grpcroutes", "httproutes"},
}

// kubernetes are the suffixes of groups that belong to Kubernetes itself: by them one reaches the cluster, and no
// service.
var kubernetes = []string{"k8s.io", "kubernetes.io"}

// allowed returns why the group cannot be offered, nil if it can.
func allowed(d v1alpha1.CatalogDefinition) error {
	if Own(d.Group) || slices.Contains(open[d.Group], d.Resource) {
		return nil
	}
	for _, suffix := range kubernetes {
		if d.Group == suffix || strings.HasSuffix(d.Group, "."+suffix) {
			return refuse(v1alpha1.ReasonInvalidSpec, "%s is a group of Kubernetes itself: of those, only "+
				"httproutes and grpcroutes of gateway.networking.k8s.io can be offered", d.Group)
		}
	}
	if strings.HasSuffix(d.Group, "."+v1alpha1.GroupVersion.Group) {
		return refuse(v1alpha1.ReasonInvalidSpec, "Portico's policies about requests, changes and deletions do not "+
			"see the group %s", d.Group)
	}
	return nil
}
