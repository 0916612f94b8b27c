package cloud

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestWhatMarksAreLost(t *testing.T) {
	id := Identity{Cluster: "c1", Kind: "S3Bucket", NamespaceUID: "n1", FormerNamespaceUIDs: []string{"lost1"}}
	all := id.OwnershipTags(object())
	without := func(change ...string) map[string]string {
		tags := id.OwnershipTags(object())
		delete(tags, TagCluster)
		for i := 0; i+1 < len(change); i += 2 {
			tags[change[i]] = change[i+1]
		}
		return tags
	}
	for _, x := range []struct {
		name string
		tags map[string]string
		lost bool
	}{
		{"all, with others' tags left", map[string]string{"cost-center": "4711"}, true},
		{"all", nil, true},
		{"one", without(), true},
		{"one, of what a lost cluster had", without(tagNamespaceUID, "lost1"), true},
		{"none", all, false},
		{"one, and another is another object's", without(TagName, "other"), false},
		{"one, and another is of another namespace of this name", without(tagNamespaceUID, "n0"), false},
		{"all, and it is offered to somebody", map[string]string{TagAdopt: "search/invoices"}, false},
		{"all, and it is offered to nobody", map[string]string{TagAdopt: ""}, false},
		{"all, and another cluster has it", map[string]string{TagCluster: "c2"}, false},
	} {
		marks := id.LostMarks(object(), x.tags)
		if (marks != nil) != x.lost {
			t.Errorf("%s: LostMarks() = %v, want any: %v", x.name, marks, x.lost)
		}
		if x.lost && (marks[TagUID] != "u1" || len(marks) != len(all)) {
			t.Errorf("%s: LostMarks() = %v, want %d with the UID u1", x.name, marks, len(all))
		}
	}
}

// The shell passes exactly the intended words to the command.
func TestACommandSurvivesTheShell(t *testing.T) {
	s := &Session{
		Config:   aws.Config{Region: "eu-west-1"},
		Services: Services{Own: map[string]string{"SQS": "http://127.0.0.1:4566"}},
	}
	tags := TagText(map[string]string{"it's": `"quoted" $HOME \`, "a": "two  words;&\n"})
	words := []string{"sqs", "tag-queue", "--tags", tags, "--name", "", "~", "*"}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `aws() { printf '%s\0' "$@"; }; `+
		s.Command("SQS", words...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(words, []string{"--region", "eu-west-1", "--endpoint-url", "http://127.0.0.1:4566"})
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if text := s.Command("SNS", "sns"); text != "aws sns --region eu-west-1" {
		t.Errorf("%s", text)
	}
	if want := `[{"Key":"a","Value":"1"},{"Key":"b","Value":"2"}]`; TagText(
		map[string]string{"b": "2", "a": "1"}) != want {
		t.Errorf("%s", TagText(map[string]string{"b": "2", "a": "1"}))
	}
}
