package stack

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const clusterName = "portico-local"

// writeKubeconfigs sets Admin, AdminKubeconfig and Kubeconfig.
func (s *Stack) writeKubeconfigs() error {
	admin := s.kubeconfig("admin", "default", &clientcmdapi.AuthInfo{
		ClientCertificateData: s.pki.adminCertPEM, ClientKeyData: s.pki.adminKeyPEM,
	})
	s.AdminKubeconfig = filepath.Join(s.Dir, "admin.kubeconfig")
	if err := clientcmd.WriteToFile(*admin, s.AdminKubeconfig); err != nil {
		return err
	}
	everyone := admin.DeepCopy()
	everyone.Clusters[clusterName].Server = "https://" + s.forPeople(s.ports.apiserver)
	for _, user := range Users {
		cert, key, err := s.pki.client(user.KubernetesName(), user.kubernetesGroups()...)
		if err != nil {
			return err
		}
		theirs := s.kubeconfig(user.Name, user.Namespace, &clientcmdapi.AuthInfo{
			ClientCertificateData: cert, ClientKeyData: key,
		})
		everyone.AuthInfos[user.Name] = theirs.AuthInfos[user.Name]
		everyone.Contexts[user.Name] = theirs.Contexts[user.Name]
	}
	// The default context is a developer's.
	everyone.CurrentContext = Users[0].Name
	s.Kubeconfig = filepath.Join(s.Dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*everyone, s.Kubeconfig); err != nil {
		return err
	}
	var err error
	s.Admin, err = restConfig(admin, "admin")
	return err
}

func (s *Stack) kubeconfig(user, namespace string, auth *clientcmdapi.AuthInfo) *clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	c.Clusters[clusterName] = &clientcmdapi.Cluster{
		Server: "https://" + s.address(s.ports.apiserver), CertificateAuthorityData: s.pki.caPEM,
	}
	c.AuthInfos[user] = auth
	c.Contexts[user] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: user, Namespace: namespace}
	c.CurrentContext = user
	return c
}

// restConfig returns the client configuration of a context without a client-side rate limit, which would only slow
// down tests.
func restConfig(c *clientcmdapi.Config, context string) (*rest.Config, error) {
	cfg, err := clientcmd.NewNonInteractiveClientConfig(*c, context, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	return cfg, nil
}

// UserConfig returns the client configuration of a sample user, or of "admin", with a client certificate. An external
// cluster has no such users: there it is an error.
func (s *Stack) UserConfig(name string) (*rest.Config, error) {
	c, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		return nil, err
	}
	if c.Contexts[name] == nil {
		return nil, fmt.Errorf("no context %q in %s", name, s.Kubeconfig)
	}
	return restConfig(c, name)
}

// tokenLife is longer than anybody keeps make run running.
const tokenLife = 30 * 24 * 60 * 60

// ServiceAccountConfig returns the client configuration of a ServiceAccount, with a token of the TokenRequest API:
// for a test that runs the operator in its own process with the permissions that it has in production.
func (s *Stack) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	clients, err := kubernetes.NewForConfig(s.Admin)
	if err != nil {
		return nil, err
	}
	life := int64(tokenLife)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &life}}
	token, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("token for ServiceAccount %s/%s: %w", namespace, name, err)
	}
	cfg := rest.AnonymousClientConfig(s.Admin)
	cfg.QPS = -1
	cfg.BearerToken = token.Status.Token
	return cfg, nil
}

// ServiceAccountKubeconfig writes the same to a file in Dir and returns its path: for a separate process.
func (s *Stack) ServiceAccountKubeconfig(ctx context.Context, namespace, name string) (string, error) {
	cfg, err := s.ServiceAccountConfig(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	c := clientcmdapi.NewConfig()
	c.Clusters[clusterName] = &clientcmdapi.Cluster{
		Server: cfg.Host, CertificateAuthorityData: cfg.CAData, CertificateAuthority: cfg.CAFile,
		InsecureSkipTLSVerify: cfg.Insecure, TLSServerName: cfg.ServerName,
	}
	c.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: cfg.BearerToken}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: clusterName, AuthInfo: name, Namespace: namespace}
	c.CurrentContext = name
	path := filepath.Join(s.Dir, name+".kubeconfig")
	return path, clientcmd.WriteToFile(*c, path)
}

// Contexts returns the names of the contexts in Kubeconfig, the current one first.
func (s *Stack) Contexts() ([]string, error) {
	c, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		return nil, err
	}
	names := []string{c.CurrentContext}
	for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
		if name != c.CurrentContext {
			names = append(names, name)
		}
	}
	return names, nil
}
