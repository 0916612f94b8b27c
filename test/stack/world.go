package stack

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Namespace is the namespace of the operator, the portal, and the Secrets of AWSProviders.
const Namespace = "portico-system"

// Provider is the sample AWSProvider, which the sample namespaces can use.
const Provider = "aws-local"

//go:embed samples/*.yaml
var samples embed.FS

// applyWorld applies the objects of the cluster: those of every installation, then two teams' namespaces, the sample
// users' roles in them, and a provider.
func (s *Stack) applyWorld(ctx context.Context) error {
	began := time.Now()
	if s.opts.Install != nil {
		if err := s.opts.Install(ctx, s); err != nil {
			return fmt.Errorf("install: %w", err)
		}
	}
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
	var objects []*unstructured.Unstructured
	if s.opts.Install == nil {
		var err error
		if objects, err = s.platform(); err != nil {
			return nil, err
		}
	}
	files := []string{"samples/namespaces.yaml", "samples/roles.yaml"}
	if !s.hasTeams() {
		files = append(files, "samples/members.yaml")
	}
	sampled, err := ReadObjects(samples, files...)
	if err != nil {
		return nil, err
	}
	objects = append(objects, sampled...)
	if s.opts.Parts.has(AWS) {
		objects = append(objects, s.providerObjects()...)
	}
	return objects, nil
}

// providerEndpoint returns the endpoint in the sample AWSProvider, which is known before the proxy starts.
func (s *Stack) providerEndpoint() string {
	return cmp.Or(s.opts.AWSEndpoint, "http://"+s.address(s.ports.awsOperator))
}

// providerObjects returns the sample AWSProvider and its Secret. With the stack's own AWS it assumes a role, so that
// the policies limit it.
func (s *Stack) providerObjects() []*unstructured.Unstructured {
	reference := func(key string) object { return object{"name": Provider, "key": key} }
	spec := object{
		"region":             Region,
		"endpoint":           s.providerEndpoint(),
		"accessKeyIDRef":     reference("accessKeyID"),
		"secretAccessKeyRef": reference("secretAccessKey"),
		"allowedNamespaces":  object{"matchLabels": object{"portico.dev/aws": "allowed"}},
	}
	if s.opts.AWSEndpoint == "" {
		spec["assumeRoleARN"] = RoleARN(AccountID)
	}
	if s.opts.WorkloadIdentity {
		spec["workloadIdentity"] = object{
			"mode":        string(v1alpha1.WorkloadIdentityPodIdentity),
			"clusterName": ClusterName, "boundaryARN": BoundaryARN(AccountID),
		}
	}
	return []*unstructured.Unstructured{
		{Object: object{
			"apiVersion": "v1", "kind": "Secret", "metadata": object{
				"name": Provider, "namespace": Namespace,
				"labels": object{v1alpha1.LabelSecretType: v1alpha1.SecretTypeAWSCredentials},
			},
			"stringData": object{
				"accessKeyID":     s.opts.AWSCredentials.AccessKeyID,
				"secretAccessKey": s.opts.AWSCredentials.SecretAccessKey,
			},
		}},
		{Object: object{
			"apiVersion": "portico.dev/v1alpha1", "kind": "AWSProvider", "metadata": object{"name": Provider},
			"spec": spec,
		}},
	}
}
