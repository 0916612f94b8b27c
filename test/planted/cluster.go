package planted

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/crd"
)

// watchedPaths returns the paths of the resources that must never contain a secret.
func watchedPaths() ([]string, error) {
	kinds, err := crd.All()
	if err != nil {
		return nil, err
	}
	all := []string{
		"/api/v1/events", "/api/v1/configmaps", "/apis/coordination.k8s.io/v1/leases", "/apis/apps/v1/deployments",
		"/api/v1/services",
		"/api/v1/serviceaccounts",
	}
	for i := range kinds {
		all = append(all, "/apis/"+v1alpha1.GroupVersion.String()+"/"+kinds[i].Spec.Names.Plural)
	}
	return all, nil
}

// Watch stores every version of the objects of Portico's kinds and of what Portico creates for them, and plants the
// values of every Secret, until ctx ends. The returned function waits until the watches have ended.
func (s *Search) Watch(ctx context.Context, cfg *rest.Config) (wait func(), err error) {
	paths, err := watchedPaths()
	if err != nil {
		return nil, err
	}
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for _, path := range paths {
		all.Go(func() {
			follow(ctx, c, cfg.Host+path, func(o watched) { s.Write("objects", o.subject(path), string(o.Object)) })
		})
	}
	all.Go(func() { follow(ctx, c, cfg.Host+"/api/v1/secrets", s.learn) })
	return all.Wait, nil
}

// watched is an event of a watch.
type watched struct {
	Type   string
	Object json.RawMessage
}

func (w watched) subject(path string) string {
	var o struct {
		Metadata struct{ Namespace, Name string }
	}
	if err := json.Unmarshal(w.Object, &o); err != nil {
		return path
	}
	return fmt.Sprintf("%s %s/%s", path[strings.LastIndexByte(path, '/')+1:], o.Metadata.Namespace, o.Metadata.Name)
}

// again is the delay before a watch that ended is started again.
const again = 200 * time.Millisecond

// follow calls see for each event of a watch, and starts the watch again when it ends.
func follow(ctx context.Context, c *http.Client, url string, see func(watched)) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"?watch=true", http.NoBody)
		if err != nil {
			return
		}
		resp, err := c.Do(req)
		if err != nil {
			return // a test has stopped the API server
		}
		defer func() { _ = resp.Body.Close() }()
		for d := json.NewDecoder(bufio.NewReader(resp.Body)); resp.StatusCode == http.StatusOK; {
			var w watched
			if err := d.Decode(&w); err != nil {
				return
			}
			see(w)
		}
	}, again)
}

// private matches the keys of Secrets whose values are secret, open those of them that only look like it. Other values
// of a binding Secret, such as host and port, are in the status, too.
var (
	private = regexp.MustCompile(`(?i)pass|secret|token|^keys$|credential|private-?key`)
	open    = regexp.MustCompile(`(?i)arn$|name$`)
)

// learn plants the values of a Secret.
func (s *Search) learn(w watched) {
	var o struct {
		Metadata struct{ Namespace, Name string }
		Data     map[string][]byte
	}
	if err := json.Unmarshal(w.Object, &o); err != nil {
		return
	}
	for key, value := range o.Data {
		if private.MatchString(key) && !open.MatchString(key) {
			s.Plant(fmt.Sprintf("%s of Secret %s/%s", key, o.Metadata.Namespace, o.Metadata.Name), string(value))
		}
	}
}
