package team

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacac "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// access binds the roles of the members, in the team's namespaces and to the Team itself.
func (p *pass) access(ctx context.Context) (string, error) {
	err := p.each(ctx, func(ctx context.Context, namespace string) error {
		for _, role := range v1alpha1.TeamRoles {
			err := p.bind(ctx, namespace, role.ClusterRole(), func(r v1alpha1.TeamRole) bool { return r == role })
			if err != nil {
				return err
			}
		}
		return errors.Join(p.bindSecrets(ctx, namespace), p.bindDeployers(ctx, namespace))
	})
	if err == nil {
		err = p.bindTeam(ctx)
	}
	if err == nil && p.team.Spec.Suspended {
		return p.suspended(ctx)
	}
	return "roles of " + count(len(p.team.Spec.Members), "member") + " given " + p.in(), err
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// bindSecrets binds the roles that spec.secrets grants.
func (p *pass) bindSecrets(ctx context.Context, namespace string) error {
	secrets := p.team.Spec.Secrets
	for name, in := range map[string]func(v1alpha1.TeamRole) bool{
		v1alpha1.SecretWriterRole: secrets.SetBy.Include,
		v1alpha1.DatabaseReaderRole: func(r v1alpha1.TeamRole) bool {
			return r == v1alpha1.TeamDeveloper && secrets.SignInBy.Include(r)
		},
		v1alpha1.DatabaseOwnerRole: func(r v1alpha1.TeamRole) bool {
			return r == v1alpha1.TeamOwner && secrets.SignInBy.Include(r)
		},
	} {
		if err := p.bind(ctx, namespace, name, in); err != nil {
			return err
		}
	}
	return nil
}

// bindDeployers binds the roles of deployers that change single kinds.
func (p *pass) bindDeployers(ctx context.Context, namespace string) error {
	for _, role := range deploy.Roles() {
		if err := p.bind(ctx, namespace, role, func(v1alpha1.TeamRole) bool { return false }); err != nil {
			return err
		}
	}
	return nil
}

// bind applies the RoleBinding that grants a ClusterRole in one namespace to the members for whose role in returns
// true, and to the deployers that have it, or deletes it if there are none.
func (p *pass) bind(ctx context.Context, namespace, name string, in func(v1alpha1.TeamRole) bool) error {
	who := append(p.subjects(func(r v1alpha1.TeamRole) bool { return in(p.effective(r)) }),
		p.deployersWith(namespace, name)...)
	if len(who) == 0 {
		return p.objects.Delete(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		})
	}
	binding := rbacac.RoleBinding(name, namespace).WithRoleRef(roleRef(name)).WithSubjects(who...)
	return p.objects.Apply(ctx, binding, &rbacv1.RoleBinding{})
}

// effective returns the role that currently applies: in a suspended team, everybody is a viewer.
func (p *pass) effective(role v1alpha1.TeamRole) v1alpha1.TeamRole {
	if p.team.Spec.Suspended {
		return v1alpha1.TeamViewer
	}
	return role
}

// bindTeam lets members read their Team and owners change it. Admission limits owners' changes to spec.members.
func (p *pass) bindTeam(ctx context.Context) error {
	all := p.subjects(func(v1alpha1.TeamRole) bool { return true })
	if err := p.bindCluster(ctx, teamRole(p.team.Name), []string{"get"}, all); err != nil {
		return err
	}
	owners := p.subjects(func(r v1alpha1.TeamRole) bool { return p.effective(r) == v1alpha1.TeamOwner })
	return p.bindCluster(ctx, ownerRole(p.team.Name), []string{"get", "update", "patch"}, owners)
}

// teamRole returns the name of the ClusterRole that lets members see their Team.
func teamRole(team string) string { return v1alpha1.TeamRolePrefix + team }

// ownerRole returns the name of the ClusterRole that lets owners change their Team.
func ownerRole(team string) string { return teamRole(team) + ":owner" }

// bindCluster applies a ClusterRole for this Team alone, and its binding, or deletes both without subjects.
func (p *pass) bindCluster(ctx context.Context, name string, verbs []string,
	who []*rbacac.SubjectApplyConfiguration,
) error {
	if len(who) == 0 {
		return p.unbindCluster(ctx, name)
	}
	role := rbacac.ClusterRole(name).WithRules(rbacac.PolicyRule().
		WithAPIGroups(v1alpha1.GroupVersion.Group).WithResources("teams").WithResourceNames(p.team.Name).WithVerbs(
		verbs...))
	if err := p.objects.Apply(ctx, role, &rbacv1.ClusterRole{}); err != nil {
		return err
	}
	binding := rbacac.ClusterRoleBinding(name).WithRoleRef(roleRef(name)).WithSubjects(who...)
	return p.objects.Apply(ctx, binding, &rbacv1.ClusterRoleBinding{})
}

// unbindCluster deletes a ClusterRole for this Team alone, and its binding.
func (p *pass) unbindCluster(ctx context.Context, name string) error {
	if err := p.objects.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return err
	}
	return p.objects.Delete(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// unbindTeam deletes what bindTeam created. The garbage collector would not if the CRD is deleted together with the
// last Team.
func (p *pass) unbindTeam(ctx context.Context) error {
	if err := p.unbindCluster(ctx, teamRole(p.team.Name)); err != nil {
		return err
	}
	return p.unbindCluster(ctx, ownerRole(p.team.Name))
}

// rolesGiven returns the ClusterRoles that a team can grant in its namespaces, each by a RoleBinding of the same name.
func rolesGiven() []string {
	all := append(deploy.Roles(), v1alpha1.SecretWriterRole, v1alpha1.DatabaseReaderRole,
		v1alpha1.DatabaseOwnerRole)
	for _, role := range v1alpha1.TeamRoles {
		all = append(all, role.ClusterRole())
	}
	return all
}

// subjects returns the members for whose role in returns true, each once.
func (p *pass) subjects(in func(v1alpha1.TeamRole) bool) []*rbacac.SubjectApplyConfiguration {
	var all []*rbacac.SubjectApplyConfiguration
	seen := map[string]bool{}
	for _, m := range p.team.Spec.Members {
		kind, name := rbacv1.GroupKind, m.Group
		if m.User != "" {
			kind, name = rbacv1.UserKind, m.User
		}
		if !in(m.Role) || seen[kind+name] {
			continue
		}
		seen[kind+name] = true
		all = append(all, rbacac.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(kind).WithName(name))
	}
	return all
}

func roleRef(name string) *rbacac.RoleRefApplyConfiguration {
	return rbacac.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(name)
}

// made returns the objects that a team may have created in a namespace, for deletion.
func made(namespace string) []client.Object {
	all := []client.Object{quotaOf(namespace), limitsOf(namespace), policyOf(namespace), grantOf(namespace)}
	for _, role := range rolesGiven() {
		all = append(all, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role}})
	}
	return all
}
