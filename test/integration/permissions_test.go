//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/stack"
)

// ladder is a role that begins with no action of a document, and is granted one after the other.
type ladder struct {
	t       *testing.T
	c       client.Client
	role    string
	file    map[string]any // the document
	granted []string
	detach  func()
}

// newLadder takes all actions of a kind's document from a role.
func newLadder(t *testing.T, c client.Client, kind, role string) *ladder {
	t.Helper()
	text, err := os.ReadFile("../../docs/iam/" + strings.ToLower(kind) + ".json")
	if err != nil {
		t.Fatal(err)
	}
	l := &ladder{t: t, c: c, role: role, detach: func() {}}
	if err := json.Unmarshal(text, &l.file); err != nil {
		t.Fatal(err)
	}
	l.attach()
	t.Cleanup(func() { l.detach() })
	return l
}

// actions returns those of the document.
func (l *ladder) actions() []string {
	var all []string
	for _, s := range l.file["Statement"].([]any) {
		for _, a := range s.(map[string]any)["Action"].([]any) {
			all = append(all, a.(string))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// attach gives the role each statement of the document, with the actions that are granted.
func (l *ladder) attach() {
	l.t.Helper()
	var policies iam.Policies
	var kept []any
	for _, s := range l.file["Statement"].([]any) {
		copied := map[string]any{}
		var actions []any
		for field, value := range s.(map[string]any) {
			copied[field] = value
		}
		for _, a := range copied["Action"].([]any) {
			if slices.Contains(l.granted, a.(string)) {
				actions = append(actions, a)
			}
		}
		if copied["Action"] = actions; len(actions) > 0 {
			kept = append(kept, copied)
		}
	}
	if len(kept) > 0 {
		text, err := json.Marshal(map[string]any{"Version": l.file["Version"], "Statement": kept})
		if err != nil {
			l.t.Fatal(err)
		}
		policy, err := awsproxy.ParsePolicy(text)
		if err != nil {
			l.t.Fatal(err)
		}
		policies.Identity = []*iam.Policy{policy}
	}
	l.detach()
	l.detach = world.Proxy.AttachPolicies(l.role, policies)
}

var missingAction = regexp.MustCompile(`(?:is not authorized to perform:|the provider's identity lacks|to grant) ([a-zA-Z0-9-]+:[a-zA-Z]+)`)

// climb grants each action that the object's condition names, until done.
func (l *ladder) climb(what string, obj external.Object, done func() bool) {
	l.t.Helper()
	await(l.t, what, func() (bool, string) {
		if done() {
			return true, ""
		}
		found := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady)
		if found == nil {
			return false, "no condition"
		}
		state := fmt.Sprintf("%s: %s, with %v", found.Reason, found.Message, l.granted)
		m := missingAction.FindStringSubmatch(found.Message)
		if m == nil {
			return false, state
		}
		i := slices.IndexFunc(l.actions(), func(a string) bool { return strings.EqualFold(a, m[1]) })
		if i < 0 {
			l.t.Fatalf("the document does not allow it: %s", state)
		}
		if action := l.actions()[i]; !slices.Contains(l.granted, action) {
			l.granted = append(l.granted, action)
			l.attach()
			wakeNow(l.t, l.c, obj)
		}
		return false, state
	})
}

// permitted are the lives of the kinds. They need every action of the document but those left out, each with a reason; where
// none is left out, the life is too short to tell.
var permitted = map[string]struct {
	stages []string // specs, one after the other
	other  map[string]string
}{
	"S3Bucket": {
		stages: []string{
			`{"versioning":"Enabled","encryption":{"algorithm":"AES256"},"publicAccessBlock":{"blockPublicAcls":true},"tags":{"a":"b"},"forceDestroy":true,
			  "lifecycleRules":[{"id":"a","enabled":true,"expirationDays":5}],"corsRules":[{"allowedOrigins":["*"],"allowedMethods":["GET"]}]}`,
			`{"versioning":"Suspended","publicAccessBlock":{"blockPublicAcls":false},"tags":{"a":"c"},"lifecycleRules":null,"corsRules":null}`,
		},
		other: map[string]string{
			"s3:ListAllMyBuckets":           "sweeps list, and their failure says nothing of one bucket",
			"tag:GetResources":              "of references, which have a test of their own",
			"s3:PutEncryptionConfiguration": "AES256 is what every bucket has",
			"s3:ListBucketVersions":         "of what is in a bucket, and this one is empty",
			"s3:DeleteObject":               "of what is in a bucket, and this one is empty",
			"s3:DeleteObjectVersion":        "of what is in a bucket, and this one is empty",
		},
	},
	"SQSQueue": {
		stages: []string{`{"visibilityTimeout":77,"tags":{"a":"b"}}`, `{"visibilityTimeout":78,"tags":{"a":null,"c":"d"}}`},
		other: map[string]string{
			"sqs:ListQueues":   "sweeps list, and their failure says nothing of one queue",
			"tag:GetResources": "of references, which have a test of their own",
		},
	},
	"SNSTopic": {
		stages: []string{`{"displayName":"News","tags":{"a":"b"}}`, `{"displayName":"Olds","tags":{"a":null,"c":"d"}}`},
		other: map[string]string{
			"sns:ListTopics":                "sweeps list, and their failure says nothing of one topic",
			"sns:GetSubscriptionAttributes": "this topic has no queues",
			"sns:SetSubscriptionAttributes": "this topic has no queues",
			"sns:Subscribe":                 "this topic has no queues",
			"sns:Unsubscribe":               "this topic has no queues",
			"tag:GetResources":              "of references, which have a test of their own",
		},
	},
	"RDSInstance": {
		stages: []string{`{"backupRetentionPeriod":7,"tags":{"a":"b"},"skipFinalSnapshot":false}`, `{"backupRetentionPeriod":8,"tags":{"a":null,"c":"d"}}`},
	},
	"EC2Instance": {
		stages: []string{`{"tags":{"a":"b"}}`, `{"tags":{"a":null,"c":"d"},"monitoring":true}`},
	},
}

// Each permission of a document is needed: while it is missing, the condition names it. Granted one after the other they
// lead a resource through its life, from creation through a change to the end of it.
func TestAMissingPermissionIsNamed(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{})
		const home = "240000000091"
		p := account(t, c, home)
		l := newLadder(t, c, s.kind, stack.RoleARN(home))
		row := permitted[s.kind]
		o := in(s.object(team(t, c), "permitted"), p.Name, "")
		for i, stage := range row.stages {
			if i == 0 {
				create(t, c, o)
			}
			patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":`+stage+`}`))
			if err := c.Patch(t.Context(), o, patch); err != nil {
				t.Fatal(err)
			}
			of := life{s, c, t, o}
			l.climb(fmt.Sprintf("stage %d", i), o, of.isReady)
		}
		if err := erase(t, c, o); err != nil {
			t.Fatal(err)
		}
		l.climb("the end", o, func() bool {
			return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		})
		for _, action := range l.actions() {
			why, other := row.other[action]
			switch asked := slices.Contains(l.granted, action); {
			case asked && other:
				t.Errorf("%s is said not to be asked for, for %q, and is", action, why)
			case !asked && !other && row.other != nil:
				t.Errorf("%s was never asked for: take it away, or say why it is there", action)
			}
		}
	})
}
