package webapp

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/portico-platform/portico/api/podcause"
)

// mostMissing bounds the web apps that a Missing remembers.
const mostMissing = 2000

// Missing remembers when Pods of web apps began to be missing. No object in the cluster has that time, so that a
// restart of the operator forgets it. It is safe for concurrent use. A nil Missing remembers nothing.
type Missing struct {
	mu  sync.Mutex
	all *lru.Cache // of shortage, by the UID of the Deployment
}

type shortage struct {
	wanted int
	since  time.Time
}

// NewMissing returns a Missing that knows nothing yet.
func NewMissing() *Missing { return &Missing{all: lru.New(mostMissing)} }

// since returns when fewer Pods began to exist than are wanted. Another wanted number sets the time to now.
func (m *Missing) since(of types.UID, existing, wanted int, now time.Time) time.Time {
	if m == nil {
		return now
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if existing >= wanted {
		m.all.Remove(of)
		return now
	}
	if was, ok := m.all.Get(of); ok && was.(shortage).wanted == wanted {
		return was.(shortage).since
	}
	m.all.Add(of, shortage{wanted, now})
	return now
}

// missingProblem returns that Pods of a version that is out are not created.
func (r *reconciliation) missingProblem(s runtimeState, existing int) problem {
	wanted, now := int(s.wantedReplicas()), r.Now()
	if !s.rolledOut() { // a rollout has a deadline of its own
		existing = wanted
	}
	end := r.Missing.since(s.deployment.UID, existing, wanted, now).Add(podcause.LongestStart)
	switch {
	case existing >= wanted:
		return problem{}
	case now.Before(end):
		return problem{until: end}
	}
	return problem{known: true, text: fmt.Sprintf("Kubernetes has created %d of %d Pods", existing, wanted)}
}
