package activity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
)

var (
	ann    = auth.Identity{Username: "oidc:ann", Name: "Ann Example", Email: "ann@example.com"}
	bucket = Object{
		APIVersion: "portico.dev/v1alpha1", Kind: "S3Bucket", Namespace: "payments", Name: "logs",
		UID: "u1",
	}
)

// store is a Recorder with what it wrote to the API server.
type store struct {
	*Recorder
	clock   *clocktesting.FakePassiveClock
	log     bytes.Buffer
	created []*eventsv1.Event
	patched []string
	err     error
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))}
	client := fake.NewClientset()
	client.PrependReactor("*", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if s.err != nil {
			return true, nil, s.err
		}
		switch a := a.(type) {
		case clienttesting.CreateAction:
			s.created = append(s.created, a.GetObject().(*eventsv1.Event).DeepCopy())
			return true, a.GetObject(), nil
		case clienttesting.PatchAction:
			s.patched = append(s.patched, a.GetNamespace()+"/"+a.GetName()+" "+string(a.GetPatch()))
		}
		return true, &eventsv1.Event{}, nil
	})
	s.Recorder = New(client.EventsV1(), s.clock, slog.New(slog.NewTextHandler(&s.log, nil)))
	return s
}

// drain writes the noted actions.
func (s *store) drain(t *testing.T) {
	t.Helper()
	for len(s.queue) > 0 {
		s.tell(t.Context(), <-s.queue)
	}
}

func (s *store) after(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }

func counted(t *testing.T, outcome string) int {
	t.Helper()
	var m dto.Metric
	if err := told.WithLabelValues(outcome).Write(&m); err != nil {
		t.Fatal(err)
	}
	return int(m.GetCounter().GetValue())
}

func TestAnEventSaysWhoDidWhat(t *testing.T) {
	s := newStore(t)
	s.Note(ann, bucket, []Deed{{Changed, "changed tags"}})
	team := Object{APIVersion: "portico.dev/v1alpha1", Kind: "Team", Name: strings.Repeat("a", 199) + ".b", UID: "u2"}
	hostile := auth.Identity{
		Username: "oidc:eve", Name: "Bob\x1b[2J\n(oidc:bob)\u202e" + strings.Repeat("x", 300),
		Email: "eve@example.com",
	}
	s.Note(hostile, team, Requests())
	tool := auth.Identity{Username: "system:serviceaccount:payments:ci", Name: "not shown", ServiceAccount: true}
	s.Note(tool, bucket, Deletes())
	s.drain(t)
	if len(s.created) != 3 {
		t.Fatalf("%d events", len(s.created))
	}
	first, second, third := s.created[0], s.created[1], s.created[2]
	want := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "payments", Name: first.Name,
			Annotations: map[string]string{AnnotationActor: "oidc:ann", AnnotationActorName: "Ann Example"},
		},
		EventTime: metav1.NewMicroTime(s.clock.Now()), Type: "Normal",
		ReportingController: "portico.dev/portal", ReportingInstance: first.ReportingInstance,
		Action: first.Action, Reason: "Changed", Note: "Ann Example (oidc:ann) changed tags.",
		Regarding: corev1.ObjectReference{
			APIVersion: "portico.dev/v1alpha1", Kind: "S3Bucket", Namespace: "payments", Name: "logs", UID: "u1",
		},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(first.Name, "logs.") || first.Action == "" || first.ReportingInstance == "" {
		t.Errorf("Name = %q, Action = %q, ReportingInstance = %q; want logs., and both others",
			first.Name, first.Action, first.ReportingInstance)
	}
	if name := second.Name; second.Namespace != "default" || len(name) > 253 || strings.Contains(name, "..") {
		t.Errorf("event %s/%s, want a valid name in default", second.Namespace, name)
	}
	if note := second.Note; len(note) > 1024 || strings.ContainsAny(note, "\x1b\n\u202e") {
		t.Errorf("Note = %q, %d bytes; want at most 1024, without control characters", note, len(note))
	}
	if !strings.HasSuffix(second.Note, " (oidc:eve) requested it.") {
		t.Errorf("Note = %q, want (oidc:eve) requested it. at the end", second.Note)
	}
	if third.Note != "system:serviceaccount:payments:ci deleted it." || third.Annotations[AnnotationActorName] != "" {
		t.Errorf("%+v", third)
	}
	for _, e := range s.created {
		if text, _ := json.Marshal(e); strings.Contains(string(text), "example.com") { //nolint:errchkjson // it is compared
			t.Errorf("it tells an e-mail address: %s", text)
		}
	}
}

