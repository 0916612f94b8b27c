//go:build integration

package mototest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"go.uber.org/goleak"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/mototest"
)

const (
	keyOne, accountOne = "AKIAONE", "111111111111"
	keyTwo, accountTwo = "AKIATWO", "222222222222"
)

// moto is shared because it takes seconds to start: names in tests are unique.
var moto *url.URL

func TestMain(m *testing.M) {
	base, stop, err := mototest.Launch()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	moto = base
	code := m.Run()
	stop()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// world is a proxy in front of moto, with a server for each entrance.
type world struct {
	*awsproxy.Proxy
	operator, outside *httptest.Server
}

func newWorld(t *testing.T, change ...func(*awsproxy.Options)) *world {
	t.Helper()
	o := awsproxy.Options{
		Upstream: moto, StaticKeys: map[string]string{keyOne: accountOne, keyTwo: accountTwo},
		RolePolicies: policies(t, everything),
	}
	for _, c := range change {
		c(&o)
	}
	p, err := awsproxy.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Proxy: p, operator: httptest.NewServer(p.Operator()), outside: httptest.NewServer(p.Outside())}
	t.Cleanup(func() {
		w.Close()
		w.operator.Close()
		w.outside.Close()
	})
	return w
}

// config returns the settings of an SDK client that makes a single attempt.
func config(server *httptest.Server, key, region string) aws.Config {
	return configWith(server, aws.Credentials{AccessKeyID: key, SecretAccessKey: "secret"}, region)
}

func configWith(server *httptest.Server, c aws.Credentials, region string) aws.Config {
	return aws.Config{
		Region:           region,
		BaseEndpoint:     aws.String(server.URL),
		HTTPClient:       server.Client(),
		RetryMaxAttempts: 1,
		Credentials:      aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, nil }),
	}
}

func (w *world) s3(key, region string) *s3.Client {
	return s3.NewFromConfig(config(w.operator, key, region))
}

func (w *world) sqs(key, region string) *sqs.Client { //nolint:unparam // called as s3 and ec2 are
	return sqs.NewFromConfig(config(w.operator, key, region))
}

func (w *world) ec2(key, region string) *ec2.Client {
	return ec2.NewFromConfig(config(w.operator, key, region))
}

func (w *world) sts(key, region string) *sts.Client { //nolint:unparam // called as s3 and ec2 are
	return sts.NewFromConfig(config(w.operator, key, region))
}

var counter atomic.Int64

// unique returns a name that no other test uses.
func unique(t *testing.T) string {
	t.Helper()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	return fmt.Sprintf("%.40s-%d", strings.TrimPrefix(name, "test"), counter.Add(1))
}

// newAccount returns the key of an empty account.
func newAccount(w *world) (key string) {
	n := counter.Add(1)
	key = fmt.Sprintf("AKIANEW%d", n)
	w.MapKey(key, fmt.Sprintf("9%011d", n))
	return key
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode asserts the error's code, as the SDK parsed it.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an API error %s", err, code)
	}
	if e.ErrorCode() != code {
		t.Fatalf("got %s (%s), want %s", e.ErrorCode(), e.ErrorMessage(), code)
	}
}

// wantStatus asserts the HTTP status of an error.
func wantStatus(t *testing.T, err error, status int) {
	t.Helper()
	var e interface{ HTTPStatusCode() int }
	if !errors.As(err, &e) || e.HTTPStatusCode() != status {
		t.Fatalf("got %v, want status %d (%s)", err, status, http.StatusText(status))
	}
}
