package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// RevocationSecret is the Secret in Portico's namespace that lists the sessions that were signed out. It is installed
// with the portal, empty, so that the portal needs no right to create Secrets.
const RevocationSecret = "portico-revoked-sessions"

// Revocations is the list of sessions that were signed out before their end, watched by every replica. Keys are
// hashes of session IDs, values the Unix time from which on no portal would take the session anyway.
type Revocations struct {
	secrets  corev1client.SecretInterface
	clock    clock.PassiveClock
	informer toolscache.SharedIndexInformer
	learnt   toolscache.ResourceEventHandlerRegistration

	mu    sync.RWMutex
	until map[string]int64
}

func newRevocations(secrets corev1client.SecretInterface, c clock.PassiveClock) (*Revocations, error) {
	r := &Revocations{secrets: secrets, clock: c, until: map[string]int64{}}
	only := fields.OneTermEqualSelector("metadata.name", RevocationSecret).String()
	r.informer = toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return secrets.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return secrets.Watch(ctx, o)
		},
	}, &corev1.Secret{}, 0, toolscache.Indexers{})
	var err error
	r.learnt, err = r.informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { r.learn(obj) },
		UpdateFunc: func(_, obj any) { r.learn(obj) },
	})
	if err != nil {
		return nil, fmt.Errorf("watching the revoked sessions: %w", err)
	}
	return r, nil
}

func (r *Revocations) run(ctx context.Context) { r.informer.RunWithContext(ctx) }

// Loaded reports whether learn has seen the list as it was at the start; the informer alone is done before that.
func (r *Revocations) Loaded() bool { return r.learnt.HasSynced() }

// learn adds what other replicas wrote. Nothing is ever taken back before its time.
func (r *Revocations) learn(obj any) {
	s, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, raw := range s.Data {
		if until, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
			r.until[key] = until
		}
	}
	for key := range r.ended(r.until) {
		delete(r.until, key)
	}
}

// Revoked reports whether the session was signed out.
func (r *Revocations) Revoked(session string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.until[session]
	return ok
}

// Revoke refuses the session from now on, here at once and on the other replicas as soon as they see the Secret;
// until is from when on nobody would take it anyway. After an error it is refused here only.
func (r *Revocations) Revoke(ctx context.Context, session string, until time.Time) error {
	r.mu.Lock()
	r.until[session] = until.Unix()
	old := r.ended(r.until)
	r.mu.Unlock()

	data := map[string]any{session: base64.StdEncoding.EncodeToString([]byte(strconv.FormatInt(until.Unix(), 10)))}
	for key := range old {
		data[key] = nil // a merge patch removes it
	}
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return fmt.Errorf("writing the patch of revoked sessions: %w", err)
	}
	_, err = r.secrets.Patch(ctx, RevocationSecret, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("adding to Secret %s: %w", RevocationSecret, err)
	}
	return nil
}

func (r *Revocations) ended(all map[string]int64) map[string]bool {
	now := r.clock.Now().Unix()
	out := map[string]bool{}
	for key, until := range all {
		if until < now {
			out[key] = true
		}
	}
	return out
}
