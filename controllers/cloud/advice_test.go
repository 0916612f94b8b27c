package cloud

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/controllers/engine"
)

var update = flag.Bool("update", false, "rewrite testdata/advice.txt")

// explained returns what a user sees for a code: its reason and the advice.
func explained(code string) (reason, text string) {
	err := Explain(failed(code, ""))
	wait, ok := engine.AsWait(err)
	if !ok {
		return "", "tried again with back-off"
	}
	_, text, _ = strings.Cut(err.Error(), code+". ")
	if text == "" {
		_, text, _ = strings.Cut(err.Error(), code+": . ")
	}
	return wait.Reason, text
}

// who can act: a platform admin, the author of the spec, the owner of a key, or Portico
var who = regexp.MustCompile(
	`platform admin|[Cc]hange the spec|out of the spec|in the spec|Portico (slows down and )?(goes on|tries again)`)

// Every code that AWS may return has advice that says who can do what; testdata/advice.txt lists them for review.
func TestEveryCodeComesWithAdvice(t *testing.T) {
	codes := documented(t)
	for c := range classified() {
		codes[c] = append(codes[c], "")
	}
	var all strings.Builder
	for _, c := range slices.Sorted(maps.Keys(codes)) {
		reason, text := explained(c)
		fmt.Fprintf(&all, "%s → %s: %s\n", c, reason, text)
		if reason != "" && !who.MatchString(text) {
			t.Errorf("%s: %q does not say who can do what", c, text)
		}
	}
	const golden = "testdata/advice.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != all.String() {
		t.Errorf("what codes come with is not what %s says; look at the difference after go test ./controllers/cloud "+
			"-run %s -update", golden, t.Name())
	}
}

// Errors that the author of a spec cannot fix do not suggest another spec, and errors that no permission fixes do not
// suggest one.
func TestNoAdviceMisleads(t *testing.T) {
	for class, row := range map[string]struct{ codes, says, not []string }{
		"the account": {
			[]string{
				"OptInRequired", "NotSignedUp", "PendingVerification", "Blocked", "AccountProblem",
				"AllAccessDisabled", "SubscriptionRequiredException", "KMSOptInRequired", "KmsOptInRequired",
				"UnauthorizedAccess", "RegionDisabledException",
			},
			[]string{"platform admin"},
			[]string{"Change the spec", "grant", "renew"},
		},
		"what a server lacks": {[]string{"NotImplemented"}, []string{"does not have", "out of the spec"}, []string{"Change the spec"}},
		"keys": {
			[]string{
				"KMS.DisabledException", "KMS.NotFoundException", "KMSDisabled", "KmsNotFound",
				"KMSKeyNotAccessibleFault", "KMS.InvalidKeyUsageException", "InvalidKMSKey.InvalidState",
			},
			[]string{"KMS key"},
			[]string{"Change the spec"},
		},
		"tags": {
			[]string{
				"TooManyTagsException", "TagLimitExceeded", "TagPolicy", "TagPolicyException",
				"TagPolicyViolation",
			}, []string{"tags", "platform admin"}, []string{"raise the quota"},
		},
		"the provider's roles":  {[]string{"PackedPolicyTooLarge", "MalformedPolicyDocument"}, []string{"AWSProvider"}, []string{"raise the quota", "Change the spec"}},
		"a key of the provider": {[]string{"InvalidAccessKeyId", "AuthFailure", "InvalidClientTokenId"}, []string{"renew"}, []string{"region"}},
	} {
		for _, c := range row.codes {
			_, text := explained(c)
			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s: %q lacks %q", class, c, text, want)
				}
			}
			for _, not := range row.not {
				if strings.Contains(text, not) {
					t.Errorf("%s, %s: %q says %q", class, c, text, not)
				}
			}
		}
	}
}
