package pages

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/pods"
)

const (
	shop = `
apiVersion: portico.dev/v1alpha1
kind: WebApp
metadata: {name: shop, namespace: payments, generation: 4, creationTimestamp: "2026-11-09T12:00:00Z",
  annotations: {portico.dev/requested-by: "oidc:payments-dev"}, finalizers: [portico.dev/release]}
spec: {image: "registry.example.com/payments/shop:1.4.3", replicas: 3, port: 8080}
status: {observedGeneration: 4, replicas: 4, updatedReplicas: 1, availableReplicas: 2, availability: 2/3, url: "http://shop.payments.svc", image: "registry.example.com/payments/shop:1.4.2",
  revisions: [{revision: 3, image: "registry.example.com/payments/shop:1.4.3", created: "2026-11-21T11:50:00Z", available: 0},
    {revision: 2, image: "registry.example.com/payments/shop:1.4.2", created: "2026-11-20T12:00:00Z", available: 2},
    {revision: 4, image: "registry.example.com/payments/shop:1.4.0", created: "2026-11-12T12:00:00Z", available: 0, neverAvailable: true},
    {revision: 1, image: "registry.example.com/payments/shop@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", created: "2026-11-09T12:00:00Z", available: 0}],
  conditions: [{type: Ready, status: "False", reason: RolledOut, message: "1 of 3 Pods run the new version", lastTransitionTime: "2026-11-21T11:50:00Z"},
    {type: RolledOut, status: "False", reason: InProgress, message: "1 of 3 Pods run the new version", lastTransitionTime: "2026-11-21T11:50:00Z"},
    {type: Available, status: "True", reason: MinimumReplicasAvailable, message: "2 of 3 Pods serve", lastTransitionTime: "2026-11-21T11:50:00Z"},
    {type: Progressing, status: "True", reason: ReplicaSetUpdated, message: "told twice otherwise", lastTransitionTime: "2026-11-21T11:50:00Z"}]}
`
	readyPod = `
metadata: {name: shop-5d9-a, namespace: payments, creationTimestamp: "2026-11-20T12:00:00Z", labels: {portico.dev/webapp: shop}}
spec: {nodeName: node-1, containers: [{name: app, image: "registry.example.com/payments/shop:1.4.2"}]}
status: {phase: Running, conditions: [{type: PodScheduled, status: "True"}, {type: Ready, status: "True", lastTransitionTime: "2026-11-20T12:00:00Z"}],
  containerStatuses: [{name: app, image: x, imageID: x, ready: true, restartCount: 0, state: {running: {startedAt: "2026-11-20T12:00:00Z"}}}]}
`
	crashingPod = `
metadata: {name: shop-7f8-b, namespace: payments, creationTimestamp: "2026-11-21T11:50:00Z", labels: {portico.dev/webapp: shop}}
spec: {nodeName: node-2, containers: [{name: app, image: "registry.example.com/payments/shop:1.4.3"}, {name: proxy, image: "proxy:2"}], initContainers: [{name: migrate, image: "migrate:1"}]}
status: {phase: Running, conditions: [{type: PodScheduled, status: "True"}, {type: Ready, status: "False", reason: ContainersNotReady, message: "containers with unready status: [app]"}],
  initContainerStatuses: [{name: migrate, image: x, imageID: x, ready: true, restartCount: 0, state: {terminated: {exitCode: 0, reason: Completed}}}],
  containerStatuses: [{name: app, image: x, imageID: x, ready: false, restartCount: 7, state: {waiting: {reason: CrashLoopBackOff, message: "back-off 5m0s"}},
    lastState: {terminated: {exitCode: 1, reason: Error, message: "panic: no database", finishedAt: "2026-11-21T11:58:00Z"}}},
    {name: proxy, image: x, imageID: x, ready: true, restartCount: 0, state: {running: {}}}]}
`
	atShop  = "/teams/payments/webapps/shop"
	atPod   = atShop + "/pods/shop-7f8-b"
	podLogs = "GET / 200\n<script>steal()</script>\n\x1b[31mred\x1b[0m\n"
)

func shopSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := newFake(tb, shop)
	f.pods = []*corev1.Pod{f.pod(crashingPod), f.pod(readyPod)}
	f.podEvents = []*corev1.Event{
		event("shop-7f8-b", "BackOff", "Warning", "Back-off restarting failed container app", 0),
	}
	f.logs = func(pods.LogQuery) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(podLogs)), nil }
	return f
}

