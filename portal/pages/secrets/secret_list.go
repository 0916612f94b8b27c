package secrets

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// longestName is the longest name of a Secret or a key. Names in links are cut there.
const longestName = 253

// listRequest is a request about the Secrets of a namespace.
type listRequest struct {
	id    auth.Identity
	space page.Space
	form  views.SecretForm
}

func (p *Pages) readList(r *http.Request) (listRequest, error) {
	id, s, err := p.CallerInTeam(r)
	return listRequest{id: id, space: s}, err
}

// list shows the Secrets whose values people set, and the form that sets one.
func (p *Pages) list(w http.ResponseWriter, r *http.Request) error {
	l, err := p.readList(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	l.form.Name, l.form.Key = named(q.Get("name")), named(q.Get("key"))
	return p.showList(w, r, l, ok, "")
}

// named returns a name from a link, without what no name has.
func named(text string) string { return strings.ToValidUTF8(text[:min(len(text), longestName)], "") }

// mayUse returns a *failure.ForbiddenError unless the caller can set a value, or list the Secrets.
func (p *Pages) mayUse(ctx context.Context, l listRequest) error {
	for _, verb := range []string{"create", "list"} {
		if may, err := p.Cluster.People.MayValues(ctx, l.id, verb, l.space.Namespace, ""); may || err != nil {
			return err
		}
	}
	if l.form.Name != "" { // a right to one Secret is enough to set its values
		if may, err := p.Cluster.People.MayValues(ctx, l.id, "update", l.space.Namespace, l.form.Name); may ||
			err != nil {
			return err
		}
	}
	return p.Cluster.People.RequireValues(ctx, l.id, "update", l.space.Namespace, "")
}

// showList shows the page, with the outcome of a posted form. stale says what was not done because a recent sign-in was
// missing.
func (p *Pages) showList(w http.ResponseWriter, r *http.Request, l listRequest, sent trouble, stale string) error {
	ctx := r.Context()
	if err := p.mayUse(ctx, l); err != nil {
		return err
	}
	frame, err := p.Frame(r, l.id, l.space, "Secrets")
	if err != nil {
		return err
	}
	frame.Section = views.TeamSection
	view := views.Secrets{Frame: frame, Form: l.form}
	if sent.status == http.StatusOK { // otherwise the operator has just responded
		if sent, err = p.served(ctx); err != nil {
			return err
		}
	} else {
		view.Sent = true
	}
	view.Problem, view.Off = sent.words, sent.off
	status := sent.status
	if !view.Off && (view.Sent || status == http.StatusOK) {
		view.Confirm = p.confirming(ctx, p.backTo(l), stale)
		if view.Confirm.Href == "" {
			status, err = p.addSecrets(r, l, &view, status)
		}
	}
	if err != nil {
		return err
	}
	return p.Show(w, r, status, views.SecretsPage(view))
}

// backTo returns the URL of the page with the name and the key in the form, and without the value.
func (p *Pages) backTo(l listRequest) string {
	if l.form.Name == "" && l.form.Key == "" {
		return views.SecretsPath(l.space.Team.ID)
	}
	return views.SecretPath(l.space.Team.ID, l.form.Name, l.form.Key)
}

// addSecrets adds the list, or the reason why there is none, and returns the page's HTTP status.
func (p *Pages) addSecrets(r *http.Request, l listRequest, view *views.Secrets, status int) (int, error) {
	all, err := p.Cluster.People.Secrets(r.Context(), l.id, l.space.Namespace)
	t, err := troubleOf(err)
	switch {
	case err != nil:
		return status, err
	case t.stale:
		view.Confirm = p.confirming(r.Context(), p.backTo(l), "Your fresh sign-in does not count any more.")
		return max(status, t.status), nil
	case t.status == http.StatusForbidden:
		view.Unlisted = "Your role lacks the right to list or to update all Secrets of this namespace, so the list " +
			"is hidden. You can set values of those that you have access to."
		return status, nil
	case t.status != http.StatusOK && view.Sent:
		view.Unlisted = t.words
		return status, nil
	case t.status != http.StatusOK:
		view.Problem, view.Off, view.Confirm = t.words, t.off, views.Confirming{}
		return t.status, nil
	}
	for _, s := range all.Items {
		view.All = append(view.All, p.secretOf(l.space, s))
	}
	addDone(r, view)
	return status, nil
}

func (p *Pages) secretOf(s page.Space, one operatorapi.Secret) views.Secret {
	out := views.Secret{Name: one.Name, Created: p.Moment(one.Created), Uses: p.usesOf(s, one.UsedBy)}
	for _, k := range one.Keys {
		key := views.SecretKey{Name: k.Name}
		if k.SetAt != nil {
			key.At, key.By = p.Moment(*k.SetAt), p.Called(k.SetBy)
		}
		out.Keys = append(out.Keys, key)
	}
	return out
}

// usesOf returns the objects that use a Secret, with links to their pages.
func (p *Pages) usesOf(s page.Space, all []operatorapi.SecretUse) (out []views.SecretUse) {
	for _, u := range all {
		kind, known := p.Cluster.Kinds.Now().ByName(u.Kind)
		if !known {
			continue
		}
		one := views.SecretUse{
			Kind: kind.Title, Name: u.Name, Href: views.ResourcePath(s.Team.ID, kind.Plural, u.Name),
			Effect: effects[u.Kind],
		}
		if u.Kind == v1alpha1.KindWebApp {
			one.Restart = one.Href + "/restart"
		}
		out = append(out, one)
	}
	return out
}

// effects say, by kind, when objects use a new value.
var effects = map[string]string{
	v1alpha1.KindWebApp:      "takes it when its Pods start",
	v1alpha1.KindRDSInstance: "takes it at its next check",
	v1alpha1.KindEC2Instance: "has what it took when it was launched",
}

// addDone adds the message about what was just done. The URL says what that was, and the message is shown only if the
// list confirms it, so that a link cannot make the page claim anything.
func addDone(r *http.Request, view *views.Secrets) {
	q := r.URL.Query()
	find := func(name, key string) (s views.Secret, there bool) {
		i := slices.IndexFunc(view.All, func(s views.Secret) bool { return s.Name == name })
		if i < 0 {
			return s, false
		}
		s = view.All[i]
		return s, key == "" || slices.ContainsFunc(s.Keys, func(k views.SecretKey) bool { return k.Name == key })
	}
	key := q.Get("key")
	if name := q.Get("set"); name != "" && key != "" {
		if s, there := find(name, key); there {
			view.Done, view.Uses, view.Form = "The value of "+key+" of "+name+" is set.", s.Uses,
				views.SecretForm{Name: name}
		}
	}
	if name := q.Get("deleted"); name != "" {
		view.Form = views.SecretForm{}
		if _, there := find(name, key); !there && key != "" {
			view.Done = "There is no key " + named(key) + " in " + named(name) + " any more."
		} else if !there {
			view.Done = named(name) + " is deleted."
		}
	}
}
