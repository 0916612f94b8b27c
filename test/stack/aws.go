package stack

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/stack/build"
	"github.com/portico-platform/portico/test/stack/process"
)

// AccountID is the AWS account that the sample provider's key belongs to: moto's
// own default.
const AccountID = "123456789012"

// startAWS brings up moto and the proxy before it, or takes the endpoint given.
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
	upstream := &url.URL{Scheme: "http", Host: address(s.ports.moto)}
	proxy, err := awsproxy.New(awsproxy.Options{
		Upstream: upstream, StaticKeys: map[string]string{s.opts.AWSCredentials.AccessKeyID: AccountID}, RolePolicies: policies,
		TimeScale: s.opts.TimeScale, Seed: s.opts.Seed,
	})
	if err != nil {
		return err
	}
	s.Proxy = proxy
	if s.AWSEndpoint, err = s.serve(ctx, "the AWS proxy", s.ports.awsOperator, proxy.Operator(), nil); err != nil {
		return err
	}
	if s.OutsideAWSEndpoint, err = s.serve(ctx, "the AWS proxy", s.ports.awsOutside, proxy.Outside(), nil); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "moto", Path: filepath.Join(s.opts.Root, filepath.FromSlash(build.Moto)),
		Args:  []string{"-H", "127.0.0.1", "-p", strconv.Itoa(s.ports.moto)},
		Ready: answers(plain, upstream.String()+"/moto-api/data.json"),
	})
}

// RoleARN returns the role that providers of an account assume here. As every role, it has the policies of docs/iam; the
// keys by which it is assumed may do everything.
func RoleARN(account string) string { return "arn:aws:iam::" + account + ":role/portico-resources" }

// documents reads the policies of docs/iam, which an admin is told to use.
func documents(root fs.FS) (iam.Policies, error) {
	files, err := fs.Glob(root, "docs/iam/*.json")
	if err != nil {
		return iam.Policies{}, err
	}
	var all iam.Policies
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
