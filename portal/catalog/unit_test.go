package catalog

import (
	"strings"
	"testing"
)

func TestNumbersAreReadWithTheirUnits(t *testing.T) {
	for _, c := range []struct {
		unit     Unit
		text     string
		want     any
		complain string
	}{
		{Seconds, "30", int64(30), ""},
		{Seconds, "5m", int64(300), ""},
		{Seconds, "1.5 hours", int64(5400), ""},
		{Seconds, "2 days", int64(172800), ""},
		{Seconds, "0.5s", nil, "must be a whole number of seconds, such as 45, 45s, 5m or 2h"},
		{Seconds, "5 weeks", nil, "must be a whole number of seconds"},
		{Seconds, "9999999999999999 days", nil, "is too large or too small a number"},
		{Days, "2 weeks", int64(14), ""},
		{GiB, "1 TiB", int64(1024), ""},
		{GiB, "20Gi", int64(20), ""},
		{GiB, "20 GB", nil, "must be a whole number of GiB"},
		{Bytes, "256 KiB", int64(262144), ""},
		{Percent, "80%", int64(80), ""},
		{"", "5m", nil, "must be a whole number, such as 30"},
	} {
		d := decoder{}
		got, ok := d.scalar(Field{Type: Integer, Unit: c.unit}, "spec.n", c.text)
		if ok != (c.complain == "") || ok && got != c.want {
			t.Errorf("%s of %q: %v, %v", c.text, c.unit, got, ok)
		}
		if !ok && !strings.Contains(d.errs[0].Message, c.complain) {
			t.Errorf("%s of %q: %q, want %q", c.text, c.unit, d.errs[0].Message, c.complain)
		}
	}
}

func TestQuantitiesKeepTheSpellingOfKubernetes(t *testing.T) {
	for text, want := range map[string]any{
		"256Mi": "256Mi", "20 Gi": "20Gi", "2 GiB": "2Gi", " 250m ": "250m",
		"1.5": "1.5", "much": "much", "2 GIGS": "2 GIGS",
	} {
		d := decoder{}
		got, ok := d.scalar(Field{Type: String, Format: quantity, Unit: Capacity}, "spec.q", text)
		if !ok || got != want {
			t.Errorf("%q is read as %v, %v, want %v", text, got, ok, want)
		}
	}
}

// TestEveryCountHasItsUnit: a number whose description names a unit has it.
func TestEveryCountHasItsUnit(t *testing.T) {
	kinds, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for kind, paths := range map[string]map[string]Unit{
		"S3Bucket":    {"spec.corsRules[].maxAgeSeconds": Seconds, "spec.lifecycleRules[].expirationDays": Days, "spec.lifecycleRules[].transitions[].days": Days},
		"RDSInstance": {"spec.allocatedStorage": GiB, "spec.maxAllocatedStorage": GiB, "spec.storageThroughput": MiBs, "spec.backupRetentionPeriod": Days, "spec.port": "", "spec.iops": ""},
		"SQSQueue":    {"spec.visibilityTimeout": Seconds, "spec.messageRetentionPeriod": Seconds, "spec.maximumMessageSize": Bytes, "spec.delaySeconds": Seconds},
		"EC2Instance": {"spec.blockDeviceMappings[].volumeSize": GiB, "spec.blockDeviceMappings[].throughput": MiBs},
		"WebApp": {
			"spec.resources.requests.cpu": Cores, "spec.resources.limits.memory": Capacity,
			"spec.autoscaling.targetCPU":         Percent,
			"spec.probes.liveness.periodSeconds": Seconds, "spec.replicas": "",
		},
	} {
		k, _ := kinds.ByName(kind)
		for path, want := range paths {
			if f, ok := k.field(path); !ok || f.Unit != want {
				t.Errorf("%s of %s counts %q, want %q", path, kind, f.Unit, want)
			}
		}
	}
}

// TestConditionsFollowTheRules: the API server's conditional rules have conditions in the form.
func TestConditionsFollowTheRules(t *testing.T) {
	kinds, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for kind, paths := range map[string]map[string]string{
		"S3Bucket": {
			"spec.encryption.kmsKeyID":                        "algorithm=aws:kms,aws:kms:dsse",
			"spec.encryption.bucketKeyEnabled":                "algorithm=aws:kms",
			"spec.lifecycleRules[].expiredObjectDeleteMarker": "no expirationDays",
		},
		"RDSInstance": {"spec.storageThroughput": "storageType=gp3", "spec.masterUserSecretKmsKeyID": "manageMasterUserPassword=true", "spec.iops": ""},
		"SQSQueue": {
			"spec.contentBasedDeduplication": "fifoQueue=true", "spec.deduplicationScope": "fifoQueue=true",
			"spec.fifoThroughputLimit":                "fifoQueue=true",
			"spec.redriveAllowPolicy.sourceQueueArns": "redrivePermission=byQueue",
			"spec.deadLetterQueue.targetRef":          "no targetArn", "spec.deadLetterQueue.targetArn": "no targetRef",
			"spec.kmsDataKeyReusePeriodSeconds": "with kmsMasterKeyId",
		},
		"EC2Instance": {"spec.imageID": "no imageSSMParameter", "spec.userDataFrom": "no userData", "spec.userDataFrom.secretKeyRef": "no configMapKeyRef"},
		"WebApp":      {"spec.env[].value": "no valueFrom", "spec.env[].valueFrom": "no value", "spec.envFrom[].configMapRef": "no secretRef", "spec.port": ""},
		"AWSProvider": {"spec.externalID": "with assumeRoleARN", "spec.roleARN": "no accessKeyIDRef"},
	} {
		k, _ := kinds.ByName(kind)
		for path, want := range paths {
			f, ok := k.field(path)
			got := ""
			for _, c := range f.Needs {
				switch {
				case c.Unset:
					got += "no " + c.Field
				case len(c.Values) == 0:
					got += "with " + c.Field
				default:
					got += c.Field + "=" + strings.Join(c.Values, ",")
				}
				if c.Label == "" {
					t.Errorf("%s of %s: the other field has no name", path, kind)
				}
			}
			if !ok || got != want {
				t.Errorf("%s of %s: %q, want %q", path, kind, got, want)
			}
		}
	}
}
