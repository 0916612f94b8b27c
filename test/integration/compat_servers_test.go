//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// awsLike is a server with the protocol of an AWS service, and without STS.
type awsLike struct {
	name    string // as in docs/endpoints.md
	env     string // the variable with the path of the program, or of its folder
	service string // s3 or sqs
	// start starts it at a loopback address, with these keys.
	start func(t *testing.T, program, address, id, secret string) process.Spec
	// forgets are keys whose versions it stores but does not list.
	forgets []string
}

// servers are the servers that people run instead of AWS.
var servers = []awsLike{
	{"versitygw", "VERSITYGW", "s3", func(t *testing.T, program, address, id, secret string) process.Spec {
		t.Helper()
		return process.Spec{Path: program, Args: []string{
			"--port", address, "--access", id, "--secret", secret, "--region", stack.Region, "--quiet",
			"posix", "--sidecar", t.TempDir(), "--versioning-dir", t.TempDir(), t.TempDir(),
		}}
	}, []string{unspelt, climbing}},
	{"MinIO", "MINIO", "s3", func(t *testing.T, program, address, id, secret string) process.Spec {
		t.Helper()
		return process.Spec{
			Path: program, Args: []string{
				"server", "--address", address, "--console-address", freeAddress(t),
				t.TempDir(),
			},
			Env: []string{"MINIO_ROOT_USER=" + id, "MINIO_ROOT_PASSWORD=" + secret, "MINIO_REGION=" + stack.Region, "MINIO_BROWSER=off", "HOME=" + t.TempDir()},
		}
	}, nil},
	{"ElasticMQ", "ELASTICMQ", "sqs", func(t *testing.T, program, address, _, _ string) process.Spec {
		t.Helper()
		host, port, _ := strings.Cut(address, ":")
		settings := filepath.Join(t.TempDir(), "elasticmq.conf")
		err := os.WriteFile(settings, fmt.Appendf(nil, `node-address { host = %[1]s, port = %[2]s }
rest-sqs { enabled = true, bind-hostname = "%[1]s", bind-port = %[2]s, sqs-limits = strict }
rest-stats.enabled = false
aws { region = %[3]s, accountId = "%[4]s" }
`, host, port, stack.Region, statedAccount), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return process.Spec{Path: "java", Args: []string{
			"-Xmx256m", "-Dconfig.file=" + settings, "-cp",
			filepath.Join(program, "*"), "org.elasticmq.server.Main",
		}}
	}, nil},
}

// statedAccount is the account in the providers' spec: these servers report none.
const statedAccount = "000000000000"

// trial is a running server, and a provider for it.
type trial struct {
	*testing.T
	client.Client
	awsLike
	front    *front
	config   aws.Config // bypasses the front
	provider *v1alpha1.AWSProvider
	ns       string
}

// run starts the server, with an operator that calls it through a front.
func (s awsLike) run(t *testing.T) *trial {
	t.Helper()
	program := os.Getenv(s.env)
	if program == "" {
		t.Skipf("%s does not name %s: make test-compat builds it, and sets this", s.env, s.name)
	}
	address, id, secret := freeAddress(t), "portico-test", "portico-test-secret"
	spec := s.start(t, program, address, id, secret)
	spec.Name = strings.ToLower(s.name)
	spec.Ready = func(ctx context.Context) error { return answers(ctx, "http://"+address) }
	p, err := world.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Stop() })
	st := &trial{T: t, Client: admin(t), awsLike: s, front: newFront(t, "http://"+address)}
	st.config = aws.Config{
		Region: stack.Region, BaseEndpoint: aws.String("http://" + address),
		Credentials: credentials.NewStaticCredentialsProvider(id, secret, ""),
		HTTPClient:  &http.Client{},
	}
	startOperator(t, operatorOptions{endpoints: cloud.Endpoints{st.front.URL}, timeScale: quick})
	st.ns = team(t, st.Client)
	st.provider = st.account(id, secret)
	return st
}

// answers reports whether anything is served at the address.
func answers(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// account creates the provider: first as if the server had STS, and then with the account in the spec.
func (s *trial) account(id, secret string) *v1alpha1.AWSProvider {
	s.Helper()
	name := fmt.Sprintf("server-%d", counter.Add(1))
	keys := keysOf(name, id)
	keys.StringData["secret"] = secret
	create(s.T, s.Client, keys)
	own := &v1alpha1.ServiceEndpoints{S3: s.front.URL}
	if s.service == "sqs" {
		own = &v1alpha1.ServiceEndpoints{SQS: s.front.URL}
	}
	p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.AWSProviderSpec{
		Region: stack.Region, Endpoint: s.front.URL, AllowedNamespaces: &metav1.LabelSelector{},
		AWSRules:       v1alpha1.AWSRules{AllowedKMSKeys: []string{"*"}},
		AccessKeyIDRef: &v1alpha1.SecretKeyRef{Name: name, Key: "id"}, SecretAccessKeyRef: &v1alpha1.SecretKeyRef{
			Name: name, Key: "secret",
		},
	}}
	create(s.T, s.Client, p)
	s.Cleanup(func() { forget(s.T, s.Client, name) })
	if got := reason(s.T, s.Client, p, "AccountNotStated").Message; !strings.Contains(
		got, "does not say whose the credentials are") {
		s.Errorf("message %q", got)
	}
	edit(s.T, s.Client, p, func(p *v1alpha1.AWSProvider) { p.Spec.Endpoint, p.Spec.Endpoints = "", own })
	if got := reason(s.T, s.Client, p, "AccountNotStated").Message; !strings.Contains(got, "Set accountID") {
		s.Errorf("message %q", got)
	}
	edit(s.T, s.Client, p, func(p *v1alpha1.AWSProvider) { p.Spec.AccountID = statedAccount })
	ready(s.T, s.Client, p)
	if p.Status.AccountID != statedAccount || p.Status.CallerIdentity != "" {
		s.Errorf("status %+v", p.Status)
	}
	return p
}

func (s *trial) s3() *s3.Client {
	return s3.NewFromConfig(s.config, func(o *s3.Options) { o.UsePathStyle = true })
}

func (s *trial) sqs() *sqs.Client { return sqs.NewFromConfig(s.config) }

// front passes on the operator's calls, and records them.
type front struct {
	*httptest.Server
	mu  sync.Mutex
	all []passed
}

// passed is one call.
type passed struct {
	text  string
	write bool
}

func newFront(t *testing.T, to string) *front {
	t.Helper()
	upstream, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	proxy := &httputil.ReverseProxy{
		Transport: &http.Transport{DisableCompression: true},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = r.In.Host // it is part of the signature
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if !errors.Is(err, context.Canceled) {
				t.Log(err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.note(r)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *front) note(r *http.Request) {
	_, call, isJSON := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	one := passed{text: r.Method + " " + r.URL.RequestURI(), write: r.Method != http.MethodGet &&
		r.Method != http.MethodHead}
	if isJSON {
		one = passed{text: call, write: !strings.HasPrefix(call, "Get") && !strings.HasPrefix(call, "List")}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, one)
}

// since returns the calls after the first n, and the writes among them.
func (f *front) since(n int) (all, writes []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all[n:] {
		if all = append(all, one.text); one.write {
			writes = append(writes, one.text)
		}
	}
	return all, writes
}

func (f *front) count() int {
	all, _ := f.since(0)
	return len(all)
}
