//go:build integration

package stack_test

import (
	"strings"

	"github.com/portico-platform/portico/test/docs"
)

// elsewhere returns the commands to replace, by page, because AWS, GitHub, a registry and a browser are not available.
func (p *place) elsewhere() map[string][]docs.Otherwise {
	const (
		charts = "oci://ghcr.io/portico-platform/charts/"
		needs  = "what the stack needs"
		reader = "what the page leaves to the reader"
		asked  = "nobody is here to be asked"
		pod    = "addresses of Pods are others here, and cannot be forwarded to"
	)
	tree := docs.Otherwise{Part: charts, Type: "charts/", Why: "this tree"}
	portal := docs.Otherwise{Part: "https://portal.example.com", Type: p.url, Why: "the stack's portal"}
	issuer := docs.Otherwise{Part: "https://login.example.com", Type: p.Issuer, Why: "the stack's Dex"}
	return map[string][]docs.Otherwise{
		"docs/install.md": {
			tree, portal, issuer, p.provider("\n  "),
			{Part: "aws cloudformation", Why: "it takes an AWS account; test/chart reads the template"},
			{Part: "aws eks", Why: "it takes EKS"},
			{Part: "-f values.yaml", Type: "-f values.yaml -f stage.yaml", Why: needs},
			{Part: "github.com/portico-platform/portico/config/default?ref=v0.1.0", Type: "../stage", Why: "this tree, and " + needs},
		},
		"docs/upgrade.md": {
			tree,
			{Part: "portico check --fix", Type: "portico check --fix --yes", Why: asked},
			{Part: "-f values.yaml", Type: "-f values.yaml -f stage.yaml --set portal.podAnnotations.upgraded=yes", Why: needs + ", and a difference"},
			{Part: "-k portico", Why: "Helm installed it here; docs/install.md applies the overlay"},
			{Part: "make upgrade", Why: "it is more than this test, and has a target of its own"},
		},
		"docs/disaster.md": {
			{Command: "portico backup", Why: "it is the name of a command here"},
			{Command: "portico restore portico-2026-11-23.yaml", Type: "portico restore portico-2026-11-23.yaml --yes", Why: asked},
			{Part: "portico …", Type: "portico charts/portico -n portico-system -f values.yaml -f stage.yaml --wait", Why: reader},
			{Part: "<the ID>", Type: p.must("kubectl get namespace kube-system -o jsonpath={.metadata.uid}"), Why: reader},
		},
		"docs/admin-guide.md": {
			{Part: "kubectl get --raw /api/v1/namespaces/portico-system/pods/<operator's Pod>:8081/proxy", Type: "curl -fsS http://" + p.AddressOf("operator", "health"), Why: pod},
			{Part: "kubectl port-forward", Why: pod},
			{Part: "kubectl exec", Why: "the stack's kubelet runs nothing in Pods; cmd/portal tests what is run"},
			{
				Part: "--connect-to portico-operator:8443:127.0.0.1:8443",
				Type: "--connect-to portico-operator:8443:$(kubectl get lease portico-operator -n portico-system " +
					`-o jsonpath='{.metadata.annotations.portico\.dev/inspect-url}' | cut -d/ -f3)`, Why: pod,
			},
		},
		"docs/runbooks/credentials-failing.md": {{Part: "NAME", Type: "aws", Why: reader}},
		"docs/runbooks/feature-off.md":         {{Part: "kubectl get crd", Type: "! kubectl get crd", Why: "the feature is off here"}},
		"docs/runbooks/portal-not-ready.md":    {{Part: "| grep 'not ready'", Type: "| grep -c 'not ready' || true", Why: "the portal is ready here"}},
		"docs/kinds/awsprovider.md": {
			{Part: "AKIA…", Type: "test", Why: reader},
			{Part: "secretAccessKey=…", Type: "secretAccessKey=test", Why: reader},
			{Part: "aws ec2", Why: "it takes the AWS CLI"},
		},
		"charts/portico/README.md": {
			tree, portal, issuer,
			{Part: "portal.oidc.clientID=portal", Type: "portal.oidc.clientID=portal -f stage.yaml", Why: needs},
		},
		"charts/portico-config/README.md": {tree, p.provider("\n    ")},
		"NOTES.txt": {
			{Command: p.url, Type: "curl -fsS -o page " + p.url, Why: "nobody is here to open it"},
			{Part: "kubectl port-forward", Why: pod},
		},
	}
}

// provider replaces the credentials of a page's provider with keys for the simulator. line is a line break with its
// indentation.
func (p *place) provider(line string) docs.Otherwise {
	region := line + "region: eu-west-1"
	return docs.Otherwise{Part: region, Type: region + line + strings.Join([]string{
		"endpoint: " + p.AWSEndpoint,
		"accessKeyIDRef: {name: aws-keys, key: accessKeyID}",
		"secretAccessKeyRef: {name: aws-keys, key: secretAccessKey}",
	}, line), Why: "keys and the simulator in place of roles and AWS"}
}
