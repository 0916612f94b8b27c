package pages

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/pods"
)

const atLogs = atShop + "/logs"

// copiesSite returns an application with two Pods and their own logs.
func copiesSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := shopSite(tb)
	logs := map[string]string{
		"shop-7f8-b": "2026-11-21T12:00:01Z b first\n2026-11-21T12:00:03Z b <script>second</script>\n",
		"shop-5d9-a": "2026-11-21T12:00:02Z a between\n",
	}
	f.logs = func(q pods.LogQuery) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(logs[q.Pod])), nil
	}
	return f
}

func TestTheLogsOfAnApplication(t *testing.T) {
	with := func(change func(f *fakeCluster)) func(testing.TB) *fakeCluster {
		return func(tb testing.TB) *fakeCluster { tb.Helper(); f := copiesSite(tb); change(f); return f }
	}
	denied := func(rights ...string) func(testing.TB) *fakeCluster {
		return with(func(f *fakeCluster) { f.denied = rights })
	}
	failing := func(pod string, err error) func(testing.TB) *fakeCluster {
		return with(func(f *fakeCluster) {
			read := f.logs
			f.logs = func(q pods.LogQuery) (io.ReadCloser, error) {
				if pod == "" || q.Pod == pod {
					return nil, err
				}
				return read(q)
			}
		})
	}
	noPods := with(func(f *fakeCluster) { f.pods = nil })
	many := with(func(f *fakeCluster) {
		for range 12 {
			f.pods = append(f.pods, f.pods[1])
		}
	})
	away := &failure.UnavailableError{Doing: "reading", Cause: errors.New("dial tcp 192.0.2.7:10250")}
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "shop-7f8-b")
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		status       int
		shows, hides string
	}{
		"the lines of all copies by their time": {copiesSite, atLogs, 200, "\n[b] b first\n[a] a between\n[b] b &lt;script&gt;second&lt;/script&gt;\n</pre>", "12:00:01"},
		"with their timestamps":                 {copiesSite, atLogs + "?timestamps=true", 200, "[a] 2026-11-21T12:00:02Z a between", ""},
		"one replica":                           {copiesSite, atLogs + "?pod=shop-5d9-a", 200, "a between", "b first"},
		"the copies to choose from":             {copiesSite, atLogs, 200, `<option value="" selected>All replicas</option> <option value="shop-7f8-b">shop-7f8-b</option>`, ""},
		"the copy that was chosen":              {copiesSite, atLogs + "?pod=shop-5d9-a", 200, `<option value="shop-5d9-a" selected>`, ""},
		"the tab among the others":              {copiesSite, atLogs, 200, `<a href="/teams/payments/webapps/shop/logs" aria-current="page">`, ""},
		"the stream that follows all":           {copiesSite, atLogs, 200, `hx-sse:connect="/teams/payments/webapps/shop/logs/live?container=app&amp;tail=200"`, ""},
		"the stream that follows one":           {copiesSite, atLogs + "?pod=shop-5d9-a", 200, `logs/live?container=app&amp;pod=shop-5d9-a&amp;tail=200"`, ""},
		"the run before, of those that had one": {copiesSite, atLogs + "?previous=true", 200, "b first", "a between"},
		"no following of a run that has ended":  {copiesSite, atLogs + "?previous=true", 200, "b first", "hx-sse:connect"},
		"no copies":                             {noPods, atLogs, 200, "No logs yet: no replica has started.", ""},
		"copies that have not started":          {failing("", notStarted()), atLogs, 200, "No logs yet: no replica has started. Replica b: There is no log: container &#34;app&#34;", ""},
		"one that has not started":              {failing("shop-7f8-b", notStarted()), atLogs, 200, "a between", "Without"},
		"one that went just now":                {failing("shop-7f8-b", gone), atLogs, 200, "a between", "Without"},
		"one on a node that is away":            {failing("shop-7f8-b", away), atLogs, 200, "Without b: Kubernetes does not give that log at the moment.", "192.0.2.7"},
		"all on nodes that are away":            {failing("", away), atLogs, 503, "The cluster does not answer", "192.0.2.7"},
		"a copy that is gone":                   {copiesSite, atLogs + "?pod=shop-5d9-old", 200, "The replica shop-5d9-old is gone. Choose another one.", "hx-sse:connect"},
		"a copy that is gone is no markup":      {copiesSite, atLogs + "?pod=%3Cscript%3E", 200, "The replica &lt;script&gt; is gone.", "<script>"},
		"more copies than are read":             {many, atLogs, 200, "The 10 newest of 14 replicas. Choose a replica to see another.", ""},
		"without the right on logs":             {denied("get pods/log payments"), atLogs, 403, "You are not allowed to get pods/log in namespace payments.", "b first"},
		"without the right on Pods":             {denied("list pods payments"), atLogs, 403, "You are not allowed to list pods in namespace payments.", "b first"},
		"a stream without the right":            {denied("get pods/log payments"), atLogs + "/live", 403, "", "b first"},
		"a stream without the right on Pods":    {denied("list pods payments"), atLogs + "/live", 403, "", "b first"},
		"a download of all":                     {copiesSite, atLogs + "/download", 200, "[b] b first\n[a] a between\n", ""},
		"a download of one":                     {copiesSite, atLogs + "/download?pod=shop-5d9-a", 200, "a between\n", "[a]"},
		"a download without the right":          {denied("get pods/log payments"), atLogs + "/download", 403, "You are not allowed to get pods/log", "b first"},
		"a download of what is not there yet":   {noPods, atLogs + "/download", 409, "There is no log to download", ""},
		"what has no logs":                      {copiesSite, "/teams/payments/s3buckets/invoices/logs", 404, "Page not found", ""},
		"an application that is gone":           {copiesSite, "/teams/payments/webapps/none/logs", 404, "It does not exist", ""},
		"no such tab of what runs in no Pods":   {busyBucket, "/teams/payments/s3buckets/invoices", 200, "Overview", ">Logs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, c.path)
			body := w.Body.String()
			if w.Code == 200 && !strings.HasSuffix(strings.SplitN(c.path, "?", 2)[0], "/download") {
				body = mainOf(t, body)
			}
			if w.Code != c.status {
				t.Errorf("status = %d, want %d", w.Code, c.status)
			}
			reads(t, body, c.shows, c.hides)
		})
	}
}