// autoscaled returns the same application with autoscaling.
func autoscaled(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := shopSite(tb)
	_ = unstructured.SetNestedMap(f.objects[0].Object,
		map[string]any{"min": int64(2), "max": int64(6), "targetCPU": int64(80)}, "spec", "autoscaling")
	return f
}

func TestPagesOfAnApplication(t *testing.T) {
	denied := func(rights ...string) func(testing.TB) *fakeCluster {
		return func(tb testing.TB) *fakeCluster {
			tb.Helper()
			f := shopSite(tb)
			f.denied = rights
			return f
		}
	}
	empty := func(tb testing.TB) *fakeCluster { tb.Helper(); return newFake(tb, shop) }
	logsAre := func(err error) func(testing.TB) *fakeCluster {
		return func(tb testing.TB) *fakeCluster {
			tb.Helper()
			f := shopSite(tb)
			f.logs = func(pods.LogQuery) (io.ReadCloser, error) { return nil, err }
			return f
		}
	}
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "shop-7f8-b")
	away := &failure.UnavailableError{Doing: "reading", Cause: errors.New("dial tcp 192.0.2.7:10250")}
	for name, c := range map[string]struct {
		site   func(testing.TB) *fakeCluster
		path   string
		status int
		shows  string
		hides  string
	}{
		"the Pods and how they are":                    {shopSite, atShop, 200, "Keeps crashing", ""},
		"the last words of one that crashed":           {shopSite, atShop, 200, "panic: no database", ""},
		"how it ended":                                 {shopSite, atShop, 200, "Exit code 1. Perhaps a liveness or startup probe failed. Kubernetes keeps restarting it", ""},
		"which Pods are of an old version":             {shopSite, atShop, 200, "old</small>", ""},
		"a version by its tag":                         {shopSite, atShop, 200, "<b>1.4.3</b>", ""},
		"a version by its digest":                      {shopSite, atShop, 200, "<b>sha256:0123456789ab</b>", ""},
		"how far the rollout is":                       {shopSite, atShop, 200, `<progress id="updated" max="3" value="1">1 of 3</progress>`, ""},
		"the address as a link":                        {servedAt("https://shop.example.com"), atShop, 200, `href="https://shop.example.com"`, ""},
		"no link to what the cluster alone can reach":  {shopSite, atShop, 200, `<code>http://shop.<wbr>payments.<wbr>svc</code>`, `href="http://shop`},
		"no step that another one tells":               {shopSite, atShop, 200, "2 of 3 Pods serve", "told twice otherwise</p>"},
		"a button's name for those who hear it":        {shopSite, atShop, 200, `aria-label="Roll back to revision 2, 1.4.2">Roll back</button>`, ""},
		"a link's name for those who hear it":          {shopSite, atPod, 200, `aria-label="Show the log of migrate">Show</a>`, ""},
		"no going back to what is asked for":           {shopSite, atShop, 200, `value="2"`, `name="revision" value="3"`},
		"no going back to what never served":           {shopSite, atShop, 200, "Never served", `name="revision" value="4"`},
		"versions that can be told apart as they move": {shopSite, atShop, 200, `<tr role="row" id="revision-2">`, ""},
		"no Pods":                                     {empty, atShop, 200, "There are no Pods.", ""},
		"Pods that may not be seen":                   {denied("list pods payments"), atShop, 200, "You are not allowed to see Pods here", "shop-7f8-b"},
		"no buttons without the right":                {denied("patch payments"), atShop, 200, "1 of 3", "<form id=\"scale\""},
		"no buttons that would do nothing":            {paused, atShop, 200, "Resume", `class="btn small"`},
		"no restart while it is paused":               {paused, atShop, 200, "Paused", "Restart…"},
		"no size to set while it is paused":           {paused, atShop, 200, "1 of 3", "<form id=\"scale\""},
		"no restart without the right":                {denied("patch payments"), atShop, 200, "Keeps crashing", "Restart…"},
		"asking for a restart without the right":      {denied("patch payments"), atShop + "/restart", 403, "You are not allowed to patch webapps", ""},
		"asking for a restart":                        {shopSite, atShop + "/restart", 200, "Restart shop?", ""},
		"asking to restart what does not exist":       {shopSite, "/teams/payments/webapps/none/restart", 404, "It does not exist", ""},
		"restarting what has no Pods":                 {shopSite, "/teams/payments/s3buckets/x/restart", 404, "Page not found", ""},
		"autoscaling in place of the number":          {autoscaled, atShop, 200, "Autoscaling decides: from 2 to 6 Pods by their CPU, now 3.", ""},
		"the number is shut then":                     {autoscaled, atShop, 200, `disabled aria-describedby="replicas-why"`, ""},
		"a Pod's containers":                          {shopSite, atPod, 200, "migrate:1", ""},
		"a Pod's events":                              {shopSite, atPod, 200, "Back-off restarting failed container app.", ""},
		"a Pod's conditions":                          {shopSite, atPod, 200, "Containers with unready status: [app].", ""},
		"a Pod whose events may not be seen":          {denied("list events payments"), atPod, 200, "You are not allowed to see events here", "Back-off restarting"},
		"a Pod that is not there":                     {shopSite, atShop + "/pods/none", 404, "This Pod does not exist or was deleted", ""},
		"a Pod of another application":                {empty, atPod, 404, "This Pod does not exist or was deleted", ""},
		"a Pod that may not be seen":                  {denied("list pods payments"), atPod, 403, "You are not allowed to list pods in namespace payments.", ""},
		"one that is not there, without the right":    {denied("list pods payments"), atShop + "/pods/none", 403, "You are not allowed to list pods in namespace payments.", ""},
		"a Pod of another team":                       {denied("* search"), "/teams/search/webapps/shop/pods/x", 403, "You are not allowed to get webapps in namespace search.", ""},
		"a Pod of a bucket":                           {shopSite, "/teams/payments/s3buckets/shop/pods/x", 404, "Page not found", ""},
		"a name that no Pod has":                      {shopSite, atShop + "/pods/%2e%2e", 404, "This Pod does not exist", ""},
		"a log":                                       {shopSite, atPod + "/logs", 200, "GET / 200\n&lt;script&gt;steal()&lt;/script&gt;\nred\n</pre>", "\x1b"},
		"a log without the right":                     {denied("get pods/log payments"), atPod + "/logs", 403, "You are not allowed to get pods/log in namespace payments.", "steal"},
		"a log of nobody, without the right":          {denied("get pods/log payments", "list pods payments"), atShop + "/pods/none/logs", 403, "You are not allowed to list pods", ""},
		"a log that is not there yet":                 {logsAre(notStarted()), atPod + "/logs", 200, "There is no log: container &#34;app&#34; in pod", ""},
		"a log of a Pod that went":                    {logsAre(gone), atPod + "/logs", 404, "This Pod does not exist", ""},
		"a log on a node that is away":                {logsAre(away), atPod + "/logs", 503, "The cluster does not answer", "192.0.2.7"},
		"a download":                                  {shopSite, atPod + "/logs/download", 200, "GET / 200\n<script>steal()</script>\nred\n", "\x1b"},
		"a download of what is not there yet":         {logsAre(notStarted()), atPod + "/logs/download", 409, "There is no log to download", ""},
		"a download without the right":                {denied("get pods/log payments"), atPod + "/logs/download", 403, "You are not allowed to get pods/log", "steal"},
		"a stream of a log without the right":         {denied("get pods/log payments"), atPod + "/logs/live", 403, "", "steal"},
		"a stream of a Pod without the right":         {denied("list pods payments"), atPod + "/live", 403, "", "shop-7f8-b</b>"},
		"why a download fails, and no empty file":     {shopSite, atPod + "/logs", 200, ">Download</a>", " download>"},
		"choosing the run before, where there is one": {shopSite, atPod + "/logs", 200, `name="previous"`, ""},
		"no choice of a run that never was":           {shopSite, atShop + "/pods/shop-5d9-a/logs", 200, "Timestamps", `name="previous"`},
		"no following of a run that has ended":        {shopSite, atPod + "/logs?previous=true", 200, "GET / 200", "hx-sse:connect"},
		"the containers to choose from, ours in front": {
			shopSite, atPod + "/logs", 200,
			`<option value="app" selected>app</option><option value="proxy">proxy</option><option value="migrate">migrate</option>`, "",
		},
		"an address that is none is no link":          {servedAt("javascript:steal()"), atShop, 200, "javascript:steal()", `href="javascript`},
		"no state of an application on others' pages": {shopSite, "/teams/payments", 200, "shop", "Rollout and size"},
		"an application that is gone":                 {shopSite, "/teams/payments/webapps/none/pods/x", 404, "It does not exist", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, c.path)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
}

