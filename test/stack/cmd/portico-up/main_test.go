package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		reason string
		env    map[string]string
		check  func(stack.Options) bool
		fails  string
	}{
		{
			reason: "friendly ports by default",
			check: func(o stack.Options) bool {
				return reflect.DeepEqual(o.Ports, stack.FriendlyPorts) && o.Parts == stack.Everything
			},
		},
		{
			reason: "a port of one's own, and any free one",
			env:    map[string]string{"PORTAL_PORT": "9090", "AWS_PORT": "0"},
			check: func(o stack.Options) bool {
				return o.Ports.Portal == 9090 && o.Ports.AWS == 0 && o.Ports.Dex == stack.FriendlyPorts.Dex
			},
		},
		{reason: "no number", env: map[string]string{"DEX_PORT": "http"}, fails: "DEX_PORT=http is not a port"},
		{reason: "too large", env: map[string]string{"DEX_PORT": "65536"}, fails: "DEX_PORT=65536 is not a port"},
		{
			reason: "another endpoint takes the credentials of the environment",
			env: map[string]string{
				"AWS_ENDPOINT": "http://x", "AWS_ACCESS_KEY_ID": "k",
				"AWS_SECRET_ACCESS_KEY": "s",
			},
			check: func(o stack.Options) bool {
				return o.AWSEndpoint == "http://x" && o.AWSCredentials == stack.Credentials{
					AccessKeyID: "k", SecretAccessKey: "s",
				}
			},
		},
		{
			reason: "no load balancers and hosted zones are made at another endpoint",
			env:    map[string]string{"AWS_ENDPOINT": "http://x"},
			check: func(o stack.Options) bool {
				return o.Parts == stack.Everything&^(stack.Gateways|stack.Traffic|stack.Databases)
			},
		},
		{
			reason: "the simulator never sees them",
			env:    map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"},
			check:  func(o stack.Options) bool { return o.AWSCredentials == stack.Credentials{} },
		},
		{
			reason: "another cluster",
			env:    map[string]string{"KUBECONFIG_EXTERNAL": "there"},
			check:  func(o stack.Options) bool { return o.ExternalKubeconfig == "there" },
		},
	} {
		t.Run(tt.reason, func(t *testing.T) {
			o, err := options("root", func(name string) string { return tt.env[name] })
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("%v, want %q", err, tt.fails)
				}
				return
			}
			if err != nil || !tt.check(o) {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
}

func TestWelcome(t *testing.T) {
	text := welcome(&stack.Stack{Proxy: &awsproxy.Proxy{}, OutsideAWSEndpoint: "http://aws"}, 0)
	for reason, want := range map[string]string{
		"version 1 of the AWS CLI knows this name only": " AWS_DEFAULT_REGION=" + stack.Region + " ",
		"Go's SDK this one":                             " AWS_REGION=" + stack.Region + " ",
		"as README.md has it; docs/cli.md requests another": "portico request bucket notes -n payments --set " +
			"providerRef=aws-local --wait",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", reason, want, text)
		}
	}
}
