package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/samples"
	"github.com/portico-platform/portico/test/stack"
)

const (
	namespace = "payments"
	config    = "test/fuzz/schemathesis.toml"
	// patience is what a run may take after its time is up: requests under way end, and what was found is made smaller.
	patience = 2 * time.Minute
)

// senders are who sends requests: a developer all that there are, and who looks after the platform those that only such a
// role gets past authorization with.
var senders = []sender{
	{user: "payments-dev", share: 3},
	{user: "platform-admin", share: 1, paths: "/(awsproviders|poolgateways|domainclaims|hostnamegrants)"},
}

type sender struct {
	user  string
	share int    // of the time
	paths string // a regular expression; "" for all
}

// requests fuzzes the REST API of a portal that is there for nothing else.
func (j job) requests(ctx context.Context) (err error) {
	j.say("\n==> the REST API of a portal of its own, %s", j.rest)
	targets, err := stack.TargetsFor("fuzz")
	if err != nil {
		return err
	}
	if err := stack.Build(ctx, j.root, targets, j.out); err != nil {
		return err
	}
	s, err := stack.Start(ctx, stack.Options{
		Root: j.root, Parts: stack.Everything, Progress: j.out,
		PortalFlags: []string{"--api-rate", "0"}, // or most answers were 429
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.KeepLogs()
			err = fmt.Errorf("%w\nThe logs, those of the portal among them, are in %s", err, s.Dir)
		}
		err = errors.Join(err, s.Close())
	}()
	token, err := s.Token(ctx, senders[0].user)
	if err != nil {
		return err
	}
	if err := makeObjects(ctx, s.PortalURL, token); err != nil {
		return err
	}
	shares := 0
	for _, by := range senders {
		shares += by.share
	}
	for _, by := range senders {
		if err := j.send(ctx, s, by, j.rest*time.Duration(by.share)/time.Duration(shares)); err != nil {
			return err
		}
	}
	return nil
}

// send runs schemathesis for so long, and looks whether everything lives afterwards.
func (j job) send(ctx context.Context, s *stack.Stack, by sender, long time.Duration) error {
	token, err := s.Token(ctx, by.user)
	if err != nil {
		return err
	}
	j.say("\n==> as %s, %s", by.user, long)
	ctx, cancel := context.WithTimeout(ctx, long+patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(j.root, stack.Schemathesis), "--config-file", filepath.Join(j.root, config),
		"run", s.PortalURL+"/api/v1/openapi.json",
		"--seed", strconv.FormatUint(uint64(j.seed), 10), "--max-time", strconv.Itoa(int(long.Seconds())))
	if by.paths != "" {
		cmd.Args = append(cmd.Args, "--include-path-regex", by.paths)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.Dir, j.out, j.out
	cmd.Env = append(os.Environ(), "TOKEN="+token, "NO_PROXY=*", "PYTHONUNBUFFERED=1")
	err = cmd.Run()
	if died := s.Err(); died != nil {
		return died
	}
	if err != nil {
		return fmt.Errorf("schemathesis found something (%w): SEED=%d make fuzz sends the same requests again. To send one of them by hand, "+
			"start make run, put a token of %s into TOKEN as it says, and run the curl line above with -H \"Authorization: Bearer $TOKEN\" "+
			"and http://localhost:8080 in place of %s", err, j.seed, by.user, s.PortalURL)
	}
	return j.panics(filepath.Join(s.Dir, "portal.log"))
}

// panics fails if the portal's log tells of one: an answer that was begun is not taken back.
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

// name is that of an object of each kind that there is from the beginning; the configuration knows it.
const name = "fuzzed"

// makeObjects asks for one of each kind that teams request, as the sample has it.
func makeObjects(ctx context.Context, portal, token string) error {
	var catalog struct {
		Items []struct{ Kind, Resource string }
	}
	if err := call(ctx, http.MethodGet, portal+"/api/v1/catalog", token, nil, &catalog); err != nil {
		return err
	}
	for _, k := range catalog.Items {
		b, err := samples.Files.ReadFile(strings.ToLower(k.Kind) + ".yaml")
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(string(b), "\n---\n")
		object, err := yaml.YAMLToJSON([]byte(first))
		if err != nil {
			return err
		}
		var sample map[string]any
		if err := json.Unmarshal(object, &sample); err != nil {
			return err
		}
		sample["metadata"] = map[string]any{"name": name}
		if err := call(ctx, http.MethodPost, portal+"/api/v1/namespaces/"+namespace+"/"+k.Resource, token, sample, nil); err != nil {
			return err
		}
	}
	return nil
}

func call(ctx context.Context, method, url, token string, body, into any) error {
	sent, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return errors.Join(err, fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, b))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(b, into)
}
