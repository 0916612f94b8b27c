package chaos

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// kind describes what users do with objects of one kind. In its spec templates, $(a|b) draws one of the alternatives
// and $(1..9) a number; $NAME, $NS and $ZONE are the object's name, its namespace and the hosted zone.
type kind struct {
	name   string
	weight int
	slots  []string // names of objects, in each namespace
	admin  bool     // cluster-scoped, for admins only
	fixed  bool     // exists from the start and is not deleted
	id     string   // the status field with the ID in AWS; empty for kinds without a resource in AWS
	named  string   // the spec field with the name in AWS; empty if there is none
	spec   string
	// edits are valid. Admission must refuse those in refused, whatever the object's state. It accepts those in astray,
	// which cannot be fulfilled; mend reverts them.
	edits, refused, astray []string
	mend                   string
}

// image is an AMI that the simulator has.
const image = "ami-12c6146b"

const (
	common   = `"providerRef":{"name":"` + stack.Provider + `"},"deletionPolicy":"$(Delete|Delete|Delete|Retain|Orphan)"`
	policies = `{"deletionPolicy":"$(Delete|Delete|Retain|Orphan)"}`
	tags     = `{"tags":{"wave":"$(1..999)","$(a|b|c)":"$(1..9)"}}`
	noTags   = `{"tags":null}`
	// Every possible sender to the topics (allBuckets) and the queues (everybody) of a namespace.
	allBuckets = `{"allowFrom":[{"bucketRef":{"name":"b0"}},{"bucketRef":{"name":"b1"}},{"bucketRef":{"name":"b2"}}]}`
	everybody  = `{"allowFrom":[{"bucketRef":{"name":"b0"}},{"bucketRef":{"name":"b1"}},{"bucketRef":{"name":"b2"}},{"topicRef":{"name":"t0"}},{"topicRef":{"name":"t1"}}]}`
	badTags    = `{"tags":{"portico.dev/uid":"$(1..999)"}}`
)