func TestWhatHappensAgainIsCounted(t *testing.T) {
	s := newStore(t)
	note := func(d Deed) { s.Note(ann, bucket, []Deed{d}) }
	for range 3 {
		note(Deed{Changed, "changed tags"})
		s.after(time.Second)
	}
	note(Deed{Changed, "changed versioning"})
	s.drain(t)
	s.flush(t.Context())
	s.flush(t.Context())
	if len(s.created) != 2 || len(s.patched) != 1 {
		t.Fatalf("%d events, patched %q", len(s.created), s.patched)
	}
	var patch struct{ Series eventsv1.EventSeries }
	at, body, _ := strings.Cut(s.patched[0], " ")
	if err := json.Unmarshal([]byte(body), &patch); err != nil {
		t.Fatalf("%s: %v", s.patched[0], err)
	}
	if want := "payments/" + s.created[0].Name; at != want {
		t.Errorf("patched %s, want %s", at, want)
	}
	if series := patch.Series; series.Count != 3 || !series.LastObservedTime.Time.Equal(s.clock.Now()) {
		t.Errorf("Series = %+v, want 3, last now", series)
	}
	s.after(seriesRest)
	note(Deed{Changed, "changed tags"})
	s.drain(t)
	s.flush(t.Context())
	if len(s.created) != 3 || len(s.series) != 1 || len(s.each) != 1 {
		t.Errorf("%d events after a while, %d series of %d", len(s.created), len(s.series), len(s.each))
	}
}

// TestALogThatAPageReadsAndFollowsIsOneLook: it is recorded once.
func TestALogThatAPageReadsAndFollowsIsOneLook(t *testing.T) {
	s := newStore(t)
	look := func() { s.Note(ann, bucket, ReadsLog("shop-1")); s.drain(t) }
	look()
	s.after(time.Second)
	look()
	s.flush(t.Context())
	if len(s.created) != 1 || len(s.patched) != 0 {
		t.Errorf("%d events, patched %q", len(s.created), s.patched)
	}
	s.after(oneLook)
	look()
	s.flush(t.Context())
	if len(s.created) != 1 || len(s.patched) != 1 || !strings.Contains(s.patched[0], `"count":2`) {
		t.Errorf("%d events, patched %q", len(s.created), s.patched)
	}
}

func TestOneUserTellsOnlySoMuch(t *testing.T) {
	s := newStore(t)
	before := counted(t, dropped)
	for i := range 3 * maxEntries {
		s.Note(ann, bucket, []Deed{{Changed, fmt.Sprint("changed ", i)}})
	}
	s.drain(t)
	if len(s.created) != maxEntries {
		t.Errorf("%d events about one object", len(s.created))
	}
	for i := range 3 * userBurst {
		other := bucket
		other.UID = bucket.UID + "x"
		other.Name = fmt.Sprint("b", i)
		s.Note(ann, other, Requests())
	}
	s.drain(t)
	if n := len(s.created); n > userBurst {
		t.Errorf("%d events of one user", n)
	}
	bob := auth.Identity{Username: "oidc:bob"}
	s.Note(bob, bucket, Deletes())
	s.drain(t)
	if last := s.created[len(s.created)-1]; last.Note != "oidc:bob deleted it." {
		t.Errorf("another user is not heard: %s", last.Note)
	}
	if counted(t, dropped)-before != 3*maxEntries+3*userBurst+1-len(s.created) {
		t.Errorf("%d were left out, and %d events written", counted(t, dropped)-before, len(s.created))
	}
	for i := range maxQueue + 100 { // nobody writes
		s.Note(auth.Identity{Username: fmt.Sprint("oidc:", i)}, bucket, Deletes())
	}
	if len(s.queue) != maxQueue {
		t.Errorf("%d wait", len(s.queue))
	}
	s.Note(ann, Object{Name: "of nobody"}, Deletes())
	(*Recorder)(nil).Note(ann, bucket, Deletes())
}

func TestAFailureIsSaidOnce(t *testing.T) {
	s := newStore(t)
	s.err = errors.New("forbidden")
	before := counted(t, failed)
	for i := range 3 {
		s.Note(ann, bucket, []Deed{{Changed, fmt.Sprint("changed ", i)}})
	}
	s.drain(t)
	if n := strings.Count(s.log.String(), "cannot be written"); n != 1 || counted(t, failed)-before != 3 {
		t.Errorf("said %d times, counted %d: %s", n, counted(t, failed)-before, &s.log)
	}
	s.err = nil
	s.Note(ann, bucket, Deletes())
	s.drain(t)
	if !strings.Contains(s.log.String(), "written again") {
		t.Error("it is not said that it works again")
	}
	s.log.Reset()
	s.Note(ann, bucket, Deletes())
	s.drain(t)
	s.err = apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, "x") // the Event has expired
	s.flush(t.Context())
	s.err = nil
	s.Note(ann, bucket, Deletes())
	s.drain(t)
	if len(s.created) != 2 || s.log.Len() > 0 {
		t.Errorf("%d events; %s", len(s.created), &s.log)
	}
}

func TestRunWritesWhatIsLeft(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Note(ann, bucket, Requests())
	s.Note(ann, bucket, Requests())
	s.Run(ctx, nil)
	if len(s.created) != 1 || len(s.patched) != 1 {
		t.Errorf("%d events, patched %q", len(s.created), s.patched)
	}
}
