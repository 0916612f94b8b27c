package oidctest

import (
	"crypto/rand"
	"crypto/rsa"
	"sync"
)

// unused are the keys of tests that have ended. Making one takes as long as ten tests.
var unused struct {
	sync.Mutex
	keys []*rsa.PrivateKey
}

// newKey returns a key that no other provider has before the end of the test.
func newKey(tb T) *rsa.PrivateKey {
	tb.Helper()
	unused.Lock()
	defer unused.Unlock()
	var key *rsa.PrivateKey
	if last := len(unused.keys) - 1; last >= 0 {
		key, unused.keys = unused.keys[last], unused.keys[:last]
	} else {
		var err error
		if key, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(func() {
		unused.Lock()
		defer unused.Unlock()
		unused.keys = append(unused.keys, key)
	})
	return key
}
