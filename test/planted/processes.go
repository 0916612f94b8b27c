package planted

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Logs makes End search the logs of operator and portal in a stack's folder, including those of processes that ended.
func (s *Search) Logs(dir string) error {
	for _, part := range []string{"operator", "portal"} {
		logs, err := filepath.Glob(filepath.Join(dir, "*"+part+"*.log"))
		if err != nil || len(logs) == 0 {
			return errors.Join(err, fmt.Errorf("no logs of the %s in %s", part, dir))
		}
		for _, path := range logs {
			s.File(filepath.Base(path), path)
		}
	}
	return nil
}

// Metrics stores a process's metrics. It reads them at the address as Prometheus does, with a ServiceAccount that has
// the permission.
func (s *Search) Metrics(ctx context.Context, cfg *rest.Config, namespace, address string) error {
	token, err := reader(ctx, cfg, namespace)
	if err != nil {
		return err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // a self-signed certificate
	defer transport.CloseIdleConnections()
	var last error
	return errors.Join(wait.PollUntilContextTimeout(ctx, again, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			var text []byte
			text, last = get(ctx, transport, "https://"+address+"/metrics", token)
			if last == nil {
				s.Write("metrics", address, string(text))
			}
			return last == nil, nil // a new permission takes a moment to be effective
		}), last)
}

// reader returns a token of a ServiceAccount with permission to read metrics.
func reader(ctx context.Context, cfg *rest.Config, namespace string) (string, error) {
	k, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return "", err
	}
	const name = "default"
	_, err = k.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "planted-metrics"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: namespace, Name: name}},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", err
	}
	got, err := k.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{},
		metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return got.Status.Token, nil
}

func get(ctx context.Context, t *http.Transport, url, token string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}
