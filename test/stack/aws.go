package stack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/smithy-go"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/stack/build"
	"github.com/portico-platform/portico/test/stack/process"
)

// AccountID is the AWS account of the sample provider's key: moto's default.
const AccountID = "123456789012"

// startAWS starts moto and the proxy in front of it, or uses the endpoint from the options.
func (s *Stack) startAWS(ctx context.Context) error {
	if !s.opts.Parts.has(AWS) {
		return nil
	}
	if endpoint := s.opts.AWSEndpoint; endpoint != "" {
		s.AWSEndpoint, s.OutsideAWSEndpoint = endpoint, endpoint
		return nil
	}
	policies, err := documents(s.root())
	if err != nil {
		return err
	}
	upstream := &url.URL{Scheme: "http", Host: s.address(s.ports.moto)}
	proxy, err := awsproxy.New(awsproxy.Options{
		Upstream: upstream, StaticKeys: map[string]string{s.opts.AWSCredentials.AccessKeyID: AccountID},
		RolePolicies: policies,
		TimeScale:    s.opts.TimeScale, Seed: s.opts.Seed,
	})
	if err != nil {
		return err
	}
	proxy.IssueLocally(s.pki.hostnames.issueServing)
	s.Proxy = proxy
	if s.AWSEndpoint, err = s.serve(ctx, "the AWS proxy", s.ports.awsOperator, proxy.Operator(), nil); err != nil {
		return err
	}
	if _, err = s.serve(ctx, "the AWS proxy", s.ports.awsOutside, proxy.Outside(), nil); err != nil {
		return err
	}
	s.OutsideAWSEndpoint = "http://" + s.forPeople(s.ports.awsOutside)
	err = s.run(ctx, process.Spec{
		Name: "moto", Path: filepath.Join(s.opts.Root, filepath.FromSlash(build.Python)),
		Args: []string{
			filepath.Join(s.opts.Root, filepath.FromSlash(build.MotoServer)), "-H", s.opts.ip(), "-p",
			strconv.Itoa(s.ports.moto),
		},
		Ready: answers(plain, upstream.String()+"/moto-api/data.json"),
	})
	if err != nil {
		return err
	}
	if err := s.startDatabases(); err != nil || !s.opts.WorkloadIdentity {
		return err
	}
	return errors.Join(s.MakeIdentity(ctx, s.OutsideAWS(), AccountID), s.startPodIdentity(ctx))
}

// ClusterName is the name of the cluster in AWS, where Pods have permissions.
const ClusterName = "local"

// BoundaryARN returns the permissions boundary of Pods in an account, which MakeIdentity creates.
func BoundaryARN(account string) string {
	return "arn:aws:iam::" + account + ":policy/portico-pods-boundary"
}

// MakeIdentity registers the cluster in an account, and creates what an administrator has to create there before Pods
// get permissions.
func (s *Stack) MakeIdentity(ctx context.Context, outside aws.Config, account string) error {
	s.Proxy.AddEKSCluster(account, Region, ClusterName)
	text, err := fs.ReadFile(s.root(), "docs/iam/pods/boundary.json")
	if err != nil {
		return err
	}
	api := iam.NewFromConfig(outside)
	if _, err := api.CreatePolicy(ctx, &iam.CreatePolicyInput{
		PolicyName:     aws.String("portico-pods-boundary"),
		PolicyDocument: aws.String(string(text)),
	}); !madeOnce(err) {
		return fmt.Errorf("make the boundary of Pods: %w", err)
	}
	_, err = api.CreateOpenIDConnectProvider(ctx, &iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(ServiceAccountIssuer), ClientIDList: []string{WebIdentityAudience}, ThumbprintList: []string{
			strings.Repeat("0", 40),
		},
	})
	if !madeOnce(err) {
		return fmt.Errorf("make the identity provider of the cluster: %w", err)
	}
	return nil
}

// madeOnce reports whether a resource exists now, created by this call or an earlier one.
func madeOnce(err error) bool {
	e, known := errors.AsType[smithy.APIError](err)
	return err == nil || known && e.ErrorCode() == "EntityAlreadyExists"
}

// OIDCProviderARN returns the identity provider that MakeIdentity creates.
func OIDCProviderARN(account string) string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + strings.TrimPrefix(ServiceAccountIssuer, "https://")
}

// RoleARN returns the role that providers of an account assume here. Like every role, it has the policies of
// docs/iam; the keys that assume it may do everything.
func RoleARN(account string) string { return "arn:aws:iam::" + account + ":role/portico-resources" }

// documents reads the policies of docs/iam, which the documentation gives to administrators.
func documents(root fs.FS) (iampolicy.Policies, error) {
	files, err := fs.Glob(root, "docs/iam/*.json")
	if err != nil {
		return iampolicy.Policies{}, err
	}
	var all iampolicy.Policies
	for _, file := range files {
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return all, err
		}
		policy, err := awsproxy.ParsePolicy(text)
		if err != nil {
			return all, fmt.Errorf("%s: %w", file, err)
		}
		all.Identity = append(all.Identity, policy)
	}
	return all, nil
}

// MotoException returns the last exception in moto's log, or "" if there is none. A call that ends with one is answered
// with status 500.
func (s *Stack) MotoException() string {
	log, err := os.ReadFile(filepath.Join(s.Dir, "moto.log"))
	if err != nil {
		return ""
	}
	begin := bytes.LastIndex(log, []byte("Traceback (most recent call last)"))
	if begin < 0 {
		return ""
	}
	exception, _, _ := bytes.Cut(log[begin:], []byte("\n127.0.0.1 - - ")) // the next request
	return "moto: " + string(exception) + "\n"
}
