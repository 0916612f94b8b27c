package page

import (
	"sync"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/humanize"
)

// maxPeople bounds whose names are known.
const maxPeople = 10_000

// people are the names of those who came lately, by username: what stands on objects is the username alone, which may
// say nothing to anybody. It is for showing only. nil knows nobody.
type people struct {
	mu   sync.Mutex
	seen map[string]string
}

// saw notes what somebody is called.
func (p *people) saw(id auth.Identity) {
	if p == nil || id.Name == "" && id.Email == "" {
		return
	}
	beside := humanize.Person(id.Username)
	if id.Name != "" && id.Email != "" {
		beside = id.Email + ", " + beside
	}
	called := id.Display() + " (" + beside + ")"
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil || len(p.seen) >= maxPeople {
		p.seen = map[string]string{} // they will come again
	}
	p.seen[id.Username] = called
}

// knows reports whether somebody of the name came lately, who said more than that name.
func (p *people) knows(username string) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[username] != ""
}

// called returns what to call the user of the name.
func (p *people) called(username string) string {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if name := p.seen[username]; name != "" {
			return name
		}
	}
	return humanize.Person(username)
}
