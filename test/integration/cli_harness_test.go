//go:build integration

package integration

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/portico-platform/portico/test/stack"
)

// buildCLI and buildOperator build the programs that people run and that is deployed, each once.
var buildCLI, buildOperator = built("portico"), built("operator")

// built returns a function that builds a program of cmd as make does, to reuse its cache, and returns its path: in the
// run directory, which goes with the stack.
func built(name string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path, err := filepath.Abs(filepath.Join(world.Dir, "program-"+name))
		if err != nil {
			return "", err
		}
		cmd := exec.Command("go", "build", "-trimpath", "-o", path, "../../cmd/"+name)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", errors.New(string(out))
		}
		return path, nil
	})
}

// terminal is an environment for the command line, with its own folder and variables.
type terminal struct {
	t      *testing.T
	binary string
	dir    string
	env    []string
}

func newTerminal(t *testing.T, env ...string) *terminal {
	t.Helper()
	path, err := buildCLI()
	if err != nil {
		t.Fatal(err)
	}
	return &terminal{t: t, binary: path, dir: t.TempDir(), env: env}
}

func (c *terminal) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), c.binary, args...)
	cmd.Env = append([]string{"PORTICO_CONFIG_DIR=" + c.dir, "HOME=" + c.dir, "PATH=" + os.Getenv("PATH")}, c.env...)
	return cmd
}

// run fails unless the command ends with the code.
func (c *terminal) run(code int, args ...string) (out, err string) {
	c.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := c.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run()
	secrets.Write("the command line", "portico "+strings.Join(args, " "), stdout.String()+stderr.String())
	if got := cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("portico %s exits with %d (%v), want %d\n%s%s", strings.Join(args, " "), got, failed, code, &stdout,
			&stderr)
	}
	return stdout.String(), stderr.String()
}

// tokenLike matches tokens, which must not be shown.
var tokenLike = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{10,}`)

// login signs in a sample user with the device flow, as with a browser on another machine.
func (c *terminal) login(server, user string) (said string) {
	c.t.Helper()
	cmd := c.command("login", server, "--device")
	pipe, err := cmd.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	var all bytes.Buffer
	page := ""
	chunk := make([]byte, 4096)
	for page == "" {
		n, err := pipe.Read(chunk)
		all.Write(chunk[:n])
		if err != nil {
			_ = cmd.Wait()
			c.t.Fatalf("portico login ends early: %s", &all)
		}
		if strings.Contains(all.String(), "Waiting") {
			page = regexp.MustCompile(`http\S+`).FindString(all.String())
		}
	}
	confirmDevice(c.t, page, user)
	if _, err := io.Copy(&all, pipe); err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		c.t.Fatalf("portico login: %v: %s", err, &all)
	}
	secrets.Write("the command line", "portico login", all.String())
	return all.String()
}

// confirmDevice does what a user does in a browser: it sends the code, then name and password.
func confirmDevice(t *testing.T, page, user string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	code := regexp.MustCompile(`user_code=([A-Z-]+)`).FindStringSubmatch(page)
	if code == nil {
		t.Fatalf("no code in %s", page)
	}
	send := func(where string, form url.Values) (*http.Response, string) {
		resp, err := browser.PostForm(where, form)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	resp, body := send(world.Issuer+"/device/auth/verify_code", url.Values{"user_code": {code[1]}})
	if !strings.Contains(body, `name="password"`) {
		t.Fatalf("no login form at %s: %s", resp.Request.URL, body)
	}
	resp, body = send(resp.Request.URL.String(),
		url.Values{"login": {user + "@portico.test"}, "password": {stack.Password}})
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "Login Successful") {
		t.Fatalf("the login of %s ends at %s: %s", user, resp.Request.URL, body)
	}
}
