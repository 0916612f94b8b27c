package chaos

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/portico-platform/portico/test/stack"
)

// rights are the permissions of Pods in AWS.
type rights struct {
	associations map[string]string // the portico.dev/uid tag, by namespace/ServiceAccount
	roles        map[string]string // role name, by namespace
}

// rights returns the Pod Identity associations of the cluster and the IAM roles below /portico/.
func (a *account) rights(ctx context.Context) (all rights, err error) {
	all = rights{map[string]string{}, map[string]string{}}
	cluster := aws.String(stack.ClusterName)
	pages := eks.NewListPodIdentityAssociationsPaginator(a.eks, &eks.ListPodIdentityAssociationsInput{
		ClusterName: cluster,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return all, fmt.Errorf("list associations: %w", err)
		}
		for _, one := range page.Associations {
			out, err := a.eks.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{
				ClusterName: cluster, AssociationId: one.AssociationId,
			})
			if err != nil {
				return all, fmt.Errorf("describe an association: %w", err)
			}
			all.associations[aws.ToString(one.Namespace)+"/"+
				aws.ToString(one.ServiceAccount)] = out.Association.Tags["portico.dev/uid"]
		}
	}
	roles := iam.NewListRolesPaginator(a.iam, &iam.ListRolesInput{PathPrefix: aws.String("/portico/")})
	for roles.HasMorePages() {
		page, err := roles.NextPage(ctx)
		if err != nil {
			return all, fmt.Errorf("list roles: %w", err)
		}
		for _, r := range page.Roles {
			all.roles[strings.Trim(strings.TrimPrefix(aws.ToString(r.Path), "/portico"), "/")] = aws.ToString(
				r.RoleName)
		}
	}
	return all, nil
}

// compareRights compares AccessBindings, by namespace/ServiceAccount, with associations and roles.
func (p picture) compareRights() (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	spaces := map[string]bool{}
	for at, uid := range p.bindings {
		namespace, _, _ := strings.Cut(at, "/")
		spaces[namespace] = true
		if got, there := p.rights.associations[at]; !there {
			say("missing: the association of %s", at)
		} else if got != uid {
			say("orphan: the association of %s belongs to the object %s, not %s", at, got, uid)
		}
	}
	for at := range p.rights.associations {
		if _, asked := p.bindings[at]; !asked {
			say("orphan: the association of %s", at)
		}
	}
	for namespace := range spaces {
		if p.rights.roles[namespace] == "" {
			say("missing: the role of %s", namespace)
		}
	}
	for namespace, name := range p.rights.roles {
		if !spaces[namespace] {
			say("orphan: the role %s of %s", name, namespace)
		}
	}
	return wrong
}
