package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// renewalLists is the number of Secrets: each response to a write contains a whole one.
	renewalLists = 8
	// forgetAfter is how long after its end a turn is removed. By then no replica is about to take it over.
	forgetAfter = 30 * time.Second
	// turnTries bounds the attempts at a turn while others change the list.
	turnTries = 5
)

// RenewalSecret returns the name of the Secret in Portico's namespace that lists some of the sessions being renewed.
// Each is installed with the portal, empty, so that the portal needs no right to create Secrets.
func RenewalSecret(list int) string { return "portico-session-renewals-" + strconv.Itoa(list) }

// Turns let the replicas renew each session one after the other. A turn is a key in a Secret; its value is its end in
// milliseconds since 1970, and the text that Leave stored.
type Turns struct {
	secrets corev1client.SecretInterface

	mu   sync.Mutex
	over [renewalLists][]string // keys that can be removed
}

// NewTurns returns Turns in the Secrets.
func NewTurns(secrets corev1client.SecretInterface) *Turns {
	return &Turns{secrets: secrets}
}

// renewalList returns the list of a key, which is a hash.
func renewalList(key string) int {
	digit, _ := strconv.ParseUint(key[max(len(key)-1, 0):], 16, 8) // anything that is no hash is in the first list
	return int(digit) % renewalLists
}

// Take implements auth.Turns. It costs one request if nobody else wants the turn.
func (t *Turns) Take(ctx context.Context, key string, now, until time.Time) (mine bool, left string, err error) {
	list := renewalList(key)
	ops := []patchOp{{"test", "/data/" + key, nil}, {"add", "/data/" + key, []byte(turnText(until, ""))}}
	for range turnTries {
		mine, err := t.try(ctx, list, now, ops)
		if mine || err != nil {
			return mine, "", err
		}
		secret, err := t.secrets.Get(ctx, RenewalSecret(list), metav1.GetOptions{})
		if err != nil {
			return false, "", fmt.Errorf("reading Secret %s: %w", RenewalSecret(list), err)
		}
		had, found := secret.Data[key]
		if end, left := readTurn(had); found && now.Before(end) {
			return false, left, nil
		}
		ops = takeOver(key, secret.Data, until)
	}
	return false, "", errors.New("others take turns all the time")
}

// patchOp is one operation of a JSON patch. Values are base64, as in Secrets.
type patchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// takeOver returns the patch that takes a turn that has ended, or a new one; data is the Secret's data as it was read.
func takeOver(key string, data map[string][]byte, until time.Time) []patchOp {
	text, path := []byte(turnText(until, "")), "/data/"+key
	had, found := data[key]
	switch {
	case found:
		return []patchOp{{"test", path, had}, {"replace", path, text}}
	case len(data) == 0:
		return []patchOp{{"test", "/data", nil}, {"add", "/data", map[string][]byte{key: text}}}
	}
	return []patchOp{{"test", path, nil}, {"add", path, text}}
}

// try reports whether the patch was applied; false if one of its tests failed.
func (t *Turns) try(ctx context.Context, list int, now time.Time, ops []patchOp) (bool, error) {
	patch, err := json.Marshal(ops)
	if err != nil {
		return false, fmt.Errorf("writing a patch of renewals: %w", err)
	}
	secret, err := t.secrets.Patch(ctx, RenewalSecret(list), types.JSONPatchType, patch, metav1.PatchOptions{})
	switch {
	case apierrors.IsInvalid(err): // the API server's error for a failed test
		return false, nil
	case err != nil:
		return false, fmt.Errorf("taking a turn in Secret %s: %w", RenewalSecret(list), err)
	}
	t.look(list, now, secret)
	return true, nil
}

// look records which keys can be removed from a list.
func (t *Turns) look(list int, now time.Time, secret *corev1.Secret) {
	var over []string
	for key, text := range secret.Data {
		if end, _ := readTurn(text); now.Sub(end) > forgetAfter {
			over = append(over, key)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over[list] = over
}

// Leave implements auth.Turns. It removes ended turns; if left does not fit, it stores the turn without it.
func (t *Turns) Leave(ctx context.Context, key, left string, until time.Time) error {
	list := renewalList(key)
	t.mu.Lock()
	over := t.over[list]
	t.over[list] = nil
	t.mu.Unlock()
	err := t.write(ctx, list, over, key, turnText(until, left))
	if apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err) {
		err = t.write(ctx, list, nil, key, turnText(until, ""))
	}
	if err != nil {
		return fmt.Errorf("leaving a turn in Secret %s: %w", RenewalSecret(list), err)
	}
	return nil
}

func (t *Turns) write(ctx context.Context, list int, over []string, key, text string) error {
	data := map[string]any{}
	for _, one := range over { // a merge patch removes null values
		data[one] = nil
	}
	data[key] = []byte(text)
	patch, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		return fmt.Errorf("writing a patch of renewals: %w", err)
	}
	_, err = t.secrets.Patch(ctx, RenewalSecret(list), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func turnText(until time.Time, left string) string {
	return strings.TrimSpace(strconv.FormatInt(until.UnixMilli(), 10) + " " + left)
}

// readTurn returns the end of a turn, and the text that was left; an invalid text counts as ended long ago.
func readTurn(text []byte) (end time.Time, left string) {
	ms, left, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}, ""
	}
	return time.UnixMilli(n), left
}
