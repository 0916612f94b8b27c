// Package manifests reads the objects of an installation without Helm.
package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const (
	// Default is the kustomization of an installation without Helm, under the root of the repository.
	Default = "config/default"

	file = "Kustomization"
)

// kustomization has the fields that the kustomizations in config use.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Labels     []struct {
		Pairs map[string]string `json:"pairs"`
	} `json:"labels"`
	Annotations map[string]string `json:"commonAnnotations"`
}

// Read returns the objects of a kustomization in config, in the order of its resources, as kubectl kustomize renders
// them. A field that no kustomization in config uses is an error.
func Read(root fs.FS, folder string) ([]*unstructured.Unstructured, error) {
	text, err := fs.ReadFile(root, path.Join(folder, file))
	if err != nil {
		return nil, err
	}
	var k kustomization
	if err := yaml.UnmarshalStrict(text, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", path.Join(folder, file), err)
	}
	var all []*unstructured.Unstructured
	for _, resource := range k.Resources {
		read := Read
		if path.Ext(resource) == ".yaml" {
			read = ReadFile
		}
		some, err := read(root, path.Join(folder, resource))
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for _, o := range all {
		for _, more := range k.Labels {
			o.SetLabels(over(o.GetLabels(), more.Pairs))
		}
		if len(k.Annotations) > 0 {
			o.SetAnnotations(over(o.GetAnnotations(), k.Annotations))
		}
	}
	return all, nil
}

// over returns a map with the values of more, and those of all that more lacks.
func over(all, more map[string]string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	return all
}

// ReadFile returns the objects of a YAML file.
func ReadFile(root fs.FS, name string) ([]*unstructured.Unstructured, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}
