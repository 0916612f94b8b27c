package awsproxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Why a key is refused.
var (
	errUnknownKey = errors.New("access key unknown")
	errExpiredKey = errors.New("session expired")
)

// keyring knows which account an access key belongs to.
type keyring struct {
	upstream *upstream
	now      func() time.Time

	mu      sync.Mutex
	owners  map[string]string // "" is a revoked key
	expires map[string]time.Time
	callers map[string]*principal // by the keys of their sessions
}

func newKeyring(static map[string]string, up *upstream, now func() time.Time) *keyring {
	k := &keyring{upstream: up, now: now, owners: map[string]string{}, expires: map[string]time.Time{}, callers: map[string]*principal{}}
	maps.Copy(k.owners, static)
	return k
}

func (k *keyring) revoke(key string) { k.assign(key, "") }

func (k *keyring) assign(key, account string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owners[key] = account
}

// issued notes a temporary key, and whose it is; nil if it is no role's.
func (k *keyring) issued(key string, expires time.Time, caller *principal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expires[key], k.callers[key] = expires, caller
}

// caller returns the session of a role that the key is of; nil if it is a
// user's, or of an account's root, who may do everything.
func (k *keyring) caller(key string) *principal {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.callers[key]
}

// accounts returns the accounts whose keys were seen, sorted.
func (k *keyring) accounts() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := map[string]bool{}
	for _, owner := range k.owners {
		if owner != "" { // not revoked
			seen[owner] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// account returns errUnknownKey, errExpiredKey or a failure to ask.
func (k *keyring) account(ctx context.Context, s scope) (string, error) {
	k.mu.Lock()
	owner, known := k.owners[s.key]
	expires, temporary := k.expires[s.key]
	k.mu.Unlock()
	switch {
	case known && owner == "":
		return "", errUnknownKey
	case temporary && !s.token: // a temporary key alone is worth nothing
		return "", errUnknownKey
	case temporary && !k.now().Before(expires):
		return "", errExpiredKey
	case known:
		return owner, nil
	}
	owner, err := k.ask(ctx, s)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if current, known := k.owners[s.key]; known { // revoked or mapped meanwhile
		owner = current
	}
	if owner == "" {
		return "", errUnknownKey
	}
	k.owners[s.key] = owner
	return owner, nil
}

var identity = regexp.MustCompile(`<Arn>([^<]+)</Arn>[\s\S]*?<Account>(\d+)</Account>|<Account>(\d+)</Account>[\s\S]*?<Arn>([^<]+)</Arn>`)

// ask asks moto whose the key is. Moto lets any key in: one that it did not
// make comes back as the user "moto" of its default account.
func (k *keyring) ask(ctx context.Context, s scope) (string, error) {
	r, err := k.upstream.ask(ctx, question{
		service: "sts", region: s.region, key: s.key, method: "POST", path: "/",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		body:   "Action=GetCallerIdentity&Version=2011-06-15",
	})
	if err != nil {
		return "", err
	}
	m := identity.FindSubmatch(r.body)
	if r.status != 200 || m == nil {
		return "", fmt.Errorf("GetCallerIdentity answered %d: %s", r.status, r.body)
	}
	account, arn := string(m[2])+string(m[3]), string(m[1])+string(m[4])
	if strings.HasSuffix(arn, ":user/moto") {
		return "", errUnknownKey
	}
	return account, nil
}