func paused(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := shopSite(tb)
	f.objects[0].SetAnnotations(map[string]string{"portico.dev/paused": "true"})
	return f
}

func servedAt(url string) func(testing.TB) *fakeCluster {
	return func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := shopSite(tb)
		_ = unstructured.SetNestedField(f.objects[0].Object, url, "status", "url")
		return f
	}
}

func TestADownloadIsAFileOfText(t *testing.T) {
	w := visit(t, shopSite(t), developer, atPod+"/logs/download?container=proxy")
	for name, want := range map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Content-Disposition": "attachment; filename=shop-7f8-b-proxy.log",
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store, no-transform",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWhichLogIsRead(t *testing.T) {
	for query, want := range map[string]pods.LogQuery{
		"":                            {Container: "app", Tail: 200},
		"?tail=50":                    {Container: "app", Tail: 50},
		"?tail=1000&timestamps=true":  {Container: "app", Tail: 1000, Timestamps: true},
		"?tail=999999":                {Container: "app", Tail: 200},
		"?tail=x&previous=true":       {Container: "app", Tail: 200, Previous: true},
		"?container=proxy":            {Container: "proxy", Tail: 200},
		"?container=../../etc":        {Container: "app", Tail: 200},
		"?container=none&previous=no": {Container: "app", Tail: 200},
	} {
		f := shopSite(t)
		visit(t, f, developer, atPod+"/logs"+query)
		want.Namespace, want.Pod = "payments", "shop-7f8-b"
		want.App = activity.Object{
			APIVersion: "portico.dev/v1alpha1", Kind: "WebApp", Namespace: "payments",
			Name: "shop", UID: "uid-shop",
		}
		if len(f.asked) != 1 || f.asked[0] != want {
			t.Errorf("%q reads %+v, want %+v", query, f.asked, want)
		}
	}
}

