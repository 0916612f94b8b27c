package deleted

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"

	"github.com/portico-platform/portico/controllers/cloud"
)

// errNoTagging is the error for other servers than AWS.
var errNoTagging = errors.New("its server has no tagging API, by which deleted resources are found")

// read returns the resources with ownership tags of the namespace, by kind, from AWS's index of tags, which lags some
// minutes.
func (l *Lists) read(ctx context.Context, s *cloud.Session, namespace string) (map[string][]Found, error) {
	in := &tagging.GetResourcesInput{}
	for _, k := range l.Kinds {
		in.ResourceTypeFilters = append(in.ResourceTypeFilters, k.Types...)
	}
	slices.Sort(in.ResourceTypeFilters)
	for key, values := range s.Identity.NamespaceTags() {
		in.TagFilters = append(in.TagFilters, types.TagFilter{Key: aws.String(key), Values: values})
	}
	all := map[string][]Found{}
	for pages := tagging.NewGetResourcesPaginator(tagging.NewFromConfig(s.ConfigFor(tagging.ServiceID)),
		in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		switch {
		case s.Lacks(tagging.ServiceID, err):
			return nil, errNoTagging
		case err != nil:
			return nil, cloud.Explain(err)
		}
		for _, m := range page.ResourceTagMappingList {
			tags := cloud.TagMap(m.Tags, func(t types.Tag) (key, value *string) { return t.Key, t.Value })
			f := Found{
				ARN: aws.ToString(m.ResourceARN), Kind: tags[cloud.TagKind], Namespace: namespace,
				Name: tags[cloud.TagName], UID: tags[cloud.TagUID],
			}
			if f.Name != "" && tags[cloud.TagNamespace] == namespace {
				all[f.Kind] = append(all[f.Kind], f)
			}
		}
	}
	return all, nil
}
