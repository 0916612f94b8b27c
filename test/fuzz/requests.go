package fuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/samples"
	"github.com/portico-platform/portico/test/campaign"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/build"
)

const (
	namespace = "payments"
	config    = "test/fuzz/schemathesis.toml"
	// patience is how much longer than its time a run can take: requests in flight end, and failing input is minimised.
	patience = 2 * time.Minute
)

// senders are the users that send requests: a developer, who sends all of them, and a platform admin, who sends those
// that only that role is authorised for.
var senders = []sender{
	{user: "payments-dev", share: 3},
	{user: "platform-admin", share: 1, paths: "/(awsproviders|poolgateways|domainclaims|hostnamegrants)"},
}

type sender struct {
	user  string
	share int    // of the total time
	paths string // a regular expression; "" matches all
}

// requests fuzzes the REST API of a separate portal.
func (j job) requests(ctx context.Context) error {
	j.say("\n==> the REST API of a portal of its own, %s", j.rest)
	targets, err := build.For("fuzz", os.Getenv)
	if err != nil {
		return err
	}
	if err := build.Build(ctx, j.root, targets, j.out); err != nil {
		return err
	}
	return j.run.In(ctx, stack.Options{
		Parts:          stack.Everything,
		PortalSettings: map[string]string{"api-rate": "0"}, // otherwise most responses would be 429
	}, j.sendAll)
}

// sendAll makes objects, and then sends the requests of all users, even if those of the first find a fault.
func (j job) sendAll(ctx context.Context, w *campaign.World) error {
	if err := makeObjects(ctx, w.Stack); err != nil {
		return err
	}
	shares := 0
	for _, by := range senders {
		shares += by.share
	}
	var found error
	for _, by := range senders {
		found = errors.Join(found, j.send(ctx, w, by, j.rest*time.Duration(by.share)/time.Duration(shares)))
		if ctx.Err() != nil {
			return found
		}
	}
	return errors.Join(found, j.panics(filepath.Join(w.Dir, "portal.log")))
}

// send runs schemathesis for the given time.
func (j job) send(ctx context.Context, w *campaign.World, by sender, long time.Duration) error {
	token, err := w.Token(ctx, by.user)
	if err != nil {
		return err
	}
	j.say("\n==> as %s, %s", by.user, long)
	args := []string{
		"--config-file", filepath.Join(j.root, config), "run", w.PortalURL + "/api/v1/openapi.json",
		"--seed", strconv.FormatUint(uint64(j.seed), 10), "--max-time", strconv.Itoa(int(long.Seconds())),
	}
	if by.paths != "" {
		args = append(args, "--include-path-regex", by.paths)
	}
	bounded, cancel := context.WithTimeout(ctx, long+patience)
	defer cancel()
	cmd := j.command(bounded, w.Dir, filepath.Join(j.root, build.Schemathesis), args...)
	cmd.Env = append(os.Environ(), "TOKEN="+token, "NO_PROXY=*", "PYTHONUNBUFFERED=1")
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil // what cancelled it, or ended by itself, is reported once
	case bounded.Err() != nil:
		return fmt.Errorf("schemathesis, as %s, did not end %s after its time was up: a request of those above "+
			"hangs, or the machine is busy", by.user, patience)
	}
	return j.judge(err, by, w.PortalURL)
}

// judge interprets the exit status of schemathesis: 1 means that it found a fault.
func (j job) judge(err error, by sender, portal string) error {
	failed, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case !ended || failed.ExitCode() != 1:
		return fmt.Errorf("schemathesis, as %s, did not do its work (%w): what it said is above", by.user, err)
	}
	return fmt.Errorf("schemathesis found something, as %s: FAILURES above says what, a curl line each. SEED=%d make "+
		"fuzz sends the same requests again. To send one of them by hand, start make run, put a token of %s into "+
		"TOKEN as it says, and run the curl line with "+
		"-H \"Authorization: Bearer $TOKEN\" and http://localhost:8080 in place of %s", by.user, j.seed, by.user,
		portal)
}

// panics fails if the portal's log contains a panic. A panic after the response has begun does not show in the
// response.
func (j job) panics(log string) error {
	b, err := os.ReadFile(filepath.Clean(log))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "msg=panic") {
			return fmt.Errorf("the portal's log tells of a panic: %s", line)
		}
	}
	return nil
}

// name is the name of the initial object of each kind, which the configuration of schemathesis uses.
const name = "fuzzed"

// makeObjects creates an object of each kind that teams request, and a provider, from the samples.
func makeObjects(ctx context.Context, s *stack.Stack) error {
	developer, err := s.Token(ctx, senders[0].user)
	if err != nil {
		return err
	}
	admin, err := s.Token(ctx, senders[1].user)
	if err != nil {
		return err
	}
	var catalog struct {
		Items []struct{ Kind, Resource string }
	}
	api := s.PortalURL + "/api/v1/"
	if err := call(ctx, http.MethodGet, api+"catalog", developer, nil, &catalog); err != nil {
		return err
	}
	// A granted hostname also makes the platform create its objects.
	with := map[string]map[string]any{"GatewayHostnameRequest": {
		"hostname": "shop." + namespace + "." + stack.Domain, "zoneId": s.Zones[stack.Zone{Domain: stack.Domain}],
		"providerRef": map[string]any{"name": stack.Provider},
	}}
	for _, k := range catalog.Items {
		if err := makeObject(ctx, api+"namespaces/"+namespace+"/"+k.Resource, developer, k.Kind,
			with[k.Kind]); err != nil {
			return err
		}
	}
	return makeObject(ctx, api+"awsproviders", admin, "AWSProvider", nil)
}

// makeObject creates the sample of a kind, with the given fields changed.
func makeObject(ctx context.Context, url, token, kind string, with map[string]any) error {
	b, err := samples.Files.ReadFile(strings.ToLower(kind) + ".yaml")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(b), "\n---\n")
	sample := struct {
		Metadata map[string]any `json:"metadata"`
		Spec     map[string]any `json:"spec"`
	}{}
	if err := yaml.Unmarshal([]byte(first), &sample); err != nil {
		return err
	}
	sample.Metadata = map[string]any{"name": name}
	maps.Copy(sample.Spec, with)
	return call(ctx, http.MethodPost, url, token, sample, nil)
}

func call(ctx context.Context, method, url, token string, body, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	got, err := campaign.Send(ctx, http.DefaultClient, method, url, http.Header{"Authorization": {"Bearer " + token}},
		bytes.NewReader(sent))
	if err != nil || got.Status >= http.StatusBadRequest {
		return errors.Join(err, fmt.Errorf("%s %s: %d: %s", method, url, got.Status, got.Body))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(got.Body, into)
}
