package prose

import "testing"

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"  ":                        "",
		"the bucket is taken":       "The bucket is taken.",
		"kmsKeyID is required":      "kmsKeyID is required.",
		"spec.x must be set!":       "spec.x must be set!",
		"Already one. And another.": "Already one. And another.",
		"über dem Limit":            "Über dem Limit.",
	} {
		if got := Sentence(in); got != want {
			t.Errorf("Sentence(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHasWords(t *testing.T) {
	for search, want := range map[string]bool{"": true, "logs": true, "BUCKET  logs": true, "logs queue": false, "bucketlogs": false} {
		if HasWords(search, "Logs bucket") != want {
			t.Errorf("%q is found: %v", search, !want)
		}
	}
}
