package wire

import (
	"sync"
)

// Locks holds one lock for each name in use.
type Locks struct {
	mu    sync.Mutex
	names map[string]*namedLock
}

type namedLock struct {
	sync.RWMutex
	users int
}

// Lock returns the unlock function. Exclusive is for operations that must look atomic to the others, which share the
// lock.
func (l *Locks) Lock(name string, exclusive bool) (unlock func()) {
	l.mu.Lock()
	if l.names == nil {
		l.names = map[string]*namedLock{}
	}
	n := l.names[name]
	if n == nil {
		n = &namedLock{}
		l.names[name] = n
	}
	n.users++
	l.mu.Unlock()

	release := n.RUnlock
	if exclusive {
		n.Lock()
		release = n.Unlock
	} else {
		n.RLock()
	}
	return func() {
		release()
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.users--; n.users == 0 {
			delete(l.names, name)
		}
	}
}
