//go:build integration

package integration

import (
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/tiers"
)

// flagsOf runs the command at the end of a message in a shell that defines aws as a function, and returns its flags.
func flagsOf(t *testing.T, s specimen, message string) map[string]string {
	t.Helper()
	at := strings.LastIndex(message, ": aws ")
	if at < 0 {
		t.Fatalf("no command in %q", message)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `aws() { printf '%s\0' "$@"; }; `+message[at+2:]).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, message)
	}
	words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if got := strings.Join(words[:2], " "); got != s.tagging.command || len(words)%2 != 0 {
		t.Fatalf("the command is %q, want %q with flags", words, s.tagging.command)
	}
	flags := map[string]string{}
	for i := 2; i < len(words); i += 2 {
		flags[strings.TrimPrefix(words[i], "--")] = words[i+1]
	}
	if flags["region"] != "eu-west-1" || flags["endpoint-url"] != world.AWSEndpoint {
		t.Errorf("it goes to %v", flags)
	}
	return flags
}

// A script that replaces all tags removes Portico's ownership tags. The status reports that, with a command that
// restores them; the resource is neither changed nor left behind silently.
func TestTagsThatAreWipedAreTold(t *testing.T) {
	tiers.Long(t)
	c := withOperator(t)
	others := map[string]string{"cost-center": "4711 @home"}
	wipe := func(t *testing.T, s specimen, o external.Object) {
		t.Helper()
		if err := s.tagging.replace(t, o, others); err != nil {
			t.Fatal(err)
		}
	}
	each(t, func(t *testing.T, s specimen) {
		ns := team(t, c)
		told := func(o external.Object, says string) metav1.Condition {
			t.Helper()
			wakeNow(t, c, o)
			got := reason(t, c, o, "OwnershipTagsLost")
			_, status := o.AWS()
			if !strings.Contains(got.Message, says) || !strings.Contains(got.Message, status.ARN) {
				t.Errorf("%q does not say %q of %s", got.Message, says, status.ARN)
			}
			return got
		}
		o := s.object(ns, "wiped")
		s.declare(o)
		createReady(t, c, o)
		m := world.Proxy.Mark()
		wipe(t, s, o)
		message := told(o, "changes nothing there").Message
		if err := erase(t, c, o); err != nil {
			t.Fatal(err)
		}
		told(o, "nothing was deleted")
		if calls := s.writes(m); len(calls) != 0 {
			t.Errorf("without its marks: %v", calls)
		}
		// A pass between the command and the reading of its tags would delete what they are read from.
		annotate(t, c, o, v1alpha1.AnnotationDeletionProtection, "true")
		reason(t, c, o, v1alpha1.ReasonDeletionProtected)
		if err := s.tagging.run(t, flagsOf(t, s, message)); err != nil {
			t.Fatal(err)
		}
		if tags := s.tagging.read(t, o); tags["portico.dev/uid"] != string(o.GetUID()) ||
			tags["cost-center"] != others["cost-center"] {
			t.Errorf("the command left %v", tags)
		}
		wakeNow(t, c, o)
		awaitGone(t, c, o)
		if left := s.owned(t, string(o.GetUID())); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}

		for _, policy := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionRetain, v1alpha1.DeletionOrphan} {
			o := s.object(ns, strings.ToLower(string(policy)))
			create(t, c, o)
			if err := c.Patch(t.Context(), o,
				client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deletionPolicy":"`+policy+`"}}`))); err != nil {
				t.Fatal(err)
			}
			ready(t, c, o)
			wipe(t, s, o)
			told(o, "restore them")
			gone(t, c, o)
			if tags := s.tagging.read(t, o); len(tags) != 1 || tags["cost-center"] != others["cost-center"] {
				t.Errorf("%s left the tags %v", policy, tags)
			}
		}
	})
}
