package podlogs

import (
	"fmt"
	"sync"
)

// MaxReads is how many logs one user may be reading at a time in one replica, those that are followed aside: each may
// be tens of megabytes on its way from a node.
const MaxReads = 4

// TooManyReadsError says that the user is reading as many logs as one may. Its text is for the user.
type TooManyReadsError struct{}

func (*TooManyReadsError) Error() string {
	return fmt.Sprintf("%d logs are being read for you already, and there can be no more at a time", MaxReads)
}

// Readers counts the logs that each user is reading. The zero value is ready.
type Readers struct {
	mu   sync.Mutex
	open map[string]int // by username; users who read none are not kept
}

// Enter counts one more for the user, until leave is called, once or more.
func (l *Readers) Enter(user string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[user] >= MaxReads {
		return nil, &TooManyReadsError{}
	}
	if l.open == nil {
		l.open = map[string]int{}
	}
	l.open[user]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.open[user]--; l.open[user] == 0 {
			delete(l.open, user)
		}
	}), nil
}
