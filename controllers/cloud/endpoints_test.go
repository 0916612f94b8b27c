package cloud

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestAnOriginIsSchemeHostAndPort(t *testing.T) {
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:4566":           "http://127.0.0.1:4566",
		"https://S3.Example.com/path/":    "https://s3.example.com",
		"https://s3.example.com:443":      "https://s3.example.com",
		"http://s3.example.com:80/":       "http://s3.example.com",
		"https://s3.example.com:80":       "https://s3.example.com:80",
		"http://[::1]:9000":               "http://[::1]:9000",
		"https://aws@evil.example":        "",
		"https://s3.example.com?x=y":      "",
		"https://s3.example.com#x":        "",
		"ftp://s3.example.com":            "",
		"s3.example.com":                  "",
		"https://":                        "",
		"https://s3.example.com.evil.org": "https://s3.example.com.evil.org",
		"":                                "",
	} {
		got, err := Origin(endpoint)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v; want %q", endpoint, got, err, want)
		}
	}
}

// watchedSecrets records whether a value was read.
type watchedSecrets struct {
	fixedSecrets
	read *bool
}

func (w watchedSecrets) Value(context.Context, v1alpha1.SecretKeyRef) (string, error) {
	*w.read = true
	return "key", nil
}

// Authors of an AWSProvider must not be able to make the operator send a Secret of its namespace to a server of their
// choice.
func TestNothingIsSentToAnEndpointThatIsNotAllowed(t *testing.T) {
	s, read := &stsServer{}, false
	sessions, p := sessionsOver(t, s)
	sessions.Secrets = watchedSecrets{fixedSecrets{"1"}, &read}
	for name, row := range map[string]struct {
		allowed Endpoints
		used    bool
	}{
		"none is allowed":         {nil, false},
		"another one is allowed":  {Endpoints{"https://s3.example.com"}, false},
		"another scheme of it is": {Endpoints{strings.Replace(p.Spec.Endpoint, "http:", "https:", 1)}, false},
		"it is allowed":           {Endpoints{"https://s3.example.com", p.Spec.Endpoint}, true},
	} {
		sessions.Endpoints = row.allowed
		read = false
		s.asked.Store(0)
		_, err := sessions.Verify(t.Context(), p)
		wait, _ := engine.AsWait(err)
		if refused := reason(wait) == "EndpointNotAllowed" &&
			strings.Contains(err.Error(), "--allowed-endpoints"); refused == row.used {
			t.Errorf("%s: %v", name, err)
		}
		if (s.asked.Load() > 0) != row.used || read != row.used {
			t.Errorf("%s: %d calls, the Secret was read: %v", name, s.asked.Load(), read)
		}
	}
}

// posted is a server that records requests, and responds as STS does.
type posted struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *posted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.text.WriteString(r.Host + " " + string(body) + "\n")
	p.mu.Unlock()
	if strings.Contains(string(body), "AssumeRoleWithWebIdentity") {
		_,
			_ = w.Write(
			[]byte(
				`<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>a</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`))
		return
	}
	_,
		_ = w.Write(
		[]byte(
			`<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::111122223333:user/x</Arn><Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`))
}

func (p *posted) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// The operator's token is a credential for its AWS roles: no endpoint gets it, allowed or not.
func TestTheWebIdentityTokenGoesToAWSAlone(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("the-operators-token"), 0o600); err != nil {
		t.Fatal(err)
	}
	const role = "arn:aws:iam::111122223333:role/portico"
	for name, row := range map[string]struct {
		spec v1alpha1.AWSProviderSpec
		env  map[string]string
	}{
		"roleARN": {spec: v1alpha1.AWSProviderSpec{RoleARN: role}},
		"roleARN, and an STS beside the endpoint": {spec: v1alpha1.AWSProviderSpec{RoleARN: role, Endpoints: &v1alpha1.ServiceEndpoints{}}},
		"roleARN, and nothing but an STS":         {spec: v1alpha1.AWSProviderSpec{RoleARN: role, Endpoints: &v1alpha1.ServiceEndpoints{S3: "-"}}},
		"the default chain, as IRSA sets it up":   {env: map[string]string{"AWS_ROLE_ARN": role, "AWS_WEB_IDENTITY_TOKEN_FILE": token}},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range row.env {
				t.Setenv(key, value)
			}
			ours, theirs := &posted{}, &posted{}
			aws, other := httptest.NewServer(ours), httptest.NewServer(theirs)
			defer aws.Close()
			defer other.Close()
			sessions := NewSessions(fixedSecrets{"1"}, "cluster", token,
				&Limiters{Rates: DefaultRates(), Now: time.Now})
			sessions.Endpoints = Endpoints{other.URL}
			sessions.client = sessions.client.WithTransportOptions(func(tr *http.Transport) {
				tr.DialTLSContext = func(ctx context.Context, network, _ string) (net.Conn, error) { // all https is AWS
					return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(aws.URL, "http://"))
				}
			})
			p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "aws"}, Spec: row.spec}
			p.Spec.Region, p.Spec.Endpoint = "eu-west-1", other.URL
			if own := p.Spec.Endpoints; own != nil {
				if own.STS = other.URL; own.S3 != "" {
					p.Spec.Endpoint, own.S3 = "", ""
				}
			}
			if _, err := sessions.Verify(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if sent := theirs.String(); strings.Contains(sent, "the-operators-token") ||
				!strings.Contains(sent, "GetCallerIdentity") {
				t.Errorf("the endpoint got %s", sent)
			}
			if sent := ours.String(); !strings.Contains(sent, "sts.eu-west-1.amazonaws.com") ||
				!strings.Contains(sent, "the-operators-token") {
				t.Errorf("AWS got %s", sent)
			}
		})
	}
}

// Of the operator's namespace only labelled Secrets are read for providers.
func TestOnlyLabelledSecretsAreRead(t *testing.T) {
	secret := func(name string, labels map[string]string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "portico-system", Name: name, Labels: labels}, Data: map[string][]byte{"k": []byte("value")},
		}
	}
	c := fake.NewClientBuilder().WithObjects(
		secret("keys", map[string]string{v1alpha1.LabelSecretType: v1alpha1.SecretTypeAWSCredentials}),
		secret("sessions", nil), secret("other", map[string]string{v1alpha1.LabelSecretType: "portal"}),
	).Build()
	secrets := NamespaceSecrets{Namespace: "portico-system", Reader: c, APIReader: c}
	for name, allowed := range map[string]bool{"keys": true, "sessions": false, "other": false} {
		value, err := secrets.Value(t.Context(), v1alpha1.SecretKeyRef{Name: name, Key: "k"})
		_, versionErr := secrets.Version(t.Context(), name)
		for _, err := range []error{err, versionErr} {
			wait, _ := engine.AsWait(err)
			if refused := reason(wait) == "SecretNotLabelled" && strings.Contains(err.Error(), v1alpha1.LabelSecretType+
				"="); refused == allowed || (err == nil) != allowed {
				t.Errorf("%s: %v", name, err)
			}
		}
		if (value == "value") != allowed {
			t.Errorf("%s: read %q", name, value)
		}
	}
}
