package setting

import (
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestVariablesFillWhatFlagsLeaveOut(t *testing.T) {
	env := map[string]string{
		"PORTICO_PUBLIC_URL": "https://variable", "PORTICO_SESSION_IDLE": "5m",
		"PORTICO_NAMESPACE": "variable", "PORTICO_LISTEN": "",
	}
	set := flag.NewFlagSet("portal", flag.ContinueOnError)
	url, idle := set.String("public-url", "", ""), set.Duration("session-idle", time.Hour, "")
	namespace, listen := set.String("namespace", "", ""), set.String("listen", "default", "")
	if err := set.Parse([]string{"--namespace=flag"}); err != nil {
		t.Fatal(err)
	}
	if err := Fill(set, func(name string) string { return env[name] }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(
		[]any{"https://variable", 5 * time.Minute, "flag", "default"},
		[]any{*url, *idle, *namespace, *listen},
	); diff != "" {
		t.Errorf("url, idle, namespace, listen (-want +got):\n%s", diff)
	}
}

func TestAWrongVariableIsNamed(t *testing.T) {
	set := flag.NewFlagSet("portal", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Duration("session-idle", time.Hour, "")
	set.Bool("development", false, "")
	err := Fill(set, func(string) string { return "soon" })
	for _, want := range []string{
		"PORTICO_SESSION_IDLE (as --session-idle)", "PORTICO_DEVELOPMENT (as --development)",
		"parse error",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}
