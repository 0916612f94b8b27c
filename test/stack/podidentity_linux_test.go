package stack

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPodsAreToldWhereTheirCredentialsAre: each container gets the agent's address and the token, and keeps what it has
// set itself.
func TestPodsAreToldWhereTheirCredentialsAre(t *testing.T) {
	own := corev1.EnvVar{Name: "AWS_REGION", Value: "us-east-1"}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Env: []corev1.EnvVar{own}}, {}}}}
	(&podHook{endpoint: "http://aws"}).mutate(pod)
	for i, c := range pod.Spec.Containers {
		values := map[string][]string{}
		for _, v := range c.Env {
			values[v.Name] = append(values[v.Name], v.Value)
		}
		region := "us-east-1"
		if i == 1 {
			region = Region
		}
		for name, want := range map[string]string{
			"AWS_CONTAINER_CREDENTIALS_FULL_URI":     "http://169.254.170.23/v1/credentials",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": tokenFolder + "/" + tokenFile,
			"AWS_ENDPOINT_URL":                       "http://aws", "AWS_REGION": region,
		} {
			if got := values[name]; !slices.Equal(got, []string{want}) {
				t.Errorf("container %d: %s is %v, want %s", i, name, got, want)
			}
		}
		if len(c.VolumeMounts) != 1 || c.VolumeMounts[0].Name != pod.Spec.Volumes[0].Name {
			t.Errorf("container %d mounts %v", i, c.VolumeMounts)
		}
	}
	if token := pod.Spec.Volumes[0].Projected.Sources[0].ServiceAccountToken; token.Audience != PodIdentityAudience {
		t.Errorf("the token is for %s", token.Audience)
	}
}
