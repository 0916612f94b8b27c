package s3

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/controllers/engine"
)

func failed(key, version, code, message string) s3types.Error {
	return s3types.Error{Key: &key, VersionId: &version, Code: &code, Message: &message}
}

func TestWhatIsNotDeletedIsNamed(t *testing.T) {
	kept := failed("logs/a", "v1", "AccessDenied", "Access Denied because object protected by object lock.")
	slow := failed("logs/b", "null", "SlowDown", "")
	for _, c := range []struct {
		errs   []s3types.Error
		reason string
		says   []string
	}{
		{[]s3types.Error{kept}, "ObjectsKept", []string{"1 objects", `"logs/a", version "v1": AccessDenied: Access Denied because object protected by object lock. Look`}},
		{[]s3types.Error{slow, kept}, "ObjectsKept", []string{"2 objects", `"logs/a"`}},
		{[]s3types.Error{slow}, "Emptying", []string{"1 objects", `"logs/b": SlowDown. Portico`}},
	} {
		err := deleteErrors(c.errs)
		wait, ok := engine.AsWait(err)
		if !ok || wait.Reason != c.reason {
			t.Fatalf("got %v, want %s", err, c.reason)
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q does not say %q", err, text)
			}
		}
	}
	if err := deleteErrors(nil); err != nil {
		t.Errorf("without errors: %v", err)
	}
}

// A key may contain any bytes, up to 1,024.
func TestKeysOfAnyBytesAreQuoted(t *testing.T) {
	for key, want := range map[string]string{
		"a\"b\\c":     `"a\"b\\c"`,
		"a\x00\x1b[m": `"a\x00\x1b[m"`,
		"\xff\xfe":    `"\xff\xfe"`,
		"a\u202eb":    `"a\u202eb"`,
		"größe/日本":    `"größe/日本"`,
		"":            `""`,
	} {
		if got := quoted(key); got != want {
			t.Errorf("%q becomes %s, want %s", key, got, want)
		}
	}
	for _, one := range []string{"k", "\x00", "\xff", "日", "\U0010ffff"} {
		got := quoted(strings.Repeat(one, 1024))
		if len(got) > 2100 || !strings.HasSuffix(got, `"…`) {
			t.Errorf("%d bytes, want at most 2100, cut at the end: %.80s", len(got), got)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%.80q, want characters that can be printed", got)
		}
	}
	if got := quoted(strings.Repeat("k", most)); len(got) != most+2 {
		t.Errorf("a key of %d characters becomes %s", most, got)
	}
}

// If one of the keys that are deleted one by one is kept, it is named, and the others are still deleted.
func TestAKeptKeyThatXMLCannotCarryIsNamed(t *testing.T) {
	f := &fakeS3{
		exists: true, tags: map[string]string{}, objects: []string{"a\x01b", "c\x02d", "free"},
		refuse: "DeleteObject",
	}
	a, b := adapter(f), object()
	b.Spec.ForceDestroy = true
	_, err := a.Delete(t.Context(), b, nil)
	if reasonOf(err) != "ObjectsKept" || !strings.Contains(err.Error(), `"a\x01b"`) {
		t.Errorf("error = %v, want ObjectsKept with the key", err)
	}
	if n := b.Status.RemovedObjects; n != 1 {
		t.Errorf("RemovedObjects = %d, want 1", n)
	}
	if n := strings.Count(strings.Join(f.calls, " ")+" ", "DeleteObject "); n != 1 {
		t.Errorf("calls %v", f.calls)
	}
}
