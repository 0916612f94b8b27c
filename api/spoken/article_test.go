package spoken

import "testing"

func TestTheArticleIsThatOfTheSpokenName(t *testing.T) {
	for name, want := range map[string]string{
		"AccessBinding shop": "an AccessBinding shop", "AWSProvider": "an AWSProvider", "EC2Instance": "an EC2Instance",
		"RDSInstance":    "an RDSInstance",
		"S3Bucket files": "an S3Bucket files", "SQSQueue": "an SQSQueue", "SNSTopic": "an SNSTopic",
		"HTTPRoute": "an HTTPRoute",
		"WebApp":    "a WebApp", "Secret": "a Secret", "ServiceAccount": "a ServiceAccount",
		"HostnameGrant": "a HostnameGrant", "DatabaseUser": "a DatabaseUser",
		"S3 bucket": "an S3 bucket", "queue": "a queue", "access": "an access", "PVC": "a PVC", "": "a ",
	} {
		if got := A(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
