package cloud

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// endingSTS is an STS whose sessions claim to last an hour, and end as soon as end is called.
type endingSTS struct {
	mu      sync.Mutex
	made    int
	ended   map[string]bool
	refused int
	lasting time.Duration
}

// ServeHTTP implements http.Handler.
func (e *endingSTS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = r.ParseForm()
	for key := range e.ended {
		if strings.Contains(r.Header.Get("Authorization"), "Credential="+key+"/") {
			e.refused++
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<ErrorResponse><Error><Code>ExpiredToken</Code><Message>The security token included in "+
				"the request is expired</Message></Error></ErrorResponse>")
			return
		}
	}
	if r.Form.Get("Action") == "AssumeRole" {
		e.made++
		fmt.Fprintf(
			w,
			"<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>SESSION%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"+
				"<SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
			e.made, time.Now().Add(e.lasting).UTC().Format(time.RFC3339))
		return
	}
	fmt.Fprint(
		w,
		"<GetCallerIdentityResponse><GetCallerIdentityResult><Account>123456789012</Account><Arn>arn:aws:sts::123456789012:assumed-role/a/b</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>")
}

func (e *endingSTS) end(keys ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, key := range keys {
		e.ended[key] = true
	}
}

// baseKeys is a SecretReader with permanent keys.
type baseKeys struct{}

// Version implements SecretReader.
func (baseKeys) Version(context.Context, string) (string, error) { return "1", nil }

// Value implements SecretReader.
func (baseKeys) Value(_ context.Context, ref v1alpha1.SecretKeyRef) (string, error) {
	return "AKIDBASE" + ref.Key, nil
}

// chained returns a client that acts through a chain of two roles.
func chained(t *testing.T, e *endingSTS) *sts.Client {
	t.Helper()
	e.ended = map[string]bool{}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	s := NewSessions(baseKeys{}, "c", "", nil)
	spec := &v1alpha1.AWSProviderSpec{Region: "eu-west-1", AssumeRoleARN: "arn:aws:iam::123456789012:role/b"}
	spec.AccessKeyIDRef, spec.SecretAccessKeyRef = &v1alpha1.SecretKeyRef{Name: "aws", Key: "id"},
		&v1alpha1.SecretKeyRef{Name: "aws", Key: "key"}
	spec.AssumeRoleChain = []v1alpha1.AssumedRole{{RoleARN: "arn:aws:iam::123456789012:role/a"}}
	cfg, err := s.base(t.Context(), &v1alpha1.AWSProvider{Spec: *spec})
	if err != nil {
		t.Fatal(err)
	}
	cfg.BaseEndpoint = aws.String(server.URL)
	return sts.NewFromConfig(s.assume(cfg, spec, "growth"))
}

func identify(t *testing.T, c *sts.Client) {
	t.Helper()
	if _, err := c.GetCallerIdentity(context.Background(), &sts.GetCallerIdentityInput{}); err != nil {
		t.Fatal(err)
	}
}

// AWS may end a session before its expiry time: no call fails for it, whatever role of the chain it was.
func TestASessionThatAWSEndsIsRenewed(t *testing.T) {
	e := &endingSTS{lasting: time.Hour}
	c := chained(t, e)
	identify(t, c)
	identify(t, c)
	if e.made != 2 {
		t.Fatalf("%d sessions for two roles", e.made)
	}
	e.end("SESSION2")
	identify(t, c)
	e.end("SESSION1", "SESSION3")
	identify(t, c)
	if e.made != 5 || e.refused != 3 {
		t.Errorf("%d sessions, %d calls refused; want 5 and 3", e.made, e.refused)
	}
}

// A session is renewed between one and five minutes before its end.
func TestASessionIsRenewedAheadOfItsEnd(t *testing.T) {
	for lasting, want := range map[time.Duration]int{50 * time.Second: 4, 6 * time.Minute: 2} {
		e := &endingSTS{lasting: lasting}
		c := chained(t, e)
		identify(t, c)
		identify(t, c)
		if e.made != want {
			t.Errorf("sessions of %s: %d for two calls, want %d", lasting, e.made, want)
		}
	}
}

// Keys from a Secret cannot be renewed, and the error says so.
func TestAnExpiredTokenOfASecretIsRejected(t *testing.T) {
	err := Explain(failed("ExpiredToken", "The security token included in the request is expired"))
	if !strings.Contains(err.Error(), "ask a platform admin to renew them") {
		t.Error(err)
	}
}
