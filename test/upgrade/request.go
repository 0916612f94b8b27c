package upgrade

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// team is the team of the samples.
const team = "payments"

// byOthers are kinds of which the campaign creates no objects: the stack does, or Portico does for a hostname.
var byOthers = []string{"AWSProvider", "DomainClaim", "HostnameGrant", "PoolGateway"}

// absent are kinds that the campaign leaves out: CatalogEntries come with the operator, a DatabaseUser needs a real
// database, a DeployPolicy the issuers of its tokens, and a Team its own account.
var absent = []string{"CatalogEntry", "DatabaseUser", "DeployPolicy", "Team"}

//go:embed extras.yaml
var extras string

// kindsOf returns the kinds in a version's CRDs, with the names of their resources.
func kindsOf(files fs.FS) (map[string]string, error) {
	crds, err := stack.ReadObjects(files, "config/crd/bases")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, crd := range crds {
		kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		all[kind], _, _ = unstructured.NestedString(crd.Object, "spec", "names", "plural")
	}
	return all, nil
}

// givesRights reports whether the version at dir can grant AWS permissions to Pods.
func givesRights(dir string) bool {
	kinds, err := kindsOf(os.DirFS(dir))
	_, has := kinds[v1alpha1.KindAccessBinding]
	return err == nil && has
}

// requests returns the objects that teams create: the samples of all kinds of a version, adapted to the stack, and a
// few more. A kind without a sample is an error.
func requests(files fs.FS, account map[string]string) ([]*unstructured.Unstructured, error) {
	kinds, err := kindsOf(files)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if slices.Contains(byOthers, kind) || slices.Contains(absent, kind) {
			continue
		}
		some, err := stack.ReadObjects(files, path.Join("config", "samples", strings.ToLower(kind)+".yaml"))
		if err != nil {
			return nil, fmt.Errorf("read the sample of %s: %w", kind, err)
		}
		for _, o := range some {
			if err := fit(o, account); err != nil {
				return nil, fmt.Errorf("the sample of %s: %w", kind, err)
			}
		}
		all = append(all, some...)
	}
	text := os.Expand(extras, func(name string) string { return account[name] })
	more, err := stack.ReadObjects(fstest.MapFS{"extras.yaml": {Data: []byte(text)}}, "extras.yaml")
	return append(all, more...), err
}

// fit adapts a sample to the stack: it sets a team's namespace, and the existing provider and zone.
func fit(o *unstructured.Unstructured, account map[string]string) error {
	o.SetNamespace(team)
	spec, ok := o.Object["spec"].(object)
	if !ok {
		return fmt.Errorf("%s has no spec", o.GetName())
	}
	if ref, ok := spec["providerRef"].(object); ok {
		ref["name"] = stack.Provider
	}
	if hostname, ok := spec["hostname"].(string); ok {
		spec["hostname"] = strings.Replace(hostname, "example.com", stack.Domain, 1)
		spec["zoneId"] = account["PUBLIC_ZONE"]
	}
	return nil
}

// account returns the AWS resources that objects refer to: hosted zones, and a subnet that is tagged for a namespace.
func (c *installation) account(ctx context.Context) (map[string]string, error) {
	api := ec2.NewFromConfig(c.OutsideAWS())
	out, err := api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
	if err != nil {
		return nil, fmt.Errorf("find a subnet: %w", err)
	}
	if len(out.Subnets) == 0 {
		return nil, fmt.Errorf("find a subnet: the account has none")
	}
	subnet := aws.ToString(out.Subnets[0].SubnetId)
	_, err = api.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{subnet}, Tags: []ec2types.Tag{{Key: aws.String("portico.dev/namespace"), Value: aws.String("search")}},
	})
	if err != nil {
		return nil, fmt.Errorf("tag a subnet: %w", err)
	}
	return map[string]string{
		"PUBLIC_ZONE":  c.Zones[stack.Zone{Domain: stack.Domain}],
		"PRIVATE_ZONE": c.Zones[stack.Zone{Domain: stack.Domain, Private: true}],
		"SUBNET":       subnet,
	}, nil
}

// request creates an object of every kind that the baseline has.
func (c *installation) request(ctx context.Context) error {
	account, err := c.account(ctx)
	if err != nil {
		return err
	}
	all, err := requests(os.DirFS(c.old.dir), account)
	if err != nil {
		return err
	}
	if c.kinds, err = kindsOf(os.DirFS(c.old.dir)); err != nil {
		return err
	}
	maps.DeleteFunc(c.kinds, func(kind, _ string) bool { return slices.Contains(absent, kind) })
	return stack.ApplyObjects(ctx, c.Admin, all...)
}

// binaries returns the folder of each version's binaries, by image tag.
func binaries(trees ...tree) map[string]string {
	all := map[string]string{}
	for _, t := range trees {
		all[t.tag] = filepath.Clean(t.bin())
	}
	return all
}
