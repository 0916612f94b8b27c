package claim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// ledgerName is the ConfigMap in the operator's namespace with the DomainClaims that are about to be created. Losing it
// loses none.
const ledgerName = "portico-hostname-ledger"

// ledgerTimeout bounds a call that is shared by all waiting callers.
const ledgerTimeout = 30 * time.Second

// open makes sure that everything that the ledger and the DomainClaims had when the ledger was read is pending or in
// the cache, and returns the epoch for which this holds.
func (r *Registry) open(ctx context.Context) (epoch int, err error) {
	r.mu.Lock()
	open, epoch := r.ledger != nil, r.epoch
	r.mu.Unlock()
	if open {
		return epoch, nil
	}
	return cloud.ShareCall(ctx, &r.flights, "read", ledgerTimeout, r.read)
}

// ended reports whether an epoch has ended. The caller holds r.mu.
func (r *Registry) ended(epoch int) bool { return r.ledger == nil || r.epoch != epoch }

// endEpoch makes everything be read again, after another process has written the ledger, and after a PoolGateway was
// removed, which a Take may have chosen. What is reserved and not announced is void. The caller holds r.mu.
func (r *Registry) endEpoch() {
	r.ledger = nil
	r.epoch++
	maps.DeleteFunc(r.pending, func(_ string, p *pending) bool { return p.state == reserved })
}

// read reads the ledger, and then the DomainClaims. In the opposite order an announcement that became a claim in
// between would be missed.
func (r *Registry) read(ctx context.Context) (epoch int, err error) {
	r.mu.Lock()
	since := r.notes
	r.mu.Unlock()
	ledger, err := r.readLedger(ctx)
	if err != nil {
		return 0, err
	}
	list := &v1alpha1.DomainClaimList{}
	if err := r.APIReader.List(ctx, list); err != nil {
		return 0, fmt.Errorf("list the DomainClaims: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ledger != nil { // by an earlier call
		return r.epoch, nil
	}
	all := map[string]*pending{}
	for name, spec := range announcements(ledger) {
		all[name] = &pending{spec: spec, state: announced}
	}
	for i := range list.Items {
		one := &list.Items[i]
		if !r.released[idOf(one)] {
			all[one.Name] = &pending{spec: one.Spec, state: created, uid: one.UID, generation: one.Generation}
		}
	}
	for name, p := range r.pending {
		if p.newerThan(all[name], since) {
			all[name] = p
		}
	}
	r.pending, r.ledger = all, ledger
	return r.epoch, nil
}

// readLedger reads the ledger, or creates it.
func (r *Registry) readLedger(ctx context.Context) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: r.Namespace, Name: ledgerName}, found)
	if apierrors.IsNotFound(err) {
		found = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: ledgerName}}
		err = r.Client.Create(ctx, found, client.FieldOwner("portico"))
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger of hostnames, ConfigMap %s/%s: %w", r.Namespace, ledgerName, err)
	}
	return found, nil
}

// announcements returns what the ledger announces, by the names of the claims, without entries that we have not
// written.
func announcements(ledger *corev1.ConfigMap) map[string]v1alpha1.DomainClaimSpec {
	all := map[string]v1alpha1.DomainClaimSpec{}
	for name, text := range ledger.Data {
		var one v1alpha1.DomainClaimSpec
		if json.Unmarshal([]byte(text), &one) == nil {
			all[name] = one
		}
	}
	return all
}

// announce returns once the ledger announces what was pending at the call. Callers that arrive during a write share the
// next one. errOutrun or a conflict means that the epoch has ended.
func (r *Registry) announce(ctx context.Context, epoch int) error {
	r.mu.Lock()
	next := fmt.Sprintf("write %d of epoch %d", r.writes, epoch)
	r.mu.Unlock()
	_, err := cloud.ShareCall(ctx, &r.flights, next, 2*ledgerTimeout, func(ctx context.Context) (struct{}, error) {
		r.writing.Lock()
		defer r.writing.Unlock()
		ledger, first, err := r.beginWrite(epoch)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, r.write(ctx, epoch, ledger, first)
	})
	return err
}

// beginWrite returns the ledger with everything that is announced or reserved, and the claims that it announces first.
// Later calls of announce share the next write.
func (r *Registry) beginWrite(epoch int) (ledger *corev1.ConfigMap, first []*pending, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended(epoch) {
		return nil, nil, errOutrun
	}
	r.writes++
	ledger = r.ledger.DeepCopy()
	ledger.Data = map[string]string{}
	for name, p := range r.pending {
		if p.state == created {
			continue
		}
		text, err := json.Marshal(p.spec)
		if err != nil {
			return nil, nil, fmt.Errorf("announce a claim: %w", err)
		}
		ledger.Data[name] = string(text)
		if p.state == reserved {
			first = append(first, p)
		}
	}
	return ledger, first, nil
}

// write writes the ledger at the resourceVersion at which it was read, which announces the claims in first. After any
// error it must be read again.
func (r *Registry) write(ctx context.Context, epoch int, ledger *corev1.ConfigMap, first []*pending) error {
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	err := r.Client.Update(ctx, ledger, client.FieldOwner("portico")) //nolint:forbidigo // a patch of one key would not fail where another one was added
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoch != epoch { // a PoolGateway was removed meanwhile
		return errOutrun
	}
	if err != nil {
		r.endEpoch()
		return err
	}
	r.ledger = ledger
	for _, p := range first {
		p.state = announced
	}
	return nil
}
