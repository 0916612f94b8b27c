package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// sessionKeysCheck is how often the key file is read again; every replica uses a new key after that.
const sessionKeysCheck = 10 * time.Second

// SessionKeys seals cookies with the first key of a file and opens them with any of its keys, so that keys can be
// rotated: put the new one first, and remove the old one when the sessions that it sealed have ended.
type SessionKeys struct {
	path string
	now  func() time.Time
	log  *slog.Logger

	mu     sync.Mutex
	read   time.Time
	active []cipher.AEAD
}

// NewSessionKeys reads the file: one key a line, 32 random bytes in base64; # begins a comment.
func NewSessionKeys(path string, now func() time.Time, log *slog.Logger) (*SessionKeys, error) {
	k := &SessionKeys{path: path, now: now, log: log, read: now()}
	var err error
	if k.active, err = readSessionKeys(path); err != nil {
		return nil, err
	}
	return k, nil
}

// readSessionKeys reads the session keys from a file. Its errors never contain the content of a line.
func readSessionKeys(path string) ([]cipher.AEAD, error) {
	b, err := os.ReadFile(path) //nolint:gosec // the path is a flag
	if err != nil {
		return nil, fmt.Errorf("reading the session keys: %w", err)
	}
	var out []cipher.AEAD
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("session keys %s, line %d: want 32 bytes in base64 (openssl rand -base64 32)", path,
				n)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("session keys %s, line %d: %w", path, n, err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("session keys %s, line %d: %w", path, n, err)
		}
		out = append(out, aead)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("session keys %s: no key in it (make one with openssl rand -base64 32)", path)
	}
	return out, nil
}

// current reads the file again when that is due; if it cannot be read, the keys stay.
func (k *SessionKeys) current() []cipher.AEAD {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); now.Sub(k.read) >= sessionKeysCheck {
		k.read = now
		if keys, err := readSessionKeys(k.path); err == nil {
			k.active = keys
		} else {
			k.log.Error("keeping the session keys as they were", "error", err)
		}
	}
	return k.active
}

var errSeal = errors.New("not sealed by us")

// sealOverhead is the number of bytes that sealing adds: the nonce and the tag of AES-GCM.
const sealOverhead = 12 + 16

// seal encrypts for one purpose: open fails for any other purpose.
func (k *SessionKeys) seal(purpose string, plain []byte) string {
	aead := k.current()[0]
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // it never fails: the program would end
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, plain, []byte(purpose)))
}

func (k *SessionKeys) open(purpose, sealed string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return nil, errSeal
	}
	for _, aead := range k.current() {
		if len(b) < aead.NonceSize() {
			return nil, errSeal
		}
		if plain, err := aead.Open(nil, b[:aead.NonceSize()], b[aead.NonceSize():], []byte(purpose)); err == nil {
			return plain, nil
		}
	}
	return nil, errSeal
}