var kinds = []kind{
	{
		name: "S3Bucket", weight: 6, slots: []string{"b0", "b1", "b2", offered, theirs}, id: "bucketName",
		named: "bucketName",
		spec:  `{` + common + `,"forceDestroy":true}`,
		edits: []string{
			tags, noTags, policies, `{"versioning":"$(Enabled|Suspended)"}`,
			`{"lifecycleRules":[{"id":"old","expirationDays":$(1..900)}]}`, `{"lifecycleRules":null}`,
			`{"corsRules":[{"allowedOrigins":["https://a.example"],"allowedMethods":["GET"],"maxAgeSeconds":$(1..900)}]}`, `{"corsRules":null}`,
			`{"publicAccessBlock":{"blockPublicAcls":$(true|false)}}`, `{"publicAccessBlock":null}`,
			`{"encryption":{"algorithm":"AES256"}}`,
			`{"requireTLS":$(true|false)}`, `{"requireTLS":null}`,
			`{"notifications":[{"queueRef":{"name":"$(q0|q1)"},"events":["s3:ObjectCreated:*"],"prefix":"in/$(1..9)/"}]}`,
			`{"notifications":[{"topicRef":{"name":"$(t0|t1)"},"events":["s3:ObjectRemoved:*"]}]}`,
			`{"notifications":null}`,
		},
		refused: []string{`{"bucketName":"another-$(1..999)"}`, `{"lifecycleRules":[{"id":"idle"}]}`, badTags, `{"versioning":"Off"}`, `{"providerRef":{"name":"another"}}`},
		astray:  []string{`{"encryption":{"algorithm":"aws:kms","kmsKeyID":"alias/nowhere"}}`},
		mend:    `{"encryption":null}`,
	},
	{
		name: "SQSQueue", weight: 7, slots: []string{"q0", "q1", "dead", offered, theirs}, id: "queueName",
		named: "queueName",
		spec:  `{` + common + `}`,
		edits: []string{
			tags, noTags, policies, `{"visibilityTimeout":$(1..900)}`, `{"visibilityTimeout":null}`,
			`{"delaySeconds":$(1..900)}`, `{"messageRetentionPeriod":$(60..9000)}`,
			`{"deadLetterQueue":{"targetRef":{"name":"dead"},"targetArn":null,"maxReceiveCount":$(1..9)}}`,
			`{"deadLetterQueue":null}`, `{"sqsManagedSseEnabled":$(true|false)}`,
			`{"allowFrom":[{"topicRef":{"name":"$(t0|t1)"}},{"bucketRef":{"name":"$(b0|b1|b2)"}}]}`, everybody,
			`{"allowFrom":null}`,
		},
		refused: []string{`{"delaySeconds":9000}`, `{"fifoQueue":true}`, badTags, `{"visibilityTimeout":-1}`},
		astray: []string{
			`{"kmsMasterKeyId":"alias/nowhere","sqsManagedSseEnabled":null}`,
			`{"deadLetterQueue":{"targetRef":{"name":"nowhere"},"targetArn":null,"maxReceiveCount":3}}`,
			`{"deadLetterQueue":{"targetRef":null,"targetArn":"arn:aws:sqs:` + stack.Region + `:` + stack.AccountID +
				`:nowhere","maxReceiveCount":3}}`,
		},
		mend: `{"kmsMasterKeyId":null,"deadLetterQueue":null}`,
	},
	{
		name: "SNSTopic", weight: 5, slots: []string{"t0", "t1", offered, theirs}, id: "topicName", named: "topicName",
		spec: `{` + common + `}`,
		edits: []string{
			tags, noTags, policies, `{"displayName":"news $(1..99)"}`, `{"displayName":null}`,
			`{"subscriptions":[{"queueRef":{"name":"$(q0|q1|dead)"},"rawMessageDelivery":$(true|false)}]}`,
			`{"subscriptions":[{"queueRef":{"name":"q0"}},{"queueRef":{"name":"q1"}}]}`, `{"subscriptions":null}`,
			`{"allowFrom":[{"bucketRef":{"name":"$(b0|b1|b2)"}}]}`, allBuckets, `{"allowFrom":null}`,
		},
		refused: []string{`{"fifoTopic":true}`, `{"subscriptions":[]}`, badTags},
		astray:  []string{`{"subscriptions":[{"queueRef":{"name":"nowhere"}}]}`},
		mend:    `{"subscriptions":null}`,
	},
	{
		name: "RDSInstance", weight: 3, slots: []string{"d0", "d1", offered, theirs}, id: "dbInstanceIdentifier",
		named: "dbInstanceIdentifier",
		spec: `{` + common +
			`,"engine":"postgres","dbInstanceClass":"db.t4g.micro","allocatedStorage":20,"masterUsername":"owner","skipFinalSnapshot":true}`,
		edits: []string{
			tags, noTags, policies, `{"backupRetentionPeriod":$(1..30)}`, `{"deletionProtection":$(true|false)}`,
			`{"maxAllocatedStorage":$(50..100)}`, `{"applyImmediately":$(true|false)}`,
		},
		refused: []string{`{"engine":"mysql"}`, `{"allocatedStorage":10}`, badTags, `{"masterUsername":"other"}`},
		astray:  []string{`{"dbParameterGroupName":"nowhere"}`, `{"vpcSecurityGroupIDs":["sg-0123456789abcdef0"]}`},
		mend:    `{"dbParameterGroupName":null,"vpcSecurityGroupIDs":null}`,
	},
	{
		name: "EC2Instance", weight: 4, slots: []string{"m0", "m1"}, id: "instanceID",
		spec: `{"providerRef":{"name":"` + stack.Provider +
			`"},"deletionPolicy":"$(Delete|Delete|Delete|Retain|Orphan|Stop)","instanceName":"$NAME","instanceType":"t3.micro","imageID":"` + image + `","allowStop":true}`,
		edits: []string{
			tags, noTags, `{"deletionPolicy":"$(Delete|Delete|Retain|Orphan|Stop)"}`,
			`{"instanceType":"t3.$(micro|small|medium)"}`, `{"state":"$(Running|Stopped)"}`,
			`{"instanceName":"machine-$(1..99)"}`,
			`{"metadataOptions":{"httpPutResponseHopLimit":$(1..9)}}`, `{"metadataOptions":null}`,
			`{"disableApiTermination":$(true|false)}`,
		},
		refused: []string{`{"imageID":"ami-0123456789abcdef0"}`, `{"tags":{"Name":"x"}}`, badTags, `{"instanceType":"huge"}`},
		astray:  []string{`{"securityGroupIDs":["sg-0123456789abcdef0"]}`, `{"iamInstanceProfile":"nowhere"}`},
		mend:    `{"securityGroupIDs":null,"iamInstanceProfile":null}`,
	},
	{
		name: "WebApp", weight: 4, slots: []string{"app0", "app1"},
		spec: `{"image":"registry.example.com/shop:1.$(0..9).0","replicas":$(1..2)}`,
		edits: []string{
			`{"image":"registry.example.com/shop:1.$(0..9).$(0..9)"}`, `{"replicas":$(1..3)}`,
			`{"env":[{"name":"LEVEL","value":"$(1..99)"}]}`,
			`{"bindings":[{"kind":"SQSQueue","name":"$(q0|q1)"}]}`,
			`{"bindings":[{"kind":"S3Bucket","name":"$(b0|b1)"},{"kind":"SNSTopic","name":"t0"}]}`, `{"bindings":null}`,
			`{"expose":{"hostname":"$(h0|h1)"}}`, `{"expose":null}`,
		},
		refused: []string{`{"image":"registry.example.com/shop:latest"}`, `{"replicas":-1}`, `{"port":70000}`},
		astray:  []string{`{"image":"registry.example.com/broken-crash:1.0.0"}`, `{"bindings":[{"kind":"S3Bucket","name":"nowhere"}]}`},
		mend:    `{"image":"registry.example.com/shop:2.0.0","bindings":null}`,
	},
	{
		name: "AccessBinding", weight: 3, slots: []string{"r0", "r1"},
		spec: `{"providerRef":{"name":"` + stack.Provider +
			`"},"serviceAccountName":"$NAME","resources":[{"kind":"SQSQueue","name":"$(q0|q1)","access":"$(Read|Write|ReadWrite)"}]}`,
		edits: []string{
			`{"resources":[{"kind":"SQSQueue","name":"$(q0|q1)","access":"$(Read|Write)"},{"kind":"SNSTopic","name":"t0"}]}`, `{"resources":[{"kind":"S3Bucket","name":"$(b0|b1)"}]}`, `{"resources":null}`,
		},
		refused: []string{
			`{"serviceAccountName":"another"}`, `{"resources":[{"kind":"SNSTopic","name":"t0","access":"Read"}]}`,
			`{"resources":[{"kind":"SQSQueue","name":"q0"},{"kind":"SQSQueue","name":"q0"}]}`,
		},
		astray: []string{`{"resources":[{"kind":"SQSQueue","name":"nowhere"}]}`},
		mend:   `{"resources":null}`,
	},
	{
		name: "GatewayHostnameRequest", weight: 3, slots: []string{"h0", "h1"},
		spec: `{"providerRef":{"name":"` + stack.Provider + `"},"hostname":"$NAME.$NS.` + stack.Domain +
			`","zoneId":"$ZONE"}`,
		refused: []string{`{"hostname":"another.$NS.` + stack.Domain + `"}`},
	},
	{
		name: "Team", weight: 1, slots: []string{growth}, admin: true, fixed: true,
		edits: []string{
			`{"title":"Growth $(1..99)"}`, `{"quotas":{"pods":$(50..99)}}`, `{"quotas":null}`,
			`{"guardrails":{"enforcedTags":{"cost":"$(1..99)"}}}`, `{"guardrails":null}`,
			`{"members":[{"group":"oidc:team-growth","role":"Developer"},{"group":"oidc:growth-$(1..9)","role":"Viewer"}]}`,
		},
		refused: []string{`{"members":[{"role":"Developer"}]}`, `{"isolation":{"allowTo":["everywhere"]}}`},
		astray:  []string{`{"suspended":true}`, `{"providers":[{"name":"nowhere"}]}`},
		mend:    `{"suspended":null,"providers":[{"name":"` + stack.Provider + `"}]}`,
	},
	{
		name: "AWSProvider", weight: 1, slots: []string{stack.Provider}, admin: true, fixed: true,
		edits:   []string{`{"defaultTags":{"tide":"$(1..99)"}}`, `{"enforcedTags":{"owner":"platform-$(1..9)"}}`, `{"enforcedTags":null}`, `{"forbiddenTagKeys":["secret-*"]}`},
		refused: []string{`{"allowedRegions":["us-east-1"]}`, `{"externalID":"x"}`},
		astray: []string{
			`{"allowedNamespaces":{"matchLabels":{"portico.dev/aws":"nobody"}}}`,
			`{"assumeRoleARN":"arn:aws:iam::999999999999:role/theirs"}`,
			`{"secretAccessKeyRef":{"name":"` + stack.Provider + `","key":"missing"}}`, `{"forbiddenTagKeys":["wave"]}`,
		},
		mend: `{"allowedNamespaces":{"matchLabels":{"portico.dev/aws":"allowed"}},"forbiddenTagKeys":null,"secretAccessKeyRef":{"name":"` + stack.Provider + `","key":"secretAccessKey"},` +
			`"assumeRoleARN":"` + "arn:aws:iam::" + stack.AccountID + `:role/portico-resources"}`,
	},
}

// growth is the name of the Team object and its namespace.
const growth = "growth"

func (k kind) list() *unstructured.UnstructuredList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(k.name))
	return l
}

// object returns an object of the kind with only a name and namespace.
func (k kind) object(namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(k.name))
	o.SetName(name)
	o.SetNamespace(namespace)
	return o
}

var choice = regexp.MustCompile(`\$\(([^)]*)\)`)

// fill fills in a spec template with random choices.
func fill(lot *rand.Rand, template, namespace, name, zone string) string {
	drawn := choice.ReplaceAllStringFunc(template, func(m string) string {
		inner := m[2 : len(m)-1]
		low, high, isRange := strings.Cut(inner, "..")
		if !isRange {
			return pick(lot, strings.Split(inner, "|"))
		}
		from, _ := strconv.Atoi(low) // a number in the table above; a test fills every template
		to, _ := strconv.Atoi(high)
		return strconv.Itoa(from + lot.IntN(to-from+1))
	})
	return strings.NewReplacer("$NAME", name, "$NS", namespace, "$ZONE", zone).Replace(drawn)
}

// specOf parses a filled template.
func specOf(text string) (spec map[string]any, err error) {
	err = json.Unmarshal([]byte(text), &spec)
	return spec, err
}
