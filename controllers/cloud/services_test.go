package cloud

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// stub is a server that is not AWS: it lists nothing, has no STS, and records its requests.
type stub struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	says  string // the error code it returns; empty: none
	// sts is the body of its response to GetCallerIdentity, and status its HTTP status; 0: 400.
	sts    string
	status int
}

// errorBody returns an error in the format of STS.
func errorBody(code, message string) string {
	return `<ErrorResponse><Error><Code>` + code + `</Code><Message>` + message + `</Message></Error></ErrorResponse>`
}

func newStub(t *testing.T) *stub {
	t.Helper()
	s := &stub{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.Header.Get("X-Amz-Target")
		if body == "" {
			if err := r.ParseForm(); err != nil {
				t.Error(err)
			}
			body = r.PostForm.Get("Action")
		}
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+body)
		says := s.says
		s.mu.Unlock()
		switch {
		case says != "":
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`<Error><Code>` + says + `</Code><Message>no</Message></Error>`))
		case body == "GetCallerIdentity":
			w.WriteHeader(cmp.Or(s.status, http.StatusBadRequest))
			_, _ = w.Write([]byte(s.sts))
		case strings.HasPrefix(body, "AmazonSQS"):
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			_, _ = w.Write([]byte(`{}`))
		default:
			_, _ = w.Write([]byte(`<ListAllMyBucketsResult></ListAllMyBucketsResult>`))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// heard returns the requests since the last call.
func (s *stub) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.asked
	s.asked = nil
	return all
}

// withoutSTS returns sessions and a provider with buckets at one server and queues at another.
func withoutSTS(t *testing.T) (sessions *Sessions, p *v1alpha1.AWSProvider, buckets, queues *stub) {
	t.Helper()
	sessions, p = sessionsOver(t, &stsServer{})
	buckets, queues = newStub(t), newStub(t)
	p.Spec.Endpoint, p.Spec.AccountID = "", "111122223333"
	p.Spec.Endpoints = &v1alpha1.ServiceEndpoints{S3: buckets.URL, SQS: queues.URL}
	sessions.Endpoints = Endpoints{buckets.URL, queues.URL}
	sessions.client = sessions.client.WithTransportOptions(func(tr *http.Transport) {
		tr.DialTLSContext = func(context.Context, string, string) (net.Conn, error) { // every https address is AWS
			t.Error("AWS was called")
			return nil, net.ErrClosed
		}
	})
	return sessions, p, buckets, queues
}

// Without STS the account is taken from the spec, and the credentials are tried at the services.
func TestWithoutSTSTheServicesTellWhetherTheCredentialsWork(t *testing.T) {
	sessions, p, buckets, queues := withoutSTS(t)
	session, err := sessions.Verify(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !session.Stated || session.CallerARN != "" {
		t.Errorf("Stated = %v, CallerARN = %q; want true, none", session.Stated, session.CallerARN)
	}
	if got, want := session.ARN("sqs", "q"), "arn:aws:sqs:eu-west-1:111122223333:q"; got != want {
		t.Errorf("ARN() = %s, want %s", got, want)
	}
	if session.AccountID != "111122223333" {
		t.Errorf("AccountID = %s, want 111122223333", session.AccountID)
	}
	if got := buckets.heard(); !slices.Equal(got, []string{"GET "}) {
		t.Errorf("buckets were asked %v", got)
	}
	if got := queues.heard(); !slices.Equal(got, []string{"POST AmazonSQS.ListQueues"}) {
		t.Errorf("queues were asked %v", got)
	}
	buckets.says = "InvalidAccessKeyId"
	_, err = sessions.Verify(t.Context(), p)
	if wait, _ := engine.AsWait(err); reason(wait) != "CredentialsRejected" {
		t.Errorf("keys that the server does not know: %v", err)
	}
	buckets.says = "AccessDenied"
	_, err = sessions.Verify(t.Context(), p)
	if wait, _ := engine.AsWait(err); reason(wait) != "AccessDenied" {
		t.Errorf("keys that may not list: %v", err)
	}
}

func TestWithoutSTSTheAccountMustBeStated(t *testing.T) {
	sessions, p, buckets, _ := withoutSTS(t)
	p.Spec.AccountID = ""
	_, err := sessions.Verify(t.Context(), p)
	wait, _ := engine.AsWait(err)
	if reason(wait) != "AccountNotStated" ||
		!strings.Contains(err.Error(), "endpoints name S3, SQS only. Set accountID") {
		t.Errorf("got %v", err)
	}
	if got := buckets.heard(); len(got) != 0 {
		t.Errorf("the server was asked %v", got)
	}
}

// A server without STS, although one is configured, is distinguished from a rejection by AWS.
func TestAnEndpointWithoutSTSIsNamed(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.AWSProviderSpec, string){
		"endpoint":      func(s *v1alpha1.AWSProviderSpec, url string) { s.Endpoint, s.Endpoints = url, nil },
		"endpoints.sts": func(s *v1alpha1.AWSProviderSpec, url string) { s.Endpoints.STS = url },
	} {
		for body, row := range map[string]struct{ reason, says string }{
			"the words of another maker":                               {"AccountNotStated", "HTTP status 400"},
			errorBody("NotImplemented", "no"):                          {"AccountNotStated", "NotImplemented"},
			errorBody("InvalidParameterValue", "Unsupported action x"): {"AccountNotStated", "Unsupported action x"},
			errorBody("InvalidClientTokenId", "no"):                    {"CredentialsRejected", "InvalidClientTokenId"},
		} {
			sessions, p, buckets, _ := withoutSTS(t)
			change(&p.Spec, buckets.URL)
			buckets.sts = body
			_, err := sessions.Verify(t.Context(), p)
			wait, _ := engine.AsWait(err)
			advised := err != nil && strings.Contains(err.Error(), buckets.URL) &&
				strings.Contains(err.Error(), "set accountID")
			if reason(wait) != row.reason || !strings.Contains(err.Error(), row.says) ||
				advised != (row.reason == "AccountNotStated") {
				t.Errorf("%s: %s: %v", name, body, err)
			}
		}
	}
}

