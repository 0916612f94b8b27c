package cloud

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/controllers/engine"
)

// world fakes STS and SQS: STS accepts the credentials in some regions, SQS nowhere.
type world struct {
	refused []string // regions in which STS rejects the credentials
	silent  string   // a region whose STS does not respond
	code    string   // SQS's error code
	asked   atomic.Int64
}

func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	region := strings.Split(r.Header.Get("Authorization"), "/")[2]
	if r.Header.Get("X-Amz-Target") != "" {
		out.WriteHeader(http.StatusBadRequest)
		_, _ = out.Write([]byte(`{"__type":"com.amazon.coral.service#` + w.code + `","message":"no"}`))
		return
	}
	w.asked.Add(1)
	status, body := http.StatusOK,
		`<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/x</Arn><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`
	for _, no := range w.refused {
		if no == region {
			status, body = http.StatusForbidden,
				`<ErrorResponse><Error><Code>InvalidClientTokenId</Code><Message>no</Message></Error></ErrorResponse>`
		}
	}
	if region == w.silent {
		status, body = http.StatusBadGateway, ""
	}
	out.WriteHeader(status)
	_, _ = out.Write([]byte(body))
}

// A rejection in an opt-in region is reported as a disabled region if STS rejects the credentials there, and accepts
// them in the provider's region.
func TestARegionThatIsOffIsToldFromABadKey(t *testing.T) {
	const off = "The region eu-south-1 is not enabled in account 111122223333: ask a platform admin to enable it in " +
		"AWS, or choose another region, while nothing is created"
	for name, row := range map[string]struct {
		home, region string
		world        *world
		reason, says string
		asked        int64
	}{
		"off":                          {"eu-west-1", "eu-south-1", &world{refused: []string{"eu-south-1"}}, "RegionNotEnabled", off, 2},
		"off, a subscription is named": {"eu-west-1", "eu-south-1", &world{refused: []string{"eu-south-1"}, code: "OptInRequired"}, "RegionNotEnabled", off, 2},
		"on, and not subscribed":       {"eu-west-1", "eu-south-1", &world{code: "OptInRequired"}, "AccountNotReady", "subscribed", 1},
		"on, and a bad key":            {"eu-west-1", "eu-south-1", &world{}, "CredentialsRejected", "renew them, or to enable the region", 1},
		"a bad key everywhere":         {"eu-west-1", "eu-south-1", &world{refused: []string{"eu-south-1", "eu-west-1"}}, "CredentialsRejected", "renew them, or to enable the region", 2},
		"nobody answers for certain":   {"eu-west-1", "eu-south-1", &world{refused: []string{"eu-south-1"}, silent: "eu-west-1"}, "CredentialsRejected", "renew them, or to enable the region", 2},
		"the provider's own":           {"eu-south-1", "eu-south-1", &world{refused: []string{"eu-south-1"}}, "CredentialsRejected", "renew them, or to enable the region", 0},
		"one that every account has":   {"eu-west-1", "us-east-1", &world{refused: []string{"us-east-1"}}, "CredentialsRejected", "renew them; Portico", 0},
		"not of AWS":                   {"eu-west-1", "garage", &world{refused: []string{"garage"}}, "CredentialsRejected", "renew them; Portico", 0},
		"denied":                       {"eu-west-1", "eu-south-1", &world{code: "AccessDeniedException"}, "AccessDenied", "permission", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := row.world
			if w.code == "" {
				w.code = "UnrecognizedClientException"
			}
			server := httptest.NewServer(w)
			defer server.Close()
			home := aws.Config{
				Region: row.home, BaseEndpoint: &server.URL, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
				Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""), APIOptions: apiOptions(),
			}
			s := Session{Config: home, AccountID: "111122223333", limiters: &Limiters{
				Rates: DefaultRates(), Now: time.Now,
			}}
			_, err := sqs.NewFromConfig(s.In(row.region, "SQSQueue", "n").Config).ListQueues(
				t.Context(), &sqs.ListQueuesInput{})
			err = Explain(err)
			if wait, ok := engine.AsWait(err); !ok || wait.Reason != row.reason ||
				!strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v, want %s: %s", err, row.reason, row.says)
			}
			if w.asked.Load() != row.asked {
				t.Errorf("STS was asked %d times, want %d", w.asked.Load(), row.asked)
			}
		})
	}
}

func TestRegionsThatAccountsEnable(t *testing.T) {
	for region, want := range map[string]bool{
		"eu-south-1": true, "ap-east-1": true, "mx-central-1": true, "il-central-1": true, "ap-southeast-7": true,
		"a": false, "": false,
		"eu-west-1": false, "us-east-1": false, "ap-northeast-3": false, "cn-north-1": false, "us-gov-west-1": false,
		"us-iso-east-1": false, "eusc-de-east-1": false, "garage": false,
	} {
		if got := isOptIn(region); got != want {
			t.Errorf("%s: %t", region, got)
		}
	}
}

// ElasticMQ puts its own code into the header that SQS keeps for older clients; the SDK's error type is still right.
func TestTheTypeOfAnErrorCountsToo(t *testing.T) {
	gone := &smithy.OperationError{ServiceID: "SQS", OperationName: "GetQueueUrl", Err: &sqstypes.QueueDoesNotExist{
		ErrorCodeOverride: aws.String("org.elasticmq.QueueGone;Sender"),
	}}
	if got := Code(gone); got != "org.elasticmq.QueueGone" || !IsNotFound(gone) {
		t.Errorf("Code() = %q, IsNotFound() = %v; want org.elasticmq.QueueGone, true", got, IsNotFound(gone))
	}
	if !HasCode(gone, "QueueDoesNotExist") || HasCode(gone, "QueueNameExists") {
		t.Errorf("%v: want the code QueueDoesNotExist, and not QueueNameExists", gone)
	}
	other := &smithy.GenericAPIError{Code: "GenericAPIError"}
	for _, err := range []error{other, nil} {
		if got := typeName(err); got != "" {
			t.Errorf("typeName(%v) = %q, want none", err, got)
		}
	}
	if IsNotFound(other) {
		t.Errorf("IsNotFound(%v) = true, want false", other)
	}
}
