//go:build integration

package integration

import (
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// verdict is the response to an actor.
type verdict struct {
	word string // for the table
	text string // without the parts that differ between requests
}

const (
	wordYes    = "yes"
	wordNo     = "no"
	wordSignIn = "sign in"
	wordEmpty  = "empty"
	wordOn     = "leads on"
)

// cell returns the word for the response to the actor. A refused actor must get the same response for what exists and
// for what does not, and an actor outside the team for every response. Members can know that their Team exists, and
// that a resource exists whose password they cannot see.
func (m *matrix) cell(r row, a actor) string {
	m.t.Helper()
	as := m.make(r)
	got := m.ask(m.portal.url, r.method, as, a)
	allowed := a.inTeam && got.word != wordNo && got.word != wordSignIn
	if allowed || r.stream && got.word == wordYes {
		return got.word
	}
	exists := r.ofTeam() && a.member
	if exists || r.ofPassword() && a.inTeam {
		return got.word
	}
	for what, other := range m.absent(r, as, a) {
		m.compared++
		if none := m.ask(m.portal.url, r.method, other, a); none != got {
			m.t.Errorf("%s as %s: of %s it is told\n%s: %s\nbut of what there is\n%s: %s", r, a.name, what, none.word,
				none.text, got.word, got.text)
		}
	}
	return got.word
}

// absent returns the same request for an object that does not exist and, unless the actor is of the team, for a
// namespace that does not exist, by description.
func (m *matrix) absent(r row, as request, a actor) map[string]request {
	all := map[string]request{}
	replaced := func(what, old string) {
		if old != "" && strings.Contains(as.path, "/"+old) {
			other := as
			other.path = strings.ReplaceAll(other.path, "/"+old, "/"+nobody)
			all[what] = other
		}
	}
	if strings.Contains(r.route, "{name}") {
		for _, part := range strings.Split(as.path, "/")[1:] {
			made := strings.HasPrefix(part, "matrix") || strings.HasPrefix(part, m.ns+"-")
			if made || part == "default" { // the name of an object
				replaced("a name that there is not", strings.SplitN(part, "?", 2)[0])
			}
		}
	}
	if strings.Contains(r.route, "{pod}") {
		replaced("a Pod that there is not", m.pod)
	}
	ofNamespace := strings.Contains(as.path, m.ns) || strings.Contains(as.path, gateways)
	if !a.inTeam && !r.ofTeam() && ofNamespace {
		other := as
		other.path = strings.NewReplacer("/"+m.ns, "/"+nobody, "="+m.ns, "="+nobody, "/"+gateways, "/"+nobody).Replace(
			as.path)
		all["a namespace that there is not"] = other
	}
	return all
}

// ask sends the request as the actor.
func (m *matrix) ask(server, method string, as request, a actor) verdict {
	m.t.Helper()
	req, err := http.NewRequestWithContext(m.t.Context(), method, server+as.path, strings.NewReader(as.body))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header = as.header.Clone()
	if a.token != "" && (strings.HasPrefix(as.path, "/api/") || a.session == "") {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.session != "" {
		req.AddCookie(&http.Cookie{Name: "__Host-portico", Value: a.session})
	}
	client := programs(m.t)
	resp, err := client.Do(req)
	if err != nil {
		m.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	word := wordOf(resp)
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return verdict{word: word} // the body does not end
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Fatal(err)
	}
	if word == wordYes && len(text) == 0 && method == http.MethodGet {
		word = wordEmpty
	}
	return verdict{word, m.sameFor(string(text)+"\n"+resp.Header.Get("Location"), resp.Header.Get("X-Request-Id"), as)}
}

func wordOf(resp *http.Response) string {
	signIn := strings.HasPrefix(resp.Header.Get("Location"), "/auth/") && resp.Request.URL.Path != "/auth/logout"
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusSeeOther && signIn:
		return wordSignIn
	case resp.StatusCode == http.StatusForbidden:
		return wordNo
	case resp.StatusCode == http.StatusSeeOther && resp.Request.Method == http.MethodGet:
		return wordOn
	case resp.StatusCode < http.StatusBadRequest:
		return wordYes
	}
	return strconv.Itoa(resp.StatusCode)
}

// clockOf matches the time on a page, which is accurate to the second.
var clockOf = regexp.MustCompile(`data-now="[^"]*"`)

// sameFor removes from a response the parts that repeat the request, and the time of the response.
func (m *matrix) sameFor(text, id string, as request) string {
	names := []string{
		m.things[v1alpha1.KindTeam].GetName(), "NAME", m.spare.GetName(), "NAME", id, "ID", nobody,
		"NAME", m.pod, "NAME", gateways, "NAME",
	}
	for _, part := range strings.FieldsFunc(as.path, func(r rune) bool { return r == '/' || r == '?' }) {
		if strings.Contains(part, "matrix") || strings.HasPrefix(part, m.ns) {
			names = append(names, part, "NAME")
		}
	}
	names = append(names, m.ns, "NAME")
	return strings.NewReplacer(names...).Replace(clockOf.ReplaceAllString(text, "data-now"))
}
