package team

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/write"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// The kinds of members, as in forms.
const (
	aGroup = "group"
	aUser  = "user"
)

// membersOf returns the members: owners first, then by name.
func (p *Pages) membersOf(t *v1alpha1.Team) []views.TeamMember {
	var all []views.TeamMember
	for _, m := range t.Spec.Members {
		all = append(all, p.memberView(m))
	}
	rank := func(m views.TeamMember) int { return -slices.Index(v1alpha1.TeamRoles, v1alpha1.TeamRole(m.Role)) }
	slices.SortStableFunc(all, func(a, b views.TeamMember) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func (p *Pages) memberView(m v1alpha1.TeamMember) views.TeamMember {
	if m.User != "" {
		v := views.TeamMember{Kind: aUser, Name: m.User, Short: p.Names.Short(m.User), Role: string(m.Role)}
		if called := p.Called(m.User); called != v.Short {
			v.Called = called
		}
		return v
	}
	return views.TeamMember{
		Kind: aGroup, Name: m.Group, Short: p.Names.Short(m.Group), Called: p.Names.Groups[m.Group],
		Role: string(m.Role),
	}
}

// members handles the buttons of the members form: add, remove, or change a role.
func (p *Pages) members(w http.ResponseWriter, r *http.Request) error {
	l, obj, t, err := p.readPosted(w, r)
	if err != nil {
		return err
	}
	form := p.readForm(r)
	if write.ETag(obj) != form.ETag {
		form.Problem = changedMeanwhile
		return p.showTeam(w, r, l, obj, forms{member: form}, http.StatusConflict)
	}
	members, wrong := p.changed(t, form)
	if wrong != "" {
		form.Errors = []string{wrong}
		return p.showTeam(w, r, l, obj, forms{member: form}, http.StatusUnprocessableEntity)
	}
	if form.Warning = warning(l.id, t, members); form.Warning != "" && r.PostForm.Get("sure") != "yes" {
		return p.showTeam(w, r, l, obj, forms{member: form}, http.StatusOK)
	}
	return p.send(w, r, l, obj, form, members)
}

// readForm returns the posted form.
func (p *Pages) readForm(r *http.Request) views.MemberForm {
	do := ""
	if all := r.PostForm["do"]; len(all) > 0 {
		do = all[len(all)-1]
	}
	return views.MemberForm{
		ETag: r.PostForm.Get("etag"), Do: do, Kind: r.PostForm.Get("kind"),
		Name: strings.TrimSpace(r.PostForm.Get("name")), Role: r.PostForm.Get("role"),
	}
}

// changed returns the members after the change that the form requests, or what is wrong with the form.
func (p *Pages) changed(t *v1alpha1.Team, form views.MemberForm) (members []v1alpha1.TeamMember, wrong string) {
	members = slices.Clone(t.Spec.Members)
	if form.Name == "" {
		return nil, "Enter the name of a group or of a user."
	}
	one := v1alpha1.TeamMember{Role: v1alpha1.TeamRole(form.Role)}
	name := form.Name
	if form.Do == "add" {
		name = p.Names.Named(name)
	}
	if form.Kind == aUser {
		one.User = name
	} else {
		one.Group = name
	}
	at := slices.IndexFunc(members, func(m v1alpha1.TeamMember) bool {
		return m.Group == one.Group && m.User == one.User
	})
	switch {
	case form.Do == "add" && at >= 0:
		return nil, form.Name + " is a member already, as " + string(members[at].Role) + ": change the role there."
	case form.Do == "add":
		return append(members, one), ""
	case at < 0:
		return nil, p.Names.Short(name) + " is no member any more."
	case form.Do == "remove":
		return slices.Delete(members, at, at+1), ""
	}
	members[at].Role = one.Role
	return members, ""
}

// warning returns what the team or the caller would lose by a change, which the caller must confirm; "" if nothing.
func warning(id auth.Identity, t *v1alpha1.Team, members []v1alpha1.TeamMember) string {
	own := func(m v1alpha1.TeamMember) bool {
		return m.Role == v1alpha1.TeamOwner &&
			(m.User == id.Username || m.Group != "" && slices.Contains(id.Groups, m.Group))
	}
	isOwner := func(m v1alpha1.TeamMember) bool { return m.Role == v1alpha1.TeamOwner }
	switch {
	case slices.ContainsFunc(t.Spec.Members, isOwner) && !slices.ContainsFunc(members, isOwner):
		return "This is the last owner: with nobody left who is one, only platform admins decide who the members are."
	case slices.ContainsFunc(t.Spec.Members, own) && !slices.ContainsFunc(members, own):
		return "You are an owner by this, and will not be one any more: you cannot undo it yourself."
	}
	return ""
}

// send sends the new members as the caller.
func (p *Pages) send(w http.ResponseWriter, r *http.Request, l teamRequest, obj *unstructured.Unstructured,
	form views.MemberForm, members []v1alpha1.TeamMember,
) error {
	list := make([]any, 0, len(members))
	for _, m := range members {
		one := map[string]any{"role": string(m.Role)}
		if m.User != "" {
			one[aUser] = m.User
		} else {
			one[aGroup] = m.Group
		}
		list = append(list, one)
	}
	form.Warning = ""
	return p.patch(w, r, l, obj, map[string]any{"members": list}, form.ETag, func(problem string, errs []string) forms {
		form.Problem, form.Errors = problem, errs
		return forms{member: form}
	})
}

// changedMeanwhile is the message for a form that was made from an older version of the Team.
const changedMeanwhile = "Somebody else changed the team in the meantime: nothing was changed. Look at it again, and " +
	"repeat what you want."

// patch changes fields of the Team's spec as the caller, and shows the page: with again's form if they are refused.
func (p *Pages) patch(w http.ResponseWriter, r *http.Request, l teamRequest, obj *unstructured.Unstructured,
	fields map[string]any, etag string, again func(problem string, errs []string) forms,
) error {
	result, err := p.Cluster.Write.Patch(r.Context(), l.id, l.ref, map[string]any{"spec": fields}, etag, false)
	var changed *failure.ChangedError
	var errs []string
	switch wrong := catalog.FromStatus(l.ref.Kind, err); {
	case err == nil:
		return page.SeeOther(w, r, views.AppliedPath(views.OwnerPath(l.ref.Name), result.Object.GetGeneration()))
	case errors.As(err, &changed):
		return p.showTeam(w, r, l, changed.Now, again(changedMeanwhile, nil), http.StatusConflict)
	case len(wrong) > 0:
		for _, f := range wrong {
			errs = append(errs, humanize.Sentence(f.Message))
		}
	case page.Unseen(err):
		return err
	case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
		errs = []string{humanize.Sentence(page.AdmissionWords(err))}
	default:
		return err
	}
	return p.showTeam(w, r, l, obj, again("", errs), http.StatusUnprocessableEntity)
}
