package page

import (
	"sync"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/humanize"
)

// maxPeople bounds the cached display names.
const maxPeople = 10_000

// people are display names of recent users, by username: objects have only the username, which can be an opaque ID.
// They are for display only. nil knows none.
type people struct {
	mu   sync.Mutex
	seen map[string]string
}

// saw records a user's display name.
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
		p.seen = map[string]string{} // users send further requests
	}
	p.seen[id.Username] = called
}

// knows reports whether a recent user has this username and a different display name.
func (p *people) knows(username string) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[username] != ""
}

// called returns the display name of the user.
func (p *people) called(username string) string {
	if _, _, deployer := deploy.Parse(username); p != nil && !deployer { // whose name has the run of now
		p.mu.Lock()
		defer p.mu.Unlock()
		if name := p.seen[username]; name != "" {
			return name
		}
	}
	return humanize.Person(username)
}
