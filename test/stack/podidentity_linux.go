package stack

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack/sandbox"
)

const (
	// podIdentityIP is where SDKs in Pods find the EKS Pod Identity Agent.
	podIdentityIP = "169.254.170.23"
	// tokenFolder is where EKS mounts a Pod's token for the agent, and tokenFile its name there.
	tokenFolder = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount"
	tokenFile   = "eks-pod-identity-token"
	tokenVolume = "eks-pod-identity-token"
	// mostReview bounds a review that the API server sends.
	mostReview = 3 << 20
)

// startPodIdentity gives Pods of real Nodes the permissions of their ServiceAccounts, as EKS does: an agent with the
// credentials, and a webhook that tells SDKs in Pods where it is. Each Node of EKS has its own agent; here one serves
// all.
func (s *Stack) startPodIdentity(ctx context.Context) error {
	if s.opts.RealNodes == 0 {
		return nil
	}
	if err := sandbox.Shell(ctx, "ip address add "+podIdentityIP+"/32 dev "+bridge); err != nil {
		return err
	}
	agent := s.Proxy.PodIdentity(s.VerifyPod(awsproxy.EKSCluster{
		Account: AccountID, Region: Region, Name: ClusterName,
	}))
	if err := s.serveAt(ctx, "the Pod Identity agent", podIdentityIP+":80", agent, nil); err != nil {
		return err
	}
	if _, err := s.serve(ctx, "the AWS endpoint of Pods", s.ports.workload, s.Proxy.Workload(), nil); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(s.pki.ServingCert, s.pki.ServingKey)
	if err != nil {
		return err
	}
	hook := &podHook{
		eks: eks.NewFromConfig(s.OutsideAWS()), endpoint: "http://" + s.address(s.ports.workload),
	}
	_, err = s.serve(ctx, "the Pod Identity webhook", s.ports.podWebhook, hook,
		&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return err
}

// applyPodIdentity registers the webhook.
func (s *Stack) applyPodIdentity(ctx context.Context) error {
	if s.ports.podWebhook == 0 || !s.opts.WorkloadIdentity {
		return nil
	}
	return ApplyObjects(ctx, s.Admin, &unstructured.Unstructured{Object: object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
		"metadata": object{"name": "pod-identity-webhook"},
		"webhooks": []any{object{
			"name": "pod-identity-webhook.amazonaws.com", "failurePolicy": "Ignore", "sideEffects": "None",
			"admissionReviewVersions": []any{"v1"}, "timeoutSeconds": int64(10),
			"clientConfig": object{
				"url": "https://" + s.address(s.ports.podWebhook) + "/mutate", "caBundle": s.pki.caPEM,
			},
			"rules": []any{object{
				"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"},
				"resources": []any{"pods"},
			}},
		}},
	}})
}

// podHook adds the agent's address and a token to the Pods whose ServiceAccount has an association, as EKS does, and
// the address of the simulated AWS.
type podHook struct {
	eks      *eks.Client
	endpoint string
}

// ServeHTTP implements http.Handler for admission reviews.
func (h *podHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(io.LimitReader(r.Body, mostReview)).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no admission review", http.StatusBadRequest)
		return
	}
	patch, err := h.patch(r.Context(), review.Request)
	if err != nil { // the webhook's failures are ignored, as on EKS
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if patch != nil {
		kind := admissionv1.PatchTypeJSONPatch
		review.Response.Patch, review.Response.PatchType = patch, &kind
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server has left
}

// patch returns the JSON patch for a new Pod, nil for none.
func (h *podHook) patch(ctx context.Context, request *admissionv1.AdmissionRequest) ([]byte, error) {
	var pod corev1.Pod
	if err := json.Unmarshal(request.Object.Raw, &pod); err != nil {
		return nil, fmt.Errorf("read the Pod: %w", err)
	}
	account := pod.Spec.ServiceAccountName
	if account == "" {
		return nil, errors.New("the Pod has no ServiceAccount")
	}
	found, err := h.eks.ListPodIdentityAssociations(ctx, &eks.ListPodIdentityAssociationsInput{
		ClusterName: aws.String(ClusterName), Namespace: &request.Namespace, ServiceAccount: &account,
	})
	if err != nil || len(found.Associations) == 0 {
		return nil, err
	}
	h.mutate(&pod)
	return json.Marshal([]object{
		{"op": "add", "path": "/spec/containers", "value": pod.Spec.Containers},
		{"op": "add", "path": "/spec/volumes", "value": pod.Spec.Volumes},
	})
}

// mutate sets in every container what the agent's users need.
func (h *podHook) mutate(pod *corev1.Pod) {
	variables := []corev1.EnvVar{
		{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: "http://" + podIdentityIP + "/v1/credentials"},
		{Name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", Value: tokenFolder + "/" + tokenFile},
		{Name: "AWS_STS_REGIONAL_ENDPOINTS", Value: "regional"},
		{Name: "AWS_DEFAULT_REGION", Value: Region},
		{Name: "AWS_REGION", Value: Region},
		{Name: "AWS_ENDPOINT_URL", Value: h.endpoint},
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		for _, v := range variables {
			if !has(c.Env, v.Name) {
				c.Env = append(c.Env, v)
			}
		}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
			Name: tokenVolume, MountPath: tokenFolder, ReadOnly: true,
		})
	}
	life := int64(24 * 60 * 60)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: tokenVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Audience: PodIdentityAudience, ExpirationSeconds: &life, Path: tokenFile,
			}}},
		}},
	})
}

func has(env []corev1.EnvVar, name string) bool {
	for _, v := range env {
		if v.Name == name {
			return true
		}
	}
	return false
}
