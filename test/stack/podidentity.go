package stack

import (
	"context"
	"fmt"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/awsproxy"
)

// PodIdentityAudience is the audience of the tokens that Pods send to the EKS Pod Identity Agent.
const PodIdentityAudience = "pods.eks.amazonaws.com"

// WebIdentityAudience is the audience of the tokens that Pods send to STS (IRSA).
const WebIdentityAudience = "sts.amazonaws.com"

// VerifyPod returns a verifier of Pods' tokens that uses TokenReview, as EKS does. The cluster is the identity of
// this cluster in AWS.
func (s *Stack) VerifyPod(cluster awsproxy.EKSCluster) awsproxy.PodVerifier {
	return func(ctx context.Context, token string) (awsproxy.Pod, error) {
		clients, err := kubernetes.NewForConfig(s.Admin)
		if err != nil {
			return awsproxy.Pod{}, err
		}
		review := &authenticationv1.TokenReview{
			Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: []string{PodIdentityAudience}},
		}
		got, err := clients.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return awsproxy.Pod{}, fmt.Errorf("review a Pod's token: %w", err)
		}
		user := got.Status.User
		names := strings.Split(user.Username, ":") // system:serviceaccount:<namespace>:<name>
		pod, uid := user.Extra["authentication.kubernetes.io/pod-name"],
			user.Extra["authentication.kubernetes.io/pod-uid"]
		if !got.Status.Authenticated || len(names) != 4 || len(pod) != 1 || len(uid) != 1 {
			return awsproxy.Pod{}, fmt.Errorf("%w: %s", awsproxy.ErrPodToken, got.Status.Error)
		}
		return awsproxy.Pod{Cluster: cluster, Namespace: names[2], ServiceAccount: names[3], Name: pod[0], UID: uid[0]},
			nil
	}
}

// PodToken returns a token of a Pod's ServiceAccount that is bound to the Pod, as the kubelet projects it into
// containers.
func (s *Stack) PodToken(ctx context.Context, pod *corev1.Pod, audience string) (string, error) {
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return "", err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: []string{audience}, BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
	}}
	token, err := clients.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, request,
		metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token for the Pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return token.Status.Token, nil
}
