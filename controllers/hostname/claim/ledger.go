package claim

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// ledgerTimeout bounds a call that is shared by all waiting callers.
const ledgerTimeout = 30 * time.Second

// open makes sure that the book has everything that the ledger and the DomainClaims had when the ledger was read, and
// returns the epoch for which this holds.
func (r *Registry) open(ctx context.Context) (epoch int, err error) {
	for range maxAttempts {
		r.mu.Lock()
		open, epoch := r.book.ledger != nil, r.book.epoch
		r.mu.Unlock()
		if open {
			return epoch, nil
		}
		_, err := cloud.ShareCall(ctx, &r.flights, "open", ledgerTimeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, r.read(ctx)
		})
		if err != nil {
			return 0, err
		}
	}
	return 0, errOutrun
}

// read reads the ledger, and then the DomainClaims. In the opposite order an announcement that became a claim in
// between would be missed.
func (r *Registry) read(ctx context.Context) error {
	ledger, err := r.ledger(ctx)
	if err != nil {
		return err
	}
	list := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, list); err != nil {
		return fmt.Errorf("list the DomainClaims: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := map[string]*entry{}
	for name, text := range ledger.Data {
		if spec, ok := announced(text); ok {
			entries[name] = &entry{spec: spec, announced: true}
		}
	}
	for i := range list.Items {
		one := &list.Items[i]
		if !r.book.released[idOf(one)] {
			entries[one.Name] = &entry{spec: one.Spec, uid: one.UID, generation: one.Generation}
		}
	}
	for name, e := range r.book.entries {
		if e.growing || e.underWay || (!e.announced && e.newerThan(entries[name])) {
			entries[name] = e
		}
	}
	r.book.entries, r.book.ledger = entries, ledger
	return nil
}

// newerThan reports whether e is a claim and has become known since other was read.
func (e *entry) newerThan(other *entry) bool {
	return other == nil || other.announced || (e.uid == other.uid && e.generation > other.generation)
}

// ledger reads the ledger, or creates it.
func (r *Registry) ledger(ctx context.Context) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: Ledger}, found)
	if apierrors.IsNotFound(err) {
		found = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: Ledger}}
		err = r.Client.Create(ctx, found, client.FieldOwner("portico"))
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger of hostnames, ConfigMap %s/%s: %w", r.Namespace, Ledger, err)
	}
	return found, nil
}

// announced decodes an entry of the ledger; ok is false for text that we have not written.
func announced(text string) (one v1alpha1.DomainClaimSpec, ok bool) {
	err := json.Unmarshal([]byte(text), &one)
	return one, err == nil
}

// ledgerWrite is one write of the ledger, shared by all callers that wait for it.
type ledgerWrite struct {
	epoch int
	done  chan struct{}
	err   error
}

// write returns once the ledger announces what the book announced at the call. Callers that arrive during a write share
// the next one. errOutrun or a conflict means that another writer has written it.
func (r *Registry) write(ctx context.Context, epoch int) error {
	r.mu.Lock()
	if r.book.ledger == nil || r.book.epoch != epoch {
		r.mu.Unlock()
		return errOutrun
	}
	if r.book.next == nil {
		r.book.next = &ledgerWrite{epoch: epoch, done: make(chan struct{})}
	}
	w := r.book.next
	if !r.book.writing {
		r.book.writing = true
		go r.writeAll(context.WithoutCancel(ctx))
	}
	r.mu.Unlock()
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeAll writes until no caller waits.
func (r *Registry) writeAll(ctx context.Context) {
	for {
		r.mu.Lock()
		w := r.book.next
		r.book.next = nil
		if w == nil {
			r.book.writing = false
			r.mu.Unlock()
			return
		}
		var ledger *corev1.ConfigMap
		err := errOutrun
		if r.book.ledger != nil && w.epoch == r.book.epoch {
			ledger, err = r.toWrite()
		}
		r.mu.Unlock()
		if err == nil {
			err = r.update(ctx, ledger)
		}
		w.err = err
		close(w.done)
	}
}

// toWrite returns the ledger with the current announcements. The caller holds r.mu.
func (r *Registry) toWrite() (*corev1.ConfigMap, error) {
	ledger := r.book.ledger.DeepCopy()
	ledger.Data = map[string]string{}
	for name, e := range r.book.entries {
		if !e.announced {
			continue
		}
		text, err := json.Marshal(e.spec)
		if err != nil {
			return nil, fmt.Errorf("announce a claim: %w", err)
		}
		ledger.Data[name] = string(text)
	}
	return ledger, nil
}

// update writes the ledger at the resourceVersion at which it was read. After any error it must be read again.
func (r *Registry) update(ctx context.Context, ledger *corev1.ConfigMap) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	err := r.Client.Update(ctx, ledger, client.FieldOwner("portico")) //nolint:forbidigo // a patch of one key would not fail where another one was added
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.book.ledger = nil
		r.book.epoch++
		return err
	}
	r.book.ledger = ledger
	return nil
}
