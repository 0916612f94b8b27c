package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/auth"
)

// maxNames bounds how many names of a namespace are read.
const maxNames = 500

// onlyMetadata has the API server cut out what objects hold; one that cannot refuses. A client of package metadata would
// take whole objects in place of that.
const onlyMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// Nameable are the resources that Names tells of, by plural name.
func Nameable() []string { return []string{"secrets", "configmaps"} }

// Names are the names of the Secrets or ConfigMaps of a namespace, in order, read as the caller and not kept; resource is
// one of Nameable. The API server sends metadata only: what they hold never comes here. The caller needs the right to
// list them; without it the answer is a *ForbiddenError.
func (c *Cluster) Names(ctx context.Context, id auth.Identity, namespace, resource string) ([]string, error) {
	if !slices.Contains(Nameable(), resource) {
		return nil, fmt.Errorf("names of %s: not told", resource)
	}
	act := action{verb: "list", resource: resource, namespace: namespace}
	api, err := c.writer.core(id)
	if err != nil {
		return nil, err
	}
	if err := c.access.require(ctx, id, act); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	body, err := api.RESTClient().Get().Namespace(namespace).Resource(resource).Param("limit", strconv.Itoa(maxNames)).
		SetHeader("Accept", onlyMetadata).Do(ctx).Raw()
	if err != nil {
		return nil, c.explain(ctx, id, act, err)
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, &UnavailableError{Doing: "reading names of " + resource, Cause: err}
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}
