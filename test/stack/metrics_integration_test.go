//go:build integration

package stack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
)

// TestTheClusterMeasuresPods reads metrics as people and tools do: with kubectl top, and through the API with a
// developer's permissions.
func TestTheClusterMeasuresPods(t *testing.T) {
	deploy(t, "measured", "registry.invalid/measured", 1)
	podOf(t, "measured", "runs", func(c corev1.ContainerStatus) bool { return c.State.Running != nil })
	var out []byte
	eventually(t, "kubectl top", 30*time.Second, func(ctx context.Context) (bool, error) {
		var err error
		cmd := exec.CommandContext(ctx, filepath.Join(root, "bin", "kubectl"), "--kubeconfig", s.AdminKubeconfig, "-n",
			"payments", "top", "pods", "-l", "app=measured", "--no-headers")
		out, err = cmd.CombinedOutput()
		return err == nil, nil
	})
	f := strings.Fields(string(out))
	if len(f) != 3 {
		t.Fatalf("kubectl top says %q, want three columns", out)
	}
	if !strings.HasSuffix(f[1], "m") || f[1] == "0m" {
		t.Errorf("CPU = %q, want some m", f[1])
	}
	if !strings.HasSuffix(f[2], "Mi") || f[2] == "0Mi" {
		t.Errorf("memory = %q, want some Mi", f[2])
	}
	for user, allowed := range map[string]bool{"payments-dev": true, "search-dev": false} {
		cfg, err := s.UserConfig(user)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := clients(t, cfg).RESTClient().Get().AbsPath(
			"/apis/metrics.k8s.io/v1beta1/namespaces/payments/pods").Param("labelSelector", "app=measured").DoRaw(
			t.Context())
		var list struct {
			Items []struct {
				Containers []struct{ Name string }
			}
		}
		if !allowed {
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s gets %s, %v, want it forbidden", user, raw, err)
			}
			continue
		}
		if err != nil || json.Unmarshal(raw, &list) != nil || len(list.Items) != 1 {
			t.Fatalf("%s gets %s, %v, want one Pod", user, raw, err)
		}
		if name := list.Items[0].Containers[0].Name; name != "app" {
			t.Errorf("%s gets the container %q, want app", user, name)
		}
	}
}

// TestNobodyPassesTheAPIServerBy checks that the metrics API itself refuses an administrator's certificate, although
// the API server's authority has signed it.
func TestNobodyPassesTheAPIServerBy(t *testing.T) {
	cfg := rest.CopyConfig(s.Admin)
	service := s.MetricsObjects()[1].Object["spec"].(map[string]any)["service"].(map[string]any)
	cfg.Host = fmt.Sprintf("https://127.0.0.1:%d", service["port"])
	_, err := clients(t, cfg).RESTClient().Get().AbsPath("/apis/metrics.k8s.io/v1beta1/pods").DoRaw(t.Context())
	if err == nil || !strings.Contains(err.Error(), "tls: ") {
		t.Errorf("it is answered, or refused for another reason: %v", err)
	}
}
