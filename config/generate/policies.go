package main

import (
	"bytes"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

type yamlObject = map[string]any

// admission is a ValidatingAdmissionPolicy for one resource, and its binding.
type admission struct {
	name            string
	group, resource string
	scope           string
	conditions      []yamlObject // its matchConditions
	variables       []yamlObject
	validations     []yamlObject
}

// objects returns the policy, and a binding with the action Deny.
func (a admission) objects() (policy, binding yamlObject) {
	meta := yamlObject{"name": a.name, "labels": yamlObject{nameLabel: "portico"}}
	policy = yamlObject{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": meta,
		"spec": yamlObject{
			"failurePolicy": "Fail",
			"matchConstraints": yamlObject{
				"matchPolicy": "Equivalent", "namespaceSelector": yamlObject{}, "objectSelector": yamlObject{},
				"resourceRules": []yamlObject{{
					"apiGroups": []string{a.group}, "apiVersions": []string{"*"}, "operations": []string{"CREATE", "UPDATE"},
					"resources": []string{a.resource}, "scope": a.scope,
				}},
			},
			"matchConditions": a.conditions, "variables": a.variables, "validations": a.validations,
		},
	}
	binding = yamlObject{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta,
		"spec": yamlObject{"policyName": a.name, "validationActions": []string{"Deny"}},
	}
	return policy, binding
}

// named returns the variables of a policy from pairs of name and expression.
func named(pairs [][2]string) (all []yamlObject) {
	for _, p := range pairs {
		all = append(all, yamlObject{"name": p[0], "expression": p[1]})
	}
	return all
}

// writeYAML writes the objects to a file of the tree, below a comment. It does not write an unchanged file.
func writeYAML(root, file, comment string, objects []yamlObject) error {
	out := bytes.NewBufferString(comment)
	for i, obj := range objects {
		if i > 0 {
			out.WriteString("---\n")
		}
		doc, err := yaml.Marshal(obj)
		if err != nil {
			return err
		}
		out.Write(doc)
	}
	path := filepath.Join(root, file)
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, out.Bytes()) { //nolint:gosec // a file of the tree
		return nil
	}
	return os.WriteFile(path, out.Bytes(), 0o644) //nolint:gosec // a file of the tree
}