// A proxy in front of an unavailable server responds as no AWS service does. That is transient, and does not drop a
// working session.
func TestAProxysAnswerTakesNothingFromASession(t *testing.T) {
	for _, status := range []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusNotFound} {
		sessions, p, buckets, _ := withoutSTS(t)
		p.Spec.Endpoint, p.Spec.Endpoints = buckets.URL, nil
		buckets.status, buckets.sts = status, "<html>a proxy</html>"
		_, err := sessions.Verify(t.Context(), p)
		if wait, ok := engine.AsWait(err); err == nil || (ok && wait.Stalled) {
			t.Errorf("%d: %v", status, err)
		}
		if advised := strings.Contains(err.Error(), "set accountID"); advised != (status < 500) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// A service without an endpoint is not called, neither at AWS nor at another service's endpoint.
func TestAServiceThatIsNotNamedIsNotCalled(t *testing.T) {
	sessions, p, buckets, queues := withoutSTS(t)
	session, err := sessions.For(t.Context(), p, "")
	if err != nil {
		t.Fatal(err)
	}
	buckets.heard()
	queues.heard()
	session = session.In("eu-west-1", "EC2Instance", "")
	_, err = ec2.NewFromConfig(session.ConfigFor(ec2.ServiceID)).DescribeInstances(
		t.Context(), &ec2.DescribeInstancesInput{})
	err = Explain(err)
	wait, _ := engine.AsWait(err)
	if reason(wait) != "ServiceNotOffered" ||
		!strings.HasPrefix(err.Error(), "the provider has no EC2: its endpoints name all of its services, S3, SQS.") {
		t.Errorf("got %v", err)
	}
	if all := append(buckets.heard(), queues.heard()...); len(all) != 0 {
		t.Errorf("calls %v", all)
	}
	if session.Services.Offers("Resource Groups Tagging API") || !session.Lacks("Resource Groups Tagging API", err) {
		t.Error("it offers tags")
	}
}

// A service's own endpoint wins over endpoint, and over the operator's environment.
func TestAServicesOwnEndpointWins(t *testing.T) {
	for _, env := range []string{"", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SQS"} {
		sessions, p, buckets, queues := withoutSTS(t)
		all, stray := &stsServer{}, newStub(t)
		_, other := sessionsOver(t, all)
		p.Spec.Endpoint = other.Spec.Endpoint
		sessions.Endpoints = append(sessions.Endpoints, p.Spec.Endpoint)
		if env != "" {
			t.Setenv(env, stray.URL)
		}
		session, err := sessions.For(t.Context(), p, "")
		if err != nil || session.Stated || all.asked.Load() != 1 {
			t.Fatalf("%s: %+v, %v, %d calls", env, session, err, all.asked.Load())
		}
		session = session.In("eu-west-1", "SQSQueue", "")
		if _, err := sqs.NewFromConfig(session.ConfigFor(sqs.ServiceID)).ListQueues(
			t.Context(), &sqs.ListQueuesInput{}); err != nil {
			t.Error(err)
		}
		if _, err := s3.NewFromConfig(session.ConfigFor(s3.ServiceID)).ListBuckets(
			t.Context(), &s3.ListBucketsInput{}); err != nil {
			t.Error(err)
		}
		if b, q, s := buckets.heard(), queues.heard(), stray.heard(); len(b) != 1 || len(q) != 1 || len(s) != 0 {
			t.Errorf("%s: buckets %v, queues %v, elsewhere %v", env, b, q, s)
		}
	}
}

// Each endpoint must be allowed before anything is sent to it, and the message names its field.
func TestEveryEndpointMustBeAllowed(t *testing.T) {
	for field, set := range map[string]func(*v1alpha1.AWSProviderSpec){
		"endpoint":      func(s *v1alpha1.AWSProviderSpec) { s.Endpoint = "https://thief.example" },
		"endpoints.s3":  func(s *v1alpha1.AWSProviderSpec) { s.Endpoints.S3 = "https://thief.example" },
		"endpoints.sqs": func(s *v1alpha1.AWSProviderSpec) { s.Endpoints.SQS = "https://thief.example" },
		"endpoints.sns": func(s *v1alpha1.AWSProviderSpec) { s.Endpoints.SNS = "https://thief.example" },
		"endpoints.sts": func(s *v1alpha1.AWSProviderSpec) { s.Endpoints.STS = "https://thief.example" },
	} {
		sessions, p, buckets, queues := withoutSTS(t)
		read := false
		sessions.Secrets = watchedSecrets{fixedSecrets{"1"}, &read}
		set(&p.Spec)
		_, err := sessions.Verify(t.Context(), p)
		wait, _ := engine.AsWait(err)
		if reason(wait) != "EndpointNotAllowed" || !strings.Contains(err.Error(), "remove "+field+",") {
			t.Errorf("%s: %v", field, err)
		}
		if asked := append(buckets.heard(), queues.heard()...); len(asked) != 0 || read {
			t.Errorf("%s: calls %v, the Secret was read: %v", field, asked, read)
		}
	}
}