func busyBucket(tb testing.TB) *fakeCluster { tb.Helper(); return busySite(tb) }

func TestCopiesShareTheLinesThatAreRead(t *testing.T) {
	f := copiesSite(t)
	visit(t, f, developer, atLogs+"?tail=50")
	if len(f.asked) != 2 || f.asked[0].Tail != 25 || f.asked[1].Tail != 25 {
		t.Fatalf("read by %+v, want 25 lines of each of two", f.asked)
	}
	if !f.asked[0].Timestamps {
		t.Errorf("read by %+v, want timestamps", f.asked[0])
	}
}

// TestAllCopiesAreFollowed, including new Pods; one that ends does not end the others.
func TestAllCopiesAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := copiesSite(t)
		var mu sync.Mutex
		pipes := map[string]*io.PipeWriter{}
		f.logs = func(q pods.LogQuery) (io.ReadCloser, error) {
			r, w := io.Pipe()
			mu.Lock()
			defer mu.Unlock()
			pipes[q.Pod] = w
			return r, nil
		}
		write := func(pod, line string) {
			mu.Lock()
			w := pipes[pod]
			mu.Unlock()
			if w == nil {
				t.Fatalf("%s is not followed", pod)
			}
			_, _ = io.WriteString(w, line+"\n")
		}
		l := followAt(t, f, atLogs+"/live?tail=50")
		defer l.cancel()
		if got := l.next(); !strings.Contains(got, "No logs yet: no replica has started.") {
			t.Errorf("before the first line %q", got)
		}
		write("shop-7f8-b", "2026-11-21T12:00:05Z later")
		write("shop-5d9-a", "2026-11-21T12:00:04Z <b>earlier</b>")
		if got := l.next(); !strings.HasPrefix(got, "event: log-start\n"+fields("[a] <b>earlier</b>", "[b] later")) {
			t.Errorf("the first lines are %q", got)
		}
		f.mu.Lock()
		fresh := f.pods[1].DeepCopy()
		fresh.Name = "shop-5d9-c"
		f.pods = append([]*corev1.Pod{fresh}, f.pods...)
		f.mu.Unlock()
		f.publish(feed.Change{Kind: "webapps", Namespace: "payments", Name: "shop", Pods: true})
		l.next()
		write("shop-5d9-c", "2026-11-21T12:00:06Z new")
		if got := l.next(); !strings.Contains(got, "event: log\ndata: [c] new\n\n") {
			t.Errorf("of a copy that has come %q", got)
		}
		_ = pipes["shop-5d9-a"].Close()
		if got := l.next(); !strings.Contains(got, "Replica a: The log ends here: the container has ended.") ||
			strings.Contains(got, "event: finished") {
			t.Errorf("of a copy that has ended %q", got)
		}
		write("shop-7f8-b", "2026-11-21T12:00:07Z on")
		if got := l.next(); !strings.Contains(got, "data: [b] on\n") {
			t.Errorf("after that %q", got)
		}
	})
}