func TestChangesOfAnApplication(t *testing.T) {
	policy := apierrors.NewForbidden(schema.GroupResource{Group: "portico.dev", Resource: "webapps"}, "shop",
		errors.New("exceeded quota: pods"))
	with := func(change func(f *fakeCluster)) func(testing.TB) *fakeCluster {
		return func(tb testing.TB) *fakeCluster {
			tb.Helper()
			f := shopSite(tb)
			change(f)
			return f
		}
	}
	noRight := with(func(f *fakeCluster) { f.denied = []string{"patch payments"} })
	for name, c := range map[string]struct {
		site   func(testing.TB) *fakeCluster
		do     string
		form   url.Values
		status int
		words  string
		path   []string // path of the change in the object
		want   any
	}{
		"scaling":                           {shopSite, "/scale", url.Values{"replicas": {" 5 "}}, 303, "", []string{"spec", "replicas"}, int64(5)},
		"too many Pods, in our words":       {shopSite, "/scale", url.Values{"replicas": {"11"}}, 422, "Use 10 or less.", []string{"spec", "replicas"}, int64(3)},
		"too many Pods keep what was typed": {shopSite, "/scale", url.Values{"replicas": {"11"}}, 422, `value="11"`, nil, nil},
		"the input is marked":               {shopSite, "/scale", url.Values{"replicas": {"11"}}, 422, `aria-invalid="true"`, nil, nil},
		"no number":                         {shopSite, "/scale", url.Values{"replicas": {"many"}}, 422, "Write a whole number from 1 to 10.", nil, nil},
		"nothing":                           {shopSite, "/scale", nil, 422, "Write a whole number from 1 to 10.", nil, nil},
		"a number that is too long":         {shopSite, "/scale", url.Values{"replicas": {"99999999999999999999"}}, 422, "Write a whole number from 1 to 10.", nil, nil},
		"a hostile number":                  {shopSite, "/scale", url.Values{"replicas": {script}}, 422, "&lt;script&gt;", nil, nil},
		"a policy's words":                  {with(func(f *fakeCluster) { f.policy = policy }), "/scale", url.Values{"replicas": {"5"}}, 422, "Exceeded quota: pods.", nil, nil},
		"scaling against autoscaling":       {autoscaled, "/scale", url.Values{"replicas": {"5"}}, 422, "Autoscaling decides", []string{"spec", "replicas"}, int64(3)},
		"scaling without the right":         {noRight, "/scale", url.Values{"replicas": {"5"}}, 403, "You are not allowed to patch webapps in namespace payments.", nil, nil},
		"scaling what is gone":              {with(func(f *fakeCluster) { f.objects = nil }), "/scale", url.Values{"replicas": {"5"}}, 404, "It does not exist", nil, nil},
		"scaling while Kubernetes is away":  {with(func(f *fakeCluster) { f.down = true }), "/scale", url.Values{"replicas": {"5"}}, 503, "The cluster does not answer", nil, nil},
		"restarting":                        {shopSite, "/restart", nil, 303, "", []string{"metadata", "annotations", "portico.dev/restart-requested-at"}, "2026-11-21T12:00:00Z"},
		"restarting against a policy":       {with(func(f *fakeCluster) { f.policy = policy }), "/restart", nil, 422, "Exceeded quota: pods.", nil, nil},
		"restarting without the right":      {noRight, "/restart", nil, 403, "You are not allowed to patch webapps", nil, nil},
		"rolling back":                      {shopSite, "/rollback", url.Values{"revision": {"2"}}, 303, "", []string{"metadata", "annotations", "portico.dev/rollback"}, "2"},
		"rolling back to what is asked for": {
			shopSite, "/rollback",
			url.Values{"revision": {"3"}},
			422,
			"already the one you requested. Nothing was changed.",
			[]string{"metadata", "annotations", "portico.dev/rollback"},
			nil,
		},
		"rolling back to what is not kept": {
			shopSite, "/rollback",
			url.Values{"revision": {"77"}},
			422,
			"does not keep this version any more",
			[]string{"metadata", "annotations", "portico.dev/rollback"},
			nil,
		},
		"rolling back to what never served": {
			shopSite, "/rollback",
			url.Values{"revision": {"4"}},
			422,
			"This version never served: none of its replicas became available. Nothing was changed.",
			[]string{"metadata", "annotations", "portico.dev/rollback"},
			nil,
		},
		"rolling back to no number":      {shopSite, "/rollback", url.Values{"revision": {script}}, 422, "does not keep this version any more", nil, nil},
		"rolling back without the right": {noRight, "/rollback", url.Values{"revision": {"2"}}, 403, "You are not allowed to patch webapps", nil, nil},
		"a refusal survives the first update": {
			shopSite, "/scale",
			url.Values{"replicas": {"11"}},
			422,
			`id="scale" class="field" method="post" action="` + atShop + `/scale" hx-morph-skip="true"`, nil, nil,
		},
		"a refused version is what is read":     {shopSite, "/rollback", url.Values{"revision": {"77"}}, 422, `<p class="err pad" tabindex="-1" autofocus>`, nil, nil},
		"a refused version survives the update": {shopSite, "/rollback", url.Values{"revision": {"77"}}, 422, `id="versions-error" role="alert" hx-morph-skip="true"`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.site(t)
			w := post(t, f, atShop+c.do, c.form)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.words) {
				t.Errorf("answers %d, want %d with %q:\n%s", w.Code, c.status, c.words, w.Body)
			}
			if strings.Contains(w.Body.String(), "<script>steal") {
				t.Error("what was typed is markup")
			}
			if c.path != nil {
				got, _, _ := unstructured.NestedFieldNoCopy(f.objects[0].Object, c.path...)
				if got != c.want {
					t.Errorf("%v is %v, want %v", c.path, got, c.want)
				}
			}
		})
	}
	if w := post(t, shopSite(t), "/teams/payments/s3buckets/x/restart", nil); w.Code != http.StatusNotFound {
		t.Errorf("restarting a bucket answers %d", w.Code)
	}
}

// TestHostilePods: a Pod's status is rendered as text.
func TestHostilePods(t *testing.T) {
	f := shopSite(t)
	bad := f.pods[0]
	bad.Spec.NodeName, bad.Spec.Containers[0].Image = script, script+":"+breaks
	bad.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message = script + breaks
	bad.Status.ContainerStatuses[0].LastTerminationState.Terminated.Reason = script
	bad.Status.Conditions = append(bad.Status.Conditions, corev1.PodCondition{
		Type: script, Status: "False",
		Message: breaks, LastTransitionTime: metav1.Time{Time: noon},
	})
	f.podEvents[0].Message = script + breaks
	f.logs = func(pods.LogQuery) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("</pre>" + script + breaks + "\r\n" + strings.Repeat(script, 2000) +
			"\n")), nil
	}
	for _, path := range []string{atShop, atPod, atPod + "/logs"} {
		w := visit(t, f, developer, path)
		if found := unsafe.FindString(w.Body.String()); w.Code != 200 || found != "" ||
			!strings.Contains(w.Body.String(), "&lt;script&gt;") {
			t.Errorf("%s answers %d and shows %q", path, w.Code, found)
		}
	}
}
