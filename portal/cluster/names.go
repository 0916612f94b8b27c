package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

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
	list, err := c.metadata(ctx, id, namespace, resource, map[string]string{"limit": strconv.Itoa(maxNames)})
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list))
	for i := range list {
		names = append(names, list[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// Keys are the keys of one Secret or ConfigMap, in order; nothing of one that is not there, and too little where whoever
// wrote it had Kubernetes keep no record. They are read from the record of who wrote what, which is metadata, with the right
// that Names needs: what stands under the keys never comes here.
func (c *Cluster) Keys(ctx context.Context, id auth.Identity, namespace, resource, name string) ([]string, error) {
	if !slices.Contains(Nameable(), resource) || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, fmt.Errorf("keys of %s %s: not told", resource, name)
	}
	list, err := c.metadata(ctx, id, namespace, resource, map[string]string{"fieldSelector": "metadata.name=" + name})
	if err != nil {
		return nil, err
	}
	keys := map[string]bool{}
	for i := range list {
		for _, entry := range list[i].ManagedFields {
			written(entry, keys)
		}
	}
	return slices.Sorted(maps.Keys(keys)), nil
}

// written adds the keys that one writer owns.
func written(entry metav1.ManagedFieldsEntry, keys map[string]bool) {
	if entry.FieldsV1 == nil {
		return
	}
	var owned map[string]json.RawMessage
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) != nil {
		return
	}
	for _, holder := range []string{"f:data", "f:binaryData", "f:stringData"} {
		var fields map[string]json.RawMessage
		if json.Unmarshal(owned[holder], &fields) != nil {
			continue
		}
		for field := range fields {
			if key, ok := strings.CutPrefix(field, "f:"); ok {
				keys[key] = true
			}
		}
	}
}

// metadata lists the metadata of Secrets or ConfigMaps as the caller, who needs the right to list them.
func (c *Cluster) metadata(ctx context.Context, id auth.Identity, namespace, resource string, params map[string]string) ([]metav1.PartialObjectMetadata, error) {
	act := Right{verb: "list", resource: resource, namespace: namespace}
	api, err := c.writer.core(id)
	if err != nil {
		return nil, err
	}
	if err := c.access.require(ctx, id, act); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	request := api.RESTClient().Get().Namespace(namespace).Resource(resource).SetHeader("Accept", onlyMetadata)
	for name, value := range params {
		request = request.Param(name, value)
	}
	body, err := request.Do(ctx).Raw()
	if err != nil {
		return nil, c.explain(ctx, id, act, err)
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, &UnavailableError{Doing: "reading names of " + resource, Cause: err}
	}
	return list.Items, nil
}
