package podlogs

import (
	"fmt"
	"sync"
)

// MaxReads bounds how many logs one user reads at a time in one replica, except for followed ones. A node can send tens
// of megabytes for each.
const MaxReads = 4

// TooManyReadsError reports that the user reads MaxReads logs already. Its text is for the user.
type TooManyReadsError struct{}

func (*TooManyReadsError) Error() string {
	return fmt.Sprintf("%d logs are being read for you already, and there can be no more at a time", MaxReads)
}

// Readers counts the logs that each user is reading. The zero value is ready to use.
type Readers struct {
	mu   sync.Mutex
	open map[string]int // by username; without users who read none
}

// Enter adds one to the user's count, or returns a TooManyReadsError. leave subtracts it; calling it again has no
// effect.
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
