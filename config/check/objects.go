package check

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/config/policy"
	"github.com/portico-platform/portico/config/rbac"
)

// Names are those of an installation's namespaces.
type Names struct {
	Namespace string // of operator and portal; "": portico-system
	Gateways  string // of the shared Gateways; "": portico-gateways
}

// What the files in config are written for.
const (
	defaultNamespace = "portico-system"
	defaultGateways  = "portico-gateways"
)

func (n Names) namespace() string { return cmp.Or(n.Namespace, defaultNamespace) }

type object = unstructured.Unstructured

// crds returns the CustomResourceDefinitions of this version.
func (n Names) crds() ([]*object, error) { return n.read(crd.Files, "bases") }

// policies returns the admission policies of this version, and their bindings.
func (n Names) policies() ([]*object, error) { return n.read(policy.Files, ".") }

// rights returns the ServiceAccounts and roles of this version, and what else config/rbac holds.
func (n Names) rights() ([]*object, error) { return n.read(rbac.Files, ".") }

// read returns the objects of a folder's YAML files, for the namespaces of the installation.
func (n Names) read(files fs.FS, folder string) ([]*object, error) {
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	ours := strings.NewReplacer(
		defaultNamespace, n.namespace(),
		defaultGateways, cmp.Or(n.Gateways, defaultGateways),
	)
	var all []*object
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		some, err := decode([]byte(ours.Replace(string(text))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// decode reads the documents of a YAML file as the API server would send them.
func decode(text []byte) ([]*object, error) {
	var all []*object
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := yaml.YAMLToJSON(document)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(content, []byte("null")) {
			continue // nothing but comments
		}
		o := &object{}
		if err := o.UnmarshalJSON(content); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
}
