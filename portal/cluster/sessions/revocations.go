package sessions

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
)

// revocationLists is the number of Secrets. Several are needed because revocations that exceed a Secret's size would
// have no effect.
const revocationLists = 8

// RevocationSecret returns the name of the Secret in Portico's namespace that lists revoked sessions of some users.
// Each is installed with the portal, empty, so that the portal needs no right to create Secrets.
func RevocationSecret(list int) string {
	if list == 0 {
		return "portico-revoked-sessions" // earlier versions had this one only
	}
	return "portico-revoked-sessions-" + strconv.Itoa(list)
}

// Revocations are the sessions that were revoked before their expiry, at a sign-out or by a platform admin, watched by
// every replica.
type Revocations struct {
	secrets corev1client.SecretInterface
	clock   clock.PassiveClock
	watched []watchedList

	mu    sync.RWMutex
	lists []*revocationList
}

type watchedList struct {
	informer toolscache.SharedIndexInformer
	learnt   toolscache.ResourceEventHandlerRegistration
}

// NewRevocations returns Revocations in the Secrets.
func NewRevocations(secrets corev1client.SecretInterface, c clock.PassiveClock) (*Revocations, error) {
	r := &Revocations{secrets: secrets, clock: c}
	for list := range revocationLists {
		r.lists = append(r.lists, newRevocationList())
		w, err := r.watch(list)
		if err != nil {
			return nil, fmt.Errorf("watching the revoked sessions: %w", err)
		}
		r.watched = append(r.watched, w)
	}
	return r, nil
}

func (r *Revocations) watch(list int) (w watchedList, err error) {
	only := fields.OneTermEqualSelector("metadata.name", RevocationSecret(list)).String()
	w.informer = toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return r.secrets.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return r.secrets.Watch(ctx, o)
		},
	}, &corev1.Secret{}, 0, toolscache.Indexers{})
	w.learnt, err = w.informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.learn(list, obj) },
		UpdateFunc: func(_, obj any) { r.learn(list, obj) },
	})
	return w, err
}

// Run watches the Secrets until ctx ends.
func (r *Revocations) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, w := range r.watched {
		all.Go(func() { w.informer.RunWithContext(ctx) })
	}
	all.Wait()
}

// Loaded reports whether learn has processed the initial lists; the informers report that they have synced before that.
func (r *Revocations) Loaded() bool {
	for _, w := range r.watched {
		if !w.learnt.HasSynced() {
			return false
		}
	}
	return true
}

// learn adds what other replicas wrote. No revocation is removed before it expires.
func (r *Revocations) learn(list int, obj any) {
	s, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lists[list].see(s.Data, r.clock.Now())
}

// listOf returns the list of the user's sessions, by the last digit of the hash.
func listOf(user string) int {
	digit, _ := strconv.ParseUint(user[max(len(user)-1, 0):], 16, 8) // anything that is no hash is in the first list
	return int(digit) % revocationLists
}

// Revoked reports whether the session was revoked.
func (r *Revocations) Revoked(s auth.SessionRef) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.lists[listOf(s.User)].has(s) || r.lists[0].hasOld(s)
}

// Revoke revokes the session, at once on this replica and on the others as soon as they see the Secret. After an error
// it is revoked on this replica only.
func (r *Revocations) Revoke(ctx context.Context, s auth.SessionRef) error {
	return r.change(ctx, listOf(s.User), func(l *revocationList) map[string]*string { return l.add(s, r.clock.Now()) })
}

// RevokeUser revokes all sessions of the user that began at or before until.
func (r *Revocations) RevokeUser(ctx context.Context, until auth.SessionRef) error {
	return r.change(ctx, listOf(until.User), func(l *revocationList) map[string]*string {
		return l.addAll(until.User, until.Began, r.clock.Now())
	})
}

// EndUser revokes all sessions and tokens that a user has begun, by the username in Kubernetes, and returns the latest
// beginning that is revoked. Sessions and tokens record their beginning in whole seconds, so it returns after the
// current second is over, and those that begin later are valid. It ignores the cancellation of ctx, because the
// caller's connection may end first.
func (r *Revocations) EndUser(ctx context.Context, username string) (time.Time, error) {
	until := r.clock.Now().Truncate(time.Second)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), impersonate.Timeout)
	defer cancel()
	if err := r.RevokeUser(bounded, auth.UserRef(username, until)); err != nil {
		return time.Time{}, err
	}
	select {
	case <-ctx.Done():
	case <-time.After(until.Add(time.Second).Sub(r.clock.Now())):
	}
	return until, nil
}

func (r *Revocations) change(ctx context.Context, list int, by func(*revocationList) map[string]*string) error {
	r.mu.Lock()
	change := by(r.lists[list])
	r.mu.Unlock()

	data := map[string]any{}
	for key, text := range change {
		if data[key] = nil; text != nil { // a merge patch removes null values
			data[key] = base64.StdEncoding.EncodeToString([]byte(*text))
		}
	}
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return fmt.Errorf("writing the patch of revoked sessions: %w", err)
	}
	// The patch is idempotent.
	err = retry.OnError(wait.Backoff{Steps: 3, Duration: 100 * time.Millisecond, Factor: 3}, func(err error) bool {
		return ctx.Err() == nil && !apierrors.IsForbidden(err)
	}, func() error {
		_, err := r.secrets.Patch(ctx, RevocationSecret(list), types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("adding to Secret %s: %w", RevocationSecret(list), err)
	}
	return nil
}
