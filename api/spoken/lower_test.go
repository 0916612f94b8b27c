package spoken

import "testing"

func TestLowerKeepsAbbreviations(t *testing.T) {
	for label, want := range map[string]string{
		"Web app": "web app", "AWS account": "AWS account", "Bucket": "bucket", "A": "a", "Instance ID": "instance ID",
		"": "",
	} {
		if got := Lower(label); got != want {
			t.Errorf("%q: %q", label, got)
		}
	}
}
