package write

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/objects"
)

// stands is an API server with one object, where writes conflict a few times because the status is written meanwhile.
type stands struct {
	*kubetest.APIServer
	uid        types.UID
	generation int64
	version    int
	conflicts  int // remaining
}

// answers writes the response to the last request.
func (s *stands) answers(w http.ResponseWriter) {
	asked := s.Seen[len(s.Seen)-1]
	if asked.Method != http.MethodGet && s.conflicts > 0 {
		s.conflicts--
		s.version++
		kubetest.Reply(w, 409, metav1.Status{
			Status: "Failure", Code: 409, Reason: metav1.StatusReasonConflict,
			Message: "another version",
		})
		return
	}
	kubetest.Reply(w, 200, map[string]any{
		"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1",
		"metadata": map[string]any{
			"name": "logs", "uid": s.uid, "generation": s.generation, "resourceVersion": strings.Repeat("7", s.version),
		},
	})
}

// written returns the last request body, and the number of attempted writes.
func (s *stands) written(t *testing.T) (body map[string]any, writes int) {
	t.Helper()
	for i, r := range s.Seen {
		if r.Method == http.MethodGet {
			continue
		}
		writes++
		if body = nil; json.Unmarshal([]byte(s.Bodies[i]), &body) != nil {
			t.Fatalf("not JSON: %s", s.Bodies[i])
		}
	}
	return body, writes
}

// tag returns the ETag of a generation without labels and annotations.
func tag(uid string, generation int64) string {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetUID(types.UID(uid))
	obj.SetGeneration(generation)
	return ETag(obj)
}

func TestEditsAreOfTheVersionThatWasSeen(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return true }
	for _, c := range []struct {
		reason    string
		etag      string
		uid       string // in the object sent
		conflicts int
		writes    int // attempted
		changed   bool
	}{
		{"the version seen", tag("u", 3), "", 0, 1, false},
		{"one of several", tag("u", 1) + ", " + tag("u", 3), "", 0, 1, false},
		{"the status is written in between", tag("u", 3), "", 2, 3, false},
		{"an older version", tag("u", 2), "", 0, 0, true},
		{"a namesake", tag("v", 3), "", 0, 0, true},
		{"a tag that a proxy made weak", `W/` + tag("u", 3), "", 0, 1, false},
		{"a weak tag of an older version", `W/` + tag("u", 2), "", 0, 0, true},
		{"any version", "", "", 0, 1, false},
		{"any version of this object", "", "u", 0, 1, false},
		{"any version of a namesake", "", "v", 0, 0, true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w, s := clustertest.NewImpersonator(t, a)
			cl, ref := New(a, objects.New(a, nil, s.Reader(t)), w, nil), clustertest.Bucket(t)
			there := &stands{APIServer: s, uid: "u", generation: 3, version: 1, conflicts: c.conflicts}
			s.Answer = there.answers
			obj := &unstructured.Unstructured{
				Object: map[string]any{"spec": map[string]any{"providerRef": map[string]any{"name": "a"}}},
			}
			obj.SetNamespace("payments")
			obj.SetName("logs")
			obj.SetUID(types.UID(c.uid))
			_, err := cl.Update(t.Context(), kubetest.Dev, ref.Kind, obj, c.etag, true)
			body, writes := there.written(t)
			var changed *failure.ChangedError
			if errors.As(err, &changed) != c.changed || !c.changed && err != nil {
				t.Fatalf("error %v, want one of a change: %v", err, c.changed)
			}
			if writes != c.writes {
				t.Fatalf("%d writes, want %d", writes, c.writes)
			}
			if c.writes == 0 {
				return
			}
			metadata := body["metadata"].(map[string]any)
			if metadata["uid"] != "u" || metadata["resourceVersion"] != strings.Repeat("7", there.version) {
				t.Errorf("bound to %v", metadata)
			}
		})
	}
}

func TestPatchesAreOfTheVersionThatWasSeen(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return true }
	for _, c := range []struct {
		reason    string
		etag      string
		conflicts int
		writes    int
		version   any // to which the patch is bound
		changed   bool
	}{
		{"the version seen", tag("u", 3), 0, 1, "7", false},
		{"the status is written in between", tag("u", 3), 1, 2, "77", false},
		{"an older version", tag("u", 2), 0, 0, nil, true},
		{"any version", "", 0, 1, nil, false},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w, s := clustertest.NewImpersonator(t, a)
			cl := New(a, objects.New(a, nil, s.Reader(t)), w, nil)
			there := &stands{APIServer: s, uid: "u", generation: 3, version: 1, conflicts: c.conflicts}
			s.Answer = there.answers
			with := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": nil}}}
			_, err := cl.Patch(t.Context(), kubetest.Dev, clustertest.Bucket(t), with, c.etag, false)
			body, writes := there.written(t)
			var changed *failure.ChangedError
			if errors.As(err, &changed) != c.changed || !c.changed && err != nil {
				t.Fatalf("error %v, want one of a change: %v", err, c.changed)
			}
			if writes != c.writes {
				t.Fatalf("%d writes, want %d", writes, c.writes)
			}
			if metadata, _ := body["metadata"].(map[string]any); metadata["resourceVersion"] != c.version {
				t.Errorf("bound to %v", metadata)
			}
			if len(with["metadata"].(map[string]any)) != 1 {
				t.Errorf("the caller's patch became %v", with)
			}
		})
	}
}

// A patch without an ETag is checked like one with an ETag, and our own patches are sent without a read.
func TestPatchesOfAnyVersionAreChecked(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return true }
	w, s := clustertest.NewImpersonator(t, a)
	cl := New(a, objects.New(a, nil, s.Reader(t)), w, nil)
	there := &stands{APIServer: s, uid: "u", generation: 3, version: 1}
	s.Answer = there.answers
	nonsense := map[string]any{"spec": map[string]any{"corsRules": "nonsense"}}
	_, err := cl.Patch(t.Context(), kubetest.Dev, clustertest.Bucket(t), nonsense, "", false)
	if _, writes := there.written(t); err == nil || writes != 0 {
		t.Errorf("%v after %d writes", err, writes)
	}
}
