package deploy

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/expiring"
)

// notes write on the accounts of deployers when they were last used and refused, from where the controller of Teams
// takes it into the status: each at most once a minute.
type notes struct {
	accounts client.Client
	now      func() time.Time
	written  *expiring.Cache[noteOf, bool]
}

type noteOf struct {
	row types.NamespacedName
	at  string // the annotation
}

const (
	noteEvery = time.Minute
	notesKept = 10_000
)

func newNotes(accounts client.Client, now func() time.Time) *notes {
	return &notes{accounts: accounts, now: now, written: expiring.New[noteOf, bool](notesKept, now)}
}

func (n *notes) used(ctx context.Context, row types.NamespacedName, run string) {
	n.write(ctx, row, deploy.AnnotationUsed, deploy.AnnotationUsedBy, run)
}

func (n *notes) refused(ctx context.Context, row types.NamespacedName, why string) {
	n.write(ctx, row, deploy.AnnotationRefused, deploy.AnnotationRefusal, short(why))
}

// write writes a note. One that cannot be written is missing; nothing waits for it.
func (n *notes) write(ctx context.Context, row types.NamespacedName, when, what, text string) {
	of := noteOf{row, when}
	if _, recent := n.written.Get(of); recent {
		return
	}
	n.written.Put(of, true, noteEvery)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		when: n.now().UTC().Format(time.RFC3339), what: text,
	}}})
	if err != nil {
		return // cannot happen: it has only strings
	}
	go n.patch(context.WithoutCancel(ctx), row, patch)
}

// noteTimeout bounds the write of a note.
const noteTimeout = 5 * time.Second

func (n *notes) patch(ctx context.Context, row types.NamespacedName, patch []byte) {
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
		Namespace: deploy.Namespace, Name: deploy.Account(row.Namespace, row.Name),
	}}
	err := n.accounts.Patch(ctx, account, client.RawPatch(types.MergePatchType, patch))
	if client.IgnoreNotFound(err) != nil {
		log.FromContext(ctx).Error(err, "note the use of a deployer", "deployer", row.String())
	}
}
