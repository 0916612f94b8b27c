package pages

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/web/views"
)

// commands are ways to send the same request from elsewhere.
func (a asking) commands(text string, d draft, origin string) ([]views.Command, error) {
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("writing the commands: %w", err)
	}
	asYAML := views.Command{ID: "as-yaml", Title: "YAML", Text: text}
	if a.edit == nil {
		return []views.Command{
			asYAML,
			{ID: "as-kubectl", Title: "kubectl", Text: "kubectl create -f - <<'END'\n" + text + "END\n"},
			{ID: "as-curl", Title: "curl", Text: curl("POST", origin+apiPath(a.kind, a.space.namespace, ""), string(body))},
		}, nil
	}
	patch, err := mergePatch(a.edit.began.Object, d.object)
	if err != nil {
		return nil, err
	}
	return []views.Command{
		asYAML,
		{ID: "as-kubectl", Title: "kubectl", Text: "kubectl patch " + target(a.edit.ref) + " --type=merge --patch-file=/dev/stdin <<'END'\n" + patch + "\nEND\n"},
		{
			ID: "as-curl", Title: "curl",
			Text: curl("PUT", origin+apiPath(a.kind, a.space.namespace, a.edit.ref.Name), string(body), "If-Match: "+a.edit.began.ETag),
		},
	}, nil
}

// curl is a request with a JSON body.
func curl(method, address, body string, headers ...string) string {
	var b strings.Builder
	b.WriteString("curl -X " + method + " " + address + " \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n")
	for _, h := range headers {
		b.WriteString("  -H '" + h + "' \\\n")
	}
	b.WriteString("  -H 'Content-Type: application/json' \\\n  --data-binary @- <<'END'\n" + body + "\nEND\n")
	return b.String()
}

// apiPath is where the REST API has the objects of a kind, or the one of that name.
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

// target is how kubectl names the object.
func target(ref cluster.Ref) string {
	if ref.Kind.Namespaced {
		return ref.Kind.Plural + "/" + ref.Name + " -n " + ref.Namespace
	}
	return ref.Kind.Plural + "/" + ref.Name
}

// mergePatch is what makes b of a (RFC 7396), as users write them.
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

// reading is a request without a body.
func reading(address, flags string) string {
	return "curl " + flags + `-H "Authorization: Bearer $TOKEN" '` + address + "'"
}

// terminal are the commands that show the object elsewhere, and for those who may edit it the ones that change it.
func (p *Pages) terminal(ref cluster.Ref, obj *unstructured.Unstructured, mayEdit bool) ([]views.Command, error) {
	address := p.reach.Portal + apiPath(ref.Kind, ref.Namespace, ref.Name)
	all := []views.Command{
		{ID: "to-get", Title: "See it", Text: "kubectl get " + target(ref) + " -o yaml"},
		{ID: "to-wait", Title: "Wait until it is ready", Text: "kubectl wait --for=condition=Ready " + target(ref)},
		{ID: "to-read", Title: "See it over REST", Text: reading(address, "")},
		{ID: "to-follow", Title: "Follow it over REST", Text: reading(address+"?watch=true", "-N ")},
		{ID: "to-explain", Title: "What the fields mean", Text: "kubectl explain " + ref.Kind.Plural + ".spec"},
	}
	if !mayEdit {
		return all, nil
	}
	body, err := json.Marshal(catalog.Clean(obj).Object)
	if err != nil {
		return nil, fmt.Errorf("writing the commands: %w", err)
	}
	put := curl("PUT", address, string(body), "If-Match: "+cluster.ETag(obj))
	return append(all, views.Command{ID: "to-edit", Title: "Edit it", Text: "kubectl edit " + target(ref)},
		views.Command{ID: "to-put", Title: "Change it over REST, unless somebody else has", Text: put}), nil
}
