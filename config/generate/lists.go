package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
)

// lists has the kinds, sorted by plural, and their IAM policies.
type lists struct {
	kinds    []apiextensionsv1.CustomResourceDefinition
	policies map[string]string // JSON, by kind in lower case
	// optional are the policies that admins can leave out, by kind in lower case: docs/iam/<kind>-<what>.json.
	optional map[string][]optionalPolicy
}

// optionalPolicy is a policy that is attached if the template's condition with its name is true.
type optionalPolicy struct{ name, text string }

func load(root string) (all lists, err error) {
	if all.kinds, err = crd.All(); err != nil {
		return all, err
	}
	all.policies, all.optional = map[string]string{}, map[string][]optionalPolicy{}
	for _, kind := range all.kinds {
		name := strings.ToLower(kind.Spec.Names.Kind)
		file := filepath.Join(root, "docs", "iam", name)
		if text, err := os.ReadFile(file + ".json"); err == nil { //nolint:gosec // a file of the tree
			all.policies[name] = strings.TrimSpace(string(text))
		}
		optional, err := filepath.Glob(file + "-*.json")
		if err != nil {
			return all, err
		}
		for _, path := range optional {
			text, err := os.ReadFile(path) //nolint:gosec // a file of the tree
			if err != nil {
				return all, err
			}
			what := strings.TrimSuffix(strings.TrimPrefix(path, file), ".json")
			all.optional[name] = append(all.optional[name],
				optionalPolicy{kind.Spec.Names.Kind + camelCase(what), strings.TrimSpace(string(text))})
		}
	}
	return all, nil
}

// camelCase converts -chosen-names to ChosenNames.
func camelCase(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(strings.TrimPrefix(name, "-"), "-") {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// sets are the sets of kinds for lists, by name.
var sets = map[string]func(*apiextensionsv1.CustomResourceDefinition) bool{
	"all": func(*apiextensionsv1.CustomResourceDefinition) bool { return true },
	"written": func(k *apiextensionsv1.CustomResourceDefinition) bool {
		return kinds.Of(k).Writers != v1alpha1.WritersPortico
	},
	"requested": kinds.Requested,
	"aws":       crd.OfAWS,
	"provided": func(k *apiextensionsv1.CustomResourceDefinition) bool {
		_, refers := crd.Spec(k).Properties["providerRef"]
		return refers && kinds.Requested(k)
	},
}

// names returns the plurals of a set such as "all", "requested/status" or "all but hostnamegrants", separated by
// commas. For "policies" it returns the quoted names of the kinds with an IAM policy, for "deployer roles" the names of
// the ClusterRoles of deployers that change single kinds.
func (l lists) names(what string) (string, error) {
	var names []string
	if what == deployerRoles {
		return strings.Join(deploy.Roles(), ", "), nil
	}
	if what == "policies" {
		for _, kind := range l.kinds {
			if name := strings.ToLower(kind.Spec.Names.Kind); l.policies[name] != "" {
				names = append(names, `"`+name+`"`)
			}
		}
		return strings.Join(names, ", "), nil
	}
	set, without, _ := strings.Cut(what, " but ")
	set, sub, isSub := strings.Cut(set, "/")
	in, ok := sets[set]
	if !ok {
		return "", fmt.Errorf("%q is no set of kinds", what)
	}
	for i := range l.kinds {
		name := l.kinds[i].Spec.Names.Plural
		if !in(&l.kinds[i]) || name == without {
			continue
		}
		if isSub {
			name += "/" + sub
		}
		names = append(names, name)
	}
	return strings.Join(names, ", "), nil
}

// text returns the content of a block.
func (l lists) text(what string) (string, error) {
	switch what {
	case "confirmed kinds":
		return l.confirmed(), nil
	case deployerRoles:
		return l.deployerRoles(), nil
	}
	var out strings.Builder
	for i := range l.kinds {
		name := l.kinds[i].Spec.Names.Kind
		file := strings.ToLower(name)
		policy, has := l.policies[file]
		switch {
		case what == "links":
			_, _ = fmt.Fprintf(&out, ", [%s](kinds/%s.md)", name, file)
		case what == "policies" && has:
			_, _ = fmt.Fprintf(&out, ", [%s](%s.json)", name, file)
		case what == "policy references" && has:
			_, _ = fmt.Fprintf(&out, "      - !Ref %sPolicy\n", name)
			for _, more := range l.optional[file] {
				_, _ = fmt.Fprintf(&out, "      - !If [%s, !Ref %sPolicy, !Ref \"AWS::NoValue\"]\n", more.name,
					more.name)
			}
		case what == "policy resources" && has:
			_, _ = fmt.Fprintf(&out, policyResource, name, "", name, indent(policy, "        "))
			for _, more := range l.optional[file] {
				_, _ = fmt.Fprintf(&out, policyResource, more.name, "    Condition: "+more.name+"\n", more.name,
					indent(more.text, "        "))
			}
		}
	}
	if out.Len() == 0 {
		return "", fmt.Errorf("%q is nothing that can be generated", what)
	}
	return strings.TrimPrefix(out.String(), ", "), nil
}

// confirmed returns the variable of an admission policy that is true for the kinds that hold data.
func (l lists) confirmed() string {
	var names []string
	for i := range l.kinds {
		if kinds.Of(&l.kinds[i]).Deletion.Confirmed {
			names = append(names, "'"+l.kinds[i].Spec.Names.Plural+"'")
		}
	}
	return "  - name: holding # data that a new one would not have\n    expression: \"request.resource.resource in [" +
		strings.Join(names, ", ") + "]\"\n"
}

// deployerRoles names the ClusterRoles of deployers that change single kinds.
const deployerRoles = "deployer roles"

// deployerRoles returns them.
func (l lists) deployerRoles() string {
	var roles []string
	for i := range l.kinds {
		if kinds.Requested(&l.kinds[i]) {
			names := l.kinds[i].Spec.Names
			roles = append(roles, fmt.Sprintf(deployerRole, deploy.RoleOf(names.Kind), names.Plural))
		}
	}
	return strings.Join(roles, "---\n")
}

// deployerRole is the format of such a role.
const deployerRole = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: %s
  labels: {app.kubernetes.io/name: portico, app.kubernetes.io/component: platform}
rules:
- apiGroups: [portico.dev]
  resources: [%s]
  verbs: [get, list, watch, create, update, patch, delete]
`

// policyResource is the format of a policy in a CloudFormation template. Its document is JSON, which is valid YAML.
const policyResource = `  %sPolicy:
    Type: AWS::IAM::ManagedPolicy
%s    Properties:
      Description: Portico, %s
      PolicyDocument:
%s

`

func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }
