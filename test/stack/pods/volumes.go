package pods

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// accountPath is where every Pod has the token of its ServiceAccount.
const accountPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// mount writes the mounted files that have changed into the Pod's folder.
func (p *pod) mount(ctx context.Context) error {
	for _, mount := range p.container().VolumeMounts {
		for i := range p.spec.Spec.Volumes {
			volume := &p.spec.Spec.Volumes[i]
			if volume.Name != mount.Name {
				continue
			}
			files, err := p.files(ctx, &volume.VolumeSource, p.path(mount.MountPath))
			if err != nil {
				return fmt.Errorf("volume %s: %w", volume.Name, err)
			}
			if err := p.write(p.path(mount.MountPath), files); err != nil {
				return err
			}
		}
	}
	return p.writeKubeconfig()
}

// write creates a folder with these files. An existing file gets its new content atomically.
func (p *pod) write(folder string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if old, err := os.ReadFile(filepath.Clean(path)); err == nil && bytes.Equal(old, content) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path+".new", content, 0o600); err != nil {
			return err
		}
		if err := errors.Join(p.owned(path+".new"), p.owned(filepath.Dir(path))); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return os.MkdirAll(folder, 0o700)
}

// files returns the files of a volume, by their path in it.
func (p *pod) files(ctx context.Context, v *corev1.VolumeSource, at string) (map[string][]byte, error) {
	switch {
	case v.EmptyDir != nil:
		return nil, nil
	case v.Secret != nil:
		return p.secret(ctx, v.Secret.SecretName, v.Secret.Items)
	case v.ConfigMap != nil:
		return p.configMap(ctx, v.ConfigMap.Name, v.ConfigMap.Items)
	case v.Projected != nil:
		all := map[string][]byte{}
		for i := range v.Projected.Sources {
			files, err := p.projected(ctx, &v.Projected.Sources[i], at)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, files)
		}
		return all, nil
	default:
		return nil, fmt.Errorf("this kind of volume cannot be played")
	}
}

func (p *pod) projected(ctx context.Context, v *corev1.VolumeProjection, at string) (map[string][]byte, error) {
	switch {
	case v.Secret != nil:
		return p.secret(ctx, v.Secret.Name, v.Secret.Items)
	case v.ConfigMap != nil:
		return p.configMap(ctx, v.ConfigMap.Name, v.ConfigMap.Items)
	case v.DownwardAPI != nil:
		all := map[string][]byte{}
		for _, item := range v.DownwardAPI.Items {
			value, err := p.field(item.FieldRef)
			if err != nil {
				return nil, err
			}
			all[item.Path] = []byte(value)
		}
		return all, nil
	case v.ServiceAccountToken != nil:
		return p.token(ctx, v.ServiceAccountToken, filepath.Join(at, v.ServiceAccountToken.Path))
	default:
		return nil, fmt.Errorf("this kind of projection cannot be played")
	}
}

func (p *pod) secret(ctx context.Context, name string, items []corev1.KeyToPath) (map[string][]byte, error) {
	s, err := p.options.Clients.CoreV1().Secrets(p.spec.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return chosen(s.Data, items)
}

func (p *pod) configMap(ctx context.Context, name string, items []corev1.KeyToPath) (map[string][]byte, error) {
	m, err := p.options.Clients.CoreV1().ConfigMaps(p.spec.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	data := maps.Clone(m.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range m.Data {
		data[key] = []byte(value)
	}
	return chosen(data, items)
}

func chosen(data map[string][]byte, items []corev1.KeyToPath) (map[string][]byte, error) {
	if len(items) == 0 {
		return data, nil
	}
	all := map[string][]byte{}
	for _, item := range items {
		value, ok := data[item.Key]
		if !ok {
			return nil, fmt.Errorf("there is no key %s", item.Key)
		}
		all[item.Path] = value
	}
	return all, nil
}

// token requests a token that is bound to the Pod. An existing one is renewed after four fifths of its validity.
func (p *pod) token(ctx context.Context, v *corev1.ServiceAccountTokenProjection, path string) (
	map[string][]byte, error,
) {
	life := time.Duration(*v.ExpirationSeconds) * time.Second
	if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < life*4/5 {
		return nil, nil
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: v.ExpirationSeconds},
	}
	if v.Audience != "" {
		request.Spec.Audiences = []string{v.Audience}
	}
	if !p.unapplied {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			Kind: "Pod", APIVersion: "v1", Name: p.spec.Name, UID: p.spec.UID,
		}
	}
	accounts := p.options.Clients.CoreV1().ServiceAccounts(p.spec.Namespace)
	answer, err := accounts.CreateToken(ctx, p.spec.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token of ServiceAccount %s: %w", p.spec.Spec.ServiceAccountName, err)
	}
	return map[string][]byte{v.Path: []byte(answer.Status.Token)}, nil
}

func (p *pod) kubeconfig() string { return filepath.Join(p.folder, "kubeconfig") }

// writeKubeconfig writes a kubeconfig with the mounted token, and the address and CA by which the admin connects: the
// mounted CA need not be that of an existing cluster's address.
func (p *pod) writeKubeconfig() error {
	if _, err := os.Stat(p.kubeconfig()); err == nil || p.options.Unpack != nil {
		return nil // a confined process finds its token where every Pod does
	}
	admin, account := p.options.Admin, p.path(accountPath)
	if _, err := os.Stat(account); err != nil {
		return nil //nolint:nilerr // it has no token, and so no business with the API server
	}
	c := clientcmdapi.NewConfig()
	c.Clusters[Name] = &clientcmdapi.Cluster{
		Server: admin.Host, CertificateAuthorityData: admin.CAData, CertificateAuthority: admin.CAFile,
		InsecureSkipTLSVerify: admin.Insecure, TLSServerName: admin.ServerName,
	}
	c.AuthInfos[Name] = &clientcmdapi.AuthInfo{TokenFile: filepath.Join(account, "token")}
	c.Contexts[Name] = &clientcmdapi.Context{Cluster: Name, AuthInfo: Name, Namespace: p.spec.Namespace}
	c.CurrentContext = Name
	return clientcmd.WriteToFile(*c, p.kubeconfig())
}
