package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/client"
)

// member is a member of a Team.
type member struct{ kind, name, role string }

// memberOf parses a member, such as group:oidc:growth, and its role.
func memberOf(who, role string) (member, error) {
	kind, name, ok := strings.Cut(who, ":")
	if !ok || name == "" || kind != "group" && kind != "user" {
		return member{}, usagef("%q is no member: want group:NAME or user:NAME, such as group:oidc:growth", who)
	}
	i := slices.IndexFunc(v1alpha1.TeamRoles, func(r v1alpha1.TeamRole) bool {
		return strings.EqualFold(string(r), role)
	})
	if i < 0 {
		return member{}, usagef("there is no role %q: want %s", role, orList(roles()))
	}
	return member{kind, name, string(v1alpha1.TeamRoles[i])}, nil
}

func roles() []string {
	var all []string
	for _, r := range v1alpha1.TeamRoles {
		all = append(all, string(r))
	}
	return all
}

// membersOf returns the members of a Team, parsed and as in its spec.
func membersOf(o *object) (members []member, raw []any) {
	raw, _, _ = unstructured.NestedSlice(o.Object, "spec", "members")
	for _, one := range raw {
		m, _ := one.(map[string]any)
		for _, kind := range []string{"group", "user"} {
			if name, ok := m[kind].(string); ok {
				role, _ := m["role"].(string)
				members = append(members, member{kind, name, role})
			}
		}
	}
	return members, raw
}

func (a *app) teamMembersCommand() *cobra.Command {
	format := ""
	cmd := &cobra.Command{
		Use: "members TEAM", Short: "Show who the members of a team are", Args: words(1, 1),
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		Example:           "  portico team members growth",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.teamTarget(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			got, err := t.current(cmd.Context())
			if err != nil {
				return err
			}
			members, raw := membersOf(&got.Object)
			if format != "table" {
				return a.encode(format, map[string]any{"items": append([]any{}, raw...)})
			}
			table := a.table("ROLE", "KIND", "NAME")
			for _, m := range members {
				table.add(m.role, m.kind, m.name)
			}
			return table.write()
		},
	}
	a.outputFlag(cmd, &format, plainFormats)
	return cmd
}

func (a *app) addMemberCommand() *cobra.Command {
	role := ""
	cmd := &cobra.Command{
		Use: "add-member TEAM WHO", Short: "Add a member to a team, or change a member's role", Args: words(2, 2),
		Example: "  portico team add-member growth group:oidc:contractors --role Viewer\n  portico team " +
			"add-member growth user:oidc:jo@example.com --role Owner",
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := memberOf(args[1], role)
			if err != nil {
				return err
			}
			return a.changeMembers(cmd.Context(), args[0], func(all []member) ([]member, string, error) {
				i := slices.IndexFunc(all, func(o member) bool { return o.kind == m.kind && o.name == m.name })
				if i < 0 {
					return append(all, m), m.kind + " " + m.name + " is a member of team " + args[0] + ", as " + m.role,
						nil
				}
				all[i].role = m.role
				return all, m.kind + " " + m.name + " of team " + args[0] + " is " + m.role + " now", nil
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", string(v1alpha1.TeamDeveloper), "`role`: "+orList(roles()))
	a.complete(cmd, "role", roles())
	return cmd
}

func (a *app) removeMemberCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove-member TEAM WHO", Short: "Take a member out of a team", Args: words(2, 2),
		Example:           "  portico team remove-member growth group:oidc:contractors",
		ValidArgsFunction: a.completeFor(v1alpha1.KindTeam),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := memberOf(args[1], string(v1alpha1.TeamViewer))
			if err != nil {
				return err
			}
			return a.changeMembers(cmd.Context(), args[0], func(all []member) ([]member, string, error) {
				i := slices.IndexFunc(all, func(o member) bool { return o.kind == m.kind && o.name == m.name })
				if i < 0 {
					return nil, "", usagef("%s %s is no member of team %s; see portico team members %s", m.kind, m.name,
						args[0], args[0])
				}
				return slices.Delete(all, i, i+1), m.kind + " " + m.name + " is no member of team " + args[0] +
					" any more", nil
			})
		},
	}
}

// changeMembers writes the members that change returns, unless somebody else has changed the Team since it was read.
func (a *app) changeMembers(ctx context.Context, name string,
	change func([]member) (all []member, done string, err error),
) error {
	t, err := a.teamTarget(ctx, name)
	if err != nil {
		return err
	}
	got, err := t.current(ctx)
	if err != nil {
		return err
	}
	members, _ := membersOf(&got.Object)
	members, done, err := change(members)
	if err != nil {
		return err
	}
	list := make([]any, 0, len(members))
	for _, m := range members {
		list = append(list, map[string]any{m.kind: m.name, "role": m.role})
	}
	changed, err := t.objects().Patch(ctx, name, map[string]any{"spec": map[string]any{"members": list}},
		client.PatchOptions{IfMatch: got.ETag})
	if err != nil {
		return err
	}
	a.warn(changed.Warnings)
	a.say("%s.", clean(done))
	return nil
}
