package albsim

import (
	"html/template"
	"net/http"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// page is what the simulator shows by itself.
type page struct {
	Title, Text string
	Pod         *corev1.Pod
	Request     string
}

var pageTemplate = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>{{.Title}}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem 1rem .2rem 0;
vertical-align: top; overflow-wrap: anywhere; }
</style>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
{{with .Pod}}<table>
<tr><th>Pod<td>{{.Namespace}}/{{.Name}}
<tr><th>Status<td>{{.Status.Phase}}, on the node {{.Spec.NodeName}}
{{range .Spec.Containers}}<tr><th>Image<td>{{.Image}}
<tr><th>Environment<td>{{range .Env}}{{.Name}}<br>{{else}}none{{end}}{{end}}
<tr><th>Request<td>{{$.Request}}
</table>{{end}}
`))

// explain answers with a page that says what a load balancer's bare status means here.
func explain(w http.ResponseWriter, status int, title, text string) {
	show(w, status, page{Title: title, Text: strings.ToUpper(text[:1]) + text[1:] + "."})
}

// describe answers with a page about the Pod that would have got the request.
func (h *server) describe(w http.ResponseWriter, r *http.Request, to target) {
	pod := &corev1.Pod{}
	if err := h.kube.Get(r.Context(), to.pod, pod); err != nil {
		explain(w, http.StatusServiceUnavailable, "Service unavailable",
			"the Pod "+to.pod.String()+" is not there any more")
		return
	}
	show(w, http.StatusOK, page{
		Title: hostOf(r) + " leads here",
		Text: "DNS, certificate, load balancer and route are in place. Pods of this local cluster are simulated and " +
			"run nothing. With sudo make run NODE=real it would answer instead of this page.",
		Pod: pod, Request: r.Method + " " + r.URL.Path,
	})
}

func show(w http.ResponseWriter, status int, p page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.WriteHeader(status)
	_ = pageTemplate.Execute(w, p) // the client has gone
}
