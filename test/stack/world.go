package stack

import (
	"context"
	"embed"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Namespace is where the operator and the portal live, and the Secrets of
// AWSProviders.
const Namespace = "portico-system"

// Provider is the sample AWSProvider, which the sample namespaces may use.
const Provider = "aws-local"

// configFolders, under Root, are what every installation gets.
var configFolders = []string{"config/crd/bases", "config/rbac", "config/policy"}

//go:embed samples/*.yaml
var samples embed.FS

// applyWorld fills the cluster: what every installation gets, then two teams'
// namespaces, the sample users' roles in them, and a provider.
func (s *Stack) applyWorld(ctx context.Context) error {
	began := time.Now()
	objects, err := s.world()
	if err != nil {
		return err
	}
	if err := ApplyObjects(ctx, s.Admin, objects...); err != nil {
		return err
	}
	if err := s.awaitAdmission(ctx); err != nil {
		return err
	}
	s.say("%-24s applied after %.1f s", "CRDs, RBAC and samples", time.Since(began).Seconds())
	return nil
}

func (s *Stack) world() ([]*unstructured.Unstructured, error) {
	var present []string
	for _, folder := range configFolders {
		if files, _ := filepath.Glob(filepath.Join(s.opts.Root, folder, "*.yaml")); len(files) > 0 {
			present = append(present, folder)
		}
	}
	objects, err := ReadObjects(os.DirFS(s.opts.Root), present...)
	if err != nil {
		return nil, err
	}
	sampled, err := ReadObjects(samples, "samples")
	if err != nil {
		return nil, err
	}
	objects = append(objects, sampled...)
	if s.opts.Parts.has(AWS) {
		objects = append(objects, s.providerObjects()...)
	}
	return objects, nil
}

// providerObjects are the sample AWSProvider and its Secret. The endpoint is
// known before anything answers there.
func (s *Stack) providerObjects() []*unstructured.Unstructured {
	endpoint := s.opts.AWSEndpoint
	if endpoint == "" {
		endpoint = "http://" + address(s.ports.awsOperator)
	}
	reference := func(key string) object { return object{"name": Provider, "key": key} }
	return []*unstructured.Unstructured{
		{Object: object{
			"apiVersion": "v1", "kind": "Secret", "metadata": object{
				"name": Provider, "namespace": Namespace, "labels": object{v1alpha1.LabelSecretType: v1alpha1.SecretTypeAWSCredentials},
			},
			"stringData": object{
				"accessKeyID": s.opts.AWSCredentials.AccessKeyID, "secretAccessKey": s.opts.AWSCredentials.SecretAccessKey,
			},
		}},
		{Object: object{
			"apiVersion": "portico.dev/v1alpha1", "kind": "AWSProvider", "metadata": object{"name": Provider},
			"spec": object{
				"region":             Region,
				"endpoint":           endpoint,
				"accessKeyIDRef":     reference("accessKeyID"),
				"secretAccessKeyRef": reference("secretAccessKey"),
				"allowedNamespaces":  object{"matchLabels": object{"portico.dev/aws": "allowed"}},
			},
		}},
	}
}
