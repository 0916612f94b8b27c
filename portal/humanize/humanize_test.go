package humanize

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
	for search, want := range map[string]bool{
		"": true, "logs": true, "BUCKET  logs": true, "logs queue": false,
		"bucketlogs": false,
	} {
		if HasWords(search, "Logs bucket") != want {
			t.Errorf("%q is found: %v", search, !want)
		}
	}
}

func TestWordsKeepAcronyms(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "Ready": "Ready", "CertificateIssued": "Certificate issued", "AWSAccess": "AWS access",
		"DNSAliasReady":    "DNS alias ready",
		"messagesInFlight": "messages in flight", "EC2Instance": "EC2 instance", "WaitsForDNS": "Waits for DNS",
	} {
		if got := Words(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestPerson(t *testing.T) {
	for username, want := range map[string]string{
		"":                              "",
		"ann":                           "ann",
		"oidc:ann":                      "ann",
		"oidc:":                         "oidc:",
		"system:serviceaccount:team:ci": "system:serviceaccount:team:ci",
		"arn:aws:sts::111122223333:assumed-role/Developers/ann":        "ann (IAM role Developers in 111122223333)",
		"arn:aws-cn:sts::111122223333:assumed-role/Developers/a@b.com": "a@b.com (IAM role Developers in 111122223333)",
		"arn:aws:iam::111122223333:user/ann":                           "ann (IAM user in 111122223333)",
		"arn:aws:iam::111122223333:user/teams/payments/ann":            "ann (IAM user in 111122223333)",
		"arn:aws:iam::111122223333:root":                               "arn:aws:iam::111122223333:root",
		"arn:aws:sts::111122223333:assumed-role/Developers":            "arn:aws:sts::111122223333:assumed-role/Developers",
		"arn:aws:iam::111122223333:user/":                              "arn:aws:iam::111122223333:user/",
		"arn:aws":                                                      "arn:aws",
	} {
		if got := Person(username); got != want {
			t.Errorf("%q is %q, want %q", username, got, want)
		}
	}
}
