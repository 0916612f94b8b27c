// Package commands returns the shell commands that do the same as a page: for portico, kubectl and curl.
package commands

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// curl returns the curl command that sends body as JSON.
func curl(method, address, body string, headers ...string) string {
	var b strings.Builder
	b.WriteString("curl -X " + method + " " + address + " \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n")
	for _, h := range headers {
		b.WriteString("  -H '" + h + "' \\\n")
	}
	b.WriteString("  -H 'Content-Type: application/json' \\\n  --data-binary @- <<'END'\n" + body + "\nEND\n")
	return b.String()
}

// apiPath returns the REST API's path of a kind's objects, or of the object with that name if name is not empty.
func apiPath(k catalog.Kind, namespace, name string) string {
	path := "/api/v1/" + k.Plural
	if k.Namespaced {
		path = "/api/v1/namespaces/" + namespace + "/" + k.Plural
	}
	if name != "" {
		path += "/" + name
	}
	return path
}

// Target is the object that commands act on.
type Target struct {
	Kind      catalog.Kind
	Namespace string // "" for cluster-scoped kinds
	Name      string
}

// kubectl returns the object as an argument of kubectl, such as "s3buckets/reports -n payments".
func (t Target) kubectl() string {
	if t.Kind.Namespaced {
		return t.Kind.Plural + "/" + t.Name + " -n " + t.Namespace
	}
	return t.Kind.Plural + "/" + t.Name
}

// portico returns the object as an argument of portico, such as "bucket reports -n payments".
func (t Target) portico() string {
	if t.Kind.Namespaced {
		return t.Kind.Word() + " " + t.Name + " -n " + t.Namespace
	}
	return t.Kind.Word() + " " + t.Name
}

// apply returns the portico command that creates or updates an object from its YAML.
func apply(text string) views.Command {
	return views.Command{ID: "as-portico", Title: "portico", Text: "portico apply -f - <<'END'\n" + text + "END\n"}
}

// mergePatch returns the JSON merge patch (RFC 7396) from a to b, without the fields that the server sets.
func mergePatch(a, b *unstructured.Unstructured) (string, error) {
	from, err := json.Marshal(catalog.Clean(a).Object)
	if err != nil {
		return "", fmt.Errorf("writing the patch: %w", err)
	}
	to, err := json.Marshal(catalog.Clean(b).Object)
	if err != nil {
		return "", fmt.Errorf("writing the patch: %w", err)
	}
	patch, err := jsonpatch.CreateMergePatch(from, to)
	if err != nil {
		return "", fmt.Errorf("writing the patch: %w", err)
	}
	return string(patch), nil
}

// reading returns the curl command for a GET request. flags is empty or ends with a space.
func reading(address, flags string) string {
	return "curl " + flags + `-H "Authorization: Bearer $TOKEN" '` + address + "'"
}

// Create returns the commands that create an object from its YAML. portal is the portal's scheme and host.
func Create(k catalog.Kind, namespace, text, portal string) ([]views.Command, error) {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("writing the commands: %w", err)
	}
	return []views.Command{
		{ID: "as-yaml", Title: "YAML", Text: text},
		apply(text),
		{ID: "as-kubectl", Title: "kubectl", Text: "kubectl create -f - <<'END'\n" + text + "END\n"},
		{ID: "as-curl", Title: "curl", Text: curl("POST", portal+apiPath(k, namespace, ""), string(body))},
	}, nil
}

// Edit returns the commands that change an object from was to now. text is now as YAML, and etag the ETag of was.
func Edit(t Target, etag string, was, now *unstructured.Unstructured, text, portal string) ([]views.Command, error) {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("writing the commands: %w", err)
	}
	patch, err := mergePatch(was, now)
	if err != nil {
		return nil, err
	}
	return []views.Command{
		{ID: "as-yaml", Title: "YAML", Text: text},
		apply(text),
		{ID: "as-kubectl", Title: "kubectl", Text: "kubectl patch " + t.kubectl() + " --type=merge --patch-file=/dev/stdin <<'END'\n" + patch + "\nEND\n"},
		{ID: "as-curl", Title: "curl", Text: curl("PUT", portal+apiPath(t.Kind, t.Namespace, t.Name), string(body), "If-Match: "+etag)},
	}, nil
}

// Show returns the commands that show the object outside the portal. portal is the portal's scheme and host.
func Show(t Target, portal string) []views.Command {
	address := portal + apiPath(t.Kind, t.Namespace, t.Name)
	return []views.Command{
		{ID: "to-get", Title: "See it", Text: "portico get " + t.portico() + " -o yaml"},
		{ID: "to-wait", Title: "Wait until it is ready", Text: "portico wait " + t.portico()},
		{ID: "to-explain", Title: "What the fields mean", Text: "portico kinds " + t.Kind.Word()},
		{ID: "to-kubectl", Title: "The same with kubectl", Text: strings.Join([]string{
			"kubectl get " + t.kubectl() + " -o yaml", "kubectl wait --for=condition=Ready " + t.kubectl(),
			"kubectl explain " + t.Kind.Plural + ".spec",
		}, "\n")},
		{ID: "to-read", Title: "See it over REST", Text: reading(address, "")},
		{ID: "to-follow", Title: "Follow it over REST", Text: reading(address+"?watch=true", "-N ")},
	}
}

// Change returns the commands that change the object outside the portal. etag is the ETag of obj.
func Change(t Target, etag string, obj *unstructured.Unstructured, portal string) ([]views.Command, error) {
	body, err := json.Marshal(catalog.Clean(obj).Object)
	if err != nil {
		return nil, fmt.Errorf("writing the commands: %w", err)
	}
	put := curl("PUT", portal+apiPath(t.Kind, t.Namespace, t.Name), string(body), "If-Match: "+etag)
	return []views.Command{
		{ID: "to-edit", Title: "Edit it", Text: "portico edit " + t.portico()},
		{ID: "to-kubectl-edit", Title: "Edit it with kubectl", Text: InEditor(t)},
		{ID: "to-put", Title: "Change it over REST, unless somebody else has", Text: put},
	}, nil
}

// InEditor returns the kubectl command that opens the object in an editor.
func InEditor(t Target) string { return "kubectl edit " + t.kubectl() }
