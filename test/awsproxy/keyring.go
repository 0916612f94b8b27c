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

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// The reasons for refusing a key.
var (
	errUnknownKey = errors.New("access key unknown")
	errExpiredKey = errors.New("session expired")
)

// keyring maps access keys to accounts.
type keyring struct {
	upstream *wire.Upstream
	now      func() time.Time

	mu      sync.Mutex
	owners  map[string]string // "" is a revoked key
	expires map[string]time.Time
	callers map[string]*wire.Principal // by the keys of their sessions
}

func newKeyring(static map[string]string, up *wire.Upstream, now func() time.Time) *keyring {
	k := &keyring{
		upstream: up, now: now, owners: map[string]string{}, expires: map[string]time.Time{},
		callers: map[string]*wire.Principal{},
	}
	maps.Copy(k.owners, static)
	return k
}

func (k *keyring) revoke(key string) { k.Assign(key, "") }

func (k *keyring) Assign(key, account string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owners[key] = account
}

// Issued records a temporary key and its session; the caller is nil if it is not a role's.
func (k *keyring) Issued(key string, expires time.Time, caller *wire.Principal) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expires[key], k.callers[key] = expires, caller
}

// caller returns the role session that the key belongs to; nil if it is the key of a user or of an account's root,
// who can do everything.
func (k *keyring) caller(key string) *wire.Principal {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.callers[key]
}

// accounts returns the accounts whose keys have been used, sorted.
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

// account returns the account of a key, errUnknownKey, errExpiredKey or an error of the request to moto.
func (k *keyring) account(ctx context.Context, s wire.Scope) (string, error) {
	k.mu.Lock()
	owner, known := k.owners[s.Key]
	expires, temporary := k.expires[s.Key]
	k.mu.Unlock()
	switch {
	case known && owner == "":
		return "", errUnknownKey
	case temporary && !s.Token: // a temporary key without its token is invalid
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
	if current, known := k.owners[s.Key]; known { // revoked or mapped since
		owner = current
	}
	if owner == "" {
		return "", errUnknownKey
	}
	k.owners[s.Key] = owner
	return owner, nil
}

var identity = regexp.MustCompile(
	`<Arn>([^<]+)</Arn>[\s\S]*?<Account>(\d+)</Account>|<Account>(\d+)</Account>[\s\S]*?<Arn>([^<]+)</Arn>`)

// ask asks moto for the account of the key. Moto accepts any key: one that it did not create is reported as the user
// "moto" of its default account.
func (k *keyring) ask(ctx context.Context, s wire.Scope) (string, error) {
	r, err := k.upstream.Ask(ctx, wire.Question{
		Service: "sts", Region: s.Region, Key: s.Key, Method: "POST", Path: "/",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		Body:   "Action=GetCallerIdentity&Version=2011-06-15",
	})
	if err != nil {
		return "", err
	}
	m := identity.FindSubmatch(r.Body)
	if r.Status != 200 || m == nil {
		return "", fmt.Errorf("GetCallerIdentity answered %d: %s", r.Status, r.Body)
	}
	account, arn := string(m[2])+string(m[3]), string(m[1])+string(m[4])
	if strings.HasSuffix(arn, ":user/moto") {
		return "", errUnknownKey
	}
	return account, nil
}
