//go:build integration

package integration

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// rightsAccount is an account in which Portico gives permissions to Pods, with the policies of docs/iam for itself and
// the boundary of docs/iam/pods.
type rightsAccount struct {
	id       string
	provider *v1alpha1.AWSProvider
	agent    *httptest.Server // the EKS Pod Identity Agent
	workload *httptest.Server // AWS, for applications
}

func newRightsAccount(t *testing.T, c client.Client, id string, mode v1alpha1.WorkloadIdentityMode) *rightsAccount {
	t.Helper()
	a := &rightsAccount{id: id, provider: account(t, c, id)}
	a.agent = httptest.NewServer(
		world.Proxy.PodIdentity(world.VerifyPod(
			awsproxy.EKSCluster{Account: id, Region: stack.Region, Name: stack.ClusterName})))
	t.Cleanup(a.agent.Close)
	a.give(t, c, v1alpha1.WorkloadIdentity{
		Mode: mode, ClusterName: stack.ClusterName,
		OIDCProviderARN: stack.OIDCProviderARN(id),
	})
	return a
}

// newTargetAccount returns an account without a cluster: the cluster is in another account, which the teams of this one
// need not be allowed to use.
func newTargetAccount(t *testing.T, c client.Client, id string, cluster *rightsAccount) *rightsAccount {
	t.Helper()
	a := &rightsAccount{id: id, provider: account(t, c, id), agent: cluster.agent}
	a.give(t, c, v1alpha1.WorkloadIdentity{
		Mode:               v1alpha1.WorkloadIdentityPodIdentity,
		ClusterProviderRef: &v1alpha1.LocalRef{Name: cluster.provider.Name},
	})
	return a
}

// give configures the account's provider to give permissions to Pods.
func (a *rightsAccount) give(t *testing.T, c client.Client, identity v1alpha1.WorkloadIdentity) {
	t.Helper()
	a.workload = httptest.NewServer(world.Proxy.Workload())
	t.Cleanup(a.workload.Close)
	if err := world.MakeIdentity(t.Context(), a.outside(), a.id); err != nil {
		t.Fatal(err)
	}
	identity.BoundaryARN = stack.BoundaryARN(a.id)
	edit(t, c, a.provider, func(p *v1alpha1.AWSProvider) { p.Spec.WorkloadIdentity = &identity })
	ready(t, c, a.provider)
}

// outside returns the configuration of clients of the account that bypass the operator.
func (a *rightsAccount) outside() aws.Config {
	cfg := world.OutsideAWS()
	cfg.Credentials = credentials.NewStaticCredentialsProvider(a.provider.Name, stack.SecretAccessKey, "")
	return cfg
}

func (a *rightsAccount) iam() *iam.Client { return iam.NewFromConfig(a.outside()) }

func (a *rightsAccount) eks() *eks.Client { return eks.NewFromConfig(a.outside()) }

// roles returns the names of a namespace's roles.
func (a *rightsAccount) roles(t *testing.T, namespace string) (names []string) {
	t.Helper()
	out, err := a.iam().ListRoles(
		t.Context(), &iam.ListRolesInput{PathPrefix: aws.String("/portico/" + namespace + "/")})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.Roles {
		names = append(names, *r.RoleName)
	}
	return names
}

// associations returns the Pod Identity associations of a namespace.
func (a *rightsAccount) associations(t *testing.T, namespace string) []ekstypes.PodIdentityAssociationSummary {
	t.Helper()
	out, err := a.eks().ListPodIdentityAssociations(t.Context(), &eks.ListPodIdentityAssociationsInput{
		ClusterName: aws.String(stack.ClusterName), Namespace: &namespace,
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Associations
}

// pod returns the settings that an SDK finds in a Pod, as EKS sets them: the agent's address and a token for it or, if
// the ServiceAccount names a role, that role and a token for STS.
func (a *rightsAccount) pod(t *testing.T, c client.Client, pod *corev1.Pod) aws.Config {
	t.Helper()
	found := &corev1.ServiceAccount{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: pod.Namespace, Name: pod.Spec.ServiceAccountName},
		found); err != nil {
		t.Fatal(err)
	}
	role := found.Annotations[v1alpha1.AnnotationRoleARN]
	audience, file := stack.PodIdentityAudience, filepath.Join(t.TempDir(), "token")
	set := map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_CA_BUNDLE": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": file + "-none",
		"AWS_SHARED_CREDENTIALS_FILE": file + "-none",
		"AWS_EC2_METADATA_DISABLED":   "true", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "",
		"AWS_ROLE_ARN":                           "", "AWS_WEB_IDENTITY_TOKEN_FILE": "",
		"AWS_ENDPOINT_URL_STS": a.workload.URL,
	}
	if role == "" {
		set["AWS_CONTAINER_CREDENTIALS_FULL_URI"], set["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = a.agent.URL+
			"/v1/credentials", file
	} else {
		audience = stack.WebIdentityAudience
		set["AWS_ROLE_ARN"], set["AWS_WEB_IDENTITY_TOKEN_FILE"] = role, file
	}
	for name, value := range set {
		t.Setenv(name, value)
	}
	token, err := world.PodToken(t.Context(), pod, audience)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := sdk.LoadDefaultConfig(t.Context(), sdk.WithRegion(stack.Region), sdk.WithRetryMaxAttempts(2),
		sdk.WithBaseEndpoint(a.workload.URL), sdk.WithHTTPClient(a.workload.Client()))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// podOf waits for a running Pod of the app whose UID is not in not, and returns it.
func podOf(t *testing.T, c client.Client, app *v1alpha1.WebApp, not ...string) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	await(t, "a Pod of "+app.Name, func() (bool, string) {
		var all corev1.PodList
		if err := c.List(t.Context(), &all, client.InNamespace(app.Namespace), client.MatchingLabels{
			v1alpha1.LabelWebApp: app.Name,
		}); err != nil {
			return false, err.Error()
		}
		for i := range all.Items {
			if p := &all.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil &&
				!slices.Contains(not, string(p.UID)) {
				found = p
			}
		}
		return found != nil, "none"
	})
	return found
}
