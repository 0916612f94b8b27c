package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/portico-platform/portico/test/stack"
)

// welcome returns what people need to know once everything runs.
func welcome(s *stack.Stack, took time.Duration) string {
	var b strings.Builder
	p := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }
	p("\nPortico is up, after %.0f s.  Ctrl-C ends everything.\n", took.Seconds())
	p("Portal      %s", s.PortalURL)
	p("Logs        %s", s.Dir)
	p("\nSample logins, each with the password %q:\n", stack.Password)
	b.WriteString(logins())
	p("\nKubernetes (contexts: %s)\n", contexts(s))
	p("  export KUBECONFIG=%s", s.Kubeconfig)
	p("  export PATH=\"%s:$PATH\"   # kubectl, portico", filepath.Join(filepath.Dir(filepath.Dir(s.Dir)), "bin"))
	if s.Proxy == nil {
		p("\nAWS (in place of the simulator)\n\n  %s", s.AWSEndpoint)
	} else {
		p("\nAWS (the same simulator that the operator uses, to look behind its back)\n")
		p("  export AWS_ENDPOINT_URL=%[1]s AWS_REGION=%[2]s AWS_DEFAULT_REGION=%[2]s AWS_ACCESS_KEY_ID=test "+
			"AWS_SECRET_ACCESS_KEY=test",
			s.OutsideAWSEndpoint, stack.Region)
	}
	b.WriteString(hostnames(s))
	b.WriteString(registry(s))
	p("\nThings to try\n")
	p("1. In the browser: sign in at %s as %s and request a bucket.", s.PortalURL, stack.Users[0].Email())
	p("2. On the command line:")
	p("     portico login %s", s.PortalURL)
	p("     portico request bucket notes -n %s --set providerRef=%s --wait", stack.Users[0].Namespace, stack.Provider)
	p("3. By REST:")
	p("     TOKEN=$(%s)", s.TokenCommand(stack.Users[0].Name))
	p("     curl -s -H \"Authorization: Bearer $TOKEN\" %s/api/v1/namespaces/%s/s3buckets", s.PortalURL,
		stack.Users[0].Namespace)
	p("4. With kubectl:")
	p("     kubectl apply -n %s -f config/samples/s3bucket.yaml", stack.Users[0].Namespace)
	p("     kubectl get s3buckets -n %s -w", stack.Users[0].Namespace)
	b.WriteString(application(s))
	return b.String() + "\n"
}

// registry returns where images of a real Node come from, or "" without one.
func registry(s *stack.Stack) string {
	if len(s.RealNodes) == 0 {
		return ""
	}
	return fmt.Sprintf("\nA real Node runs containers, of images in the registry at %[1]s without TLS\n\n"+
		"  what you push as %[1]s/shop:1 is %[2]s/shop:1 in a web app\n", s.RegistryAddress(), stack.RegistryHost)
}

// application returns how to request the sample application, which needs a real Node.
func application(s *stack.Stack) string {
	if len(s.RealNodes) == 0 {
		return "Applications run with sudo make run NODE=real, a Node that runs containers; here Pods are simulated.\n"
	}
	return fmt.Sprintf("5. An application with a bucket, a queue and a database (examples/notes):\n"+
		"     kubectl apply -n payments -f examples/notes/notes.yaml\n"+
		"     kubectl wait -n payments webapp/notes --for=condition=Ready --timeout=2m\n"+
		"   Then open https://notes.payments.%s:%d\n", stack.Domain, s.LoadBalancerPort())
}

func logins() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	for _, user := range stack.Users {
		_, _ = fmt.Fprintf(w, "  %s\t%s\tnamespace %s\n", user.Email(), user.Title, user.Namespace)
	}
	_ = w.Flush()
	return b.String()
}

// hostnames returns what people need to know to request a hostname, or "" without a hosted zone.
func hostnames(s *stack.Stack) string {
	public := s.Zones[stack.Zone{Domain: stack.Domain}]
	if public == "" {
		return ""
	}
	text := fmt.Sprintf("\nHostnames below payments.%[1]s and search.%[1]s (docs/local-cluster.md)\n\n"+
		"  hosted zone %[1]s   public %[2]s   private %[3]s\n", stack.Domain, public,
		s.Zones[stack.Zone{Domain: stack.Domain, Private: true}])
	if port := s.LoadBalancerPort(); port != 0 {
		text += fmt.Sprintf("  They answer at port %d, with certificates of this run's authority:\n  %s\n", port,
			s.HostnamesCAFile())
	}
	return text
}

func contexts(s *stack.Stack) string {
	names, err := s.Contexts()
	if err != nil {
		return err.Error()
	}
	return strings.Join(names, ", ")
}
