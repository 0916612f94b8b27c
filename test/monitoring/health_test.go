package monitoring

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// verdicts are the health that Argo CD and Flux report for an object in each situation of testdata/statuses.yaml.
var verdicts = map[string]struct {
	argo, says string
	flux       status.Status
}{
	"fresh":                {"Progressing", "waiting for Portico", status.InProgressStatus},
	"being-made":           {"Progressing", "AWS is making it", status.InProgressStatus},
	"ready":                {"Healthy", "everything is as the spec asks", status.CurrentStatus},
	"modifying":            {"Progressing", "AWS is changing it", status.InProgressStatus},
	"blocked":              {"Degraded", "AccessDenied", status.FailedStatus},
	"blocked-later":        {"Degraded", "AccessDenied", status.FailedStatus},
	"failed":               {"Degraded", "connection reset", status.InProgressStatus},
	"failed-later":         {"Degraded", "connection reset", status.InProgressStatus},
	"edited":               {"Progressing", "Change not applied yet", status.InProgressStatus},
	"blocked-and-edited":   {"Progressing", "Change not applied yet", status.InProgressStatus},
	"paused-fresh":         {"Suspended", "Paused", status.InProgressStatus},
	"paused-while-ready":   {"Suspended", "Paused", status.CurrentStatus},
	"paused-while-blocked": {"Suspended", "Paused", status.FailedStatus},
	"resumed":              {"Healthy", "everything is as the spec asks", status.CurrentStatus},
	"deleting":             {"Progressing", "AWS is deleting it", status.TerminatingStatus},
	"deletion-blocked":     {"Degraded", "holds objects", status.TerminatingStatus},
}

// statuses returns objects as the engine leaves them; a test of package engine checks that.
func statuses(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("testdata/statuses.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]*unstructured.Unstructured
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHealthIsWhatItShouldBe(t *testing.T) {
	all := statuses(t)
	for name := range verdicts {
		if all[name] == nil {
			t.Errorf("there is no status of %s", name)
		}
	}
	script := read(t, "config/argocd/health.lua")
	for name, obj := range all {
		want, known := verdicts[name]
		if !known {
			t.Errorf("nobody says what Argo CD and Flux should make of %s", name)
			continue
		}
		if got, says := argo(t, script, obj.Object); got != want.argo || !strings.Contains(says, want.says) {
			t.Errorf("Argo CD takes %s for %s (%s), want %s (%s)", name, got, says, want.argo, want.says)
		}
		if got, err := status.Compute(obj); err != nil || got.Status != want.flux {
			t.Errorf("Flux takes %s for %v, want %s: %v", name, got, want.flux, err)
		}
	}
}

// argo runs the script as Argo CD does: with the object, and without libraries that reach outside of the interpreter.
func argo(t *testing.T, script string, object map[string]any) (health, message string) {
	t.Helper()
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase,
		lua.TabLibName: lua.OpenTable,
	} {
		if err := l.CallByParam(lua.P{Fn: l.NewFunction(open), NRet: 0, Protect: true}, lua.LString(name)); err != nil {
			t.Fatal(err)
		}
	}
	l.SetContext(t.Context())
	l.SetGlobal("obj", table(l, object))
	if err := l.DoString(script); err != nil {
		t.Fatal(err)
	}
	result, is := l.Get(-1).(*lua.LTable)
	if !is {
		t.Fatalf("the script returns %v", l.Get(-1))
	}
	health, message = result.RawGetString("status").String(), result.RawGetString("message").String()
	if !slices.Contains([]string{"Healthy", "Progressing", "Degraded", "Suspended"}, health) {
		t.Errorf("%s is no health of Argo CD", health)
	}
	return health, message
}

// table converts a JSON value to a Lua value.
func table(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case map[string]any:
		out := l.NewTable()
		for key, one := range v {
			out.RawSetString(key, table(l, one))
		}
		return out
	case []any:
		out := l.NewTable()
		for _, one := range v {
			out.Append(table(l, one))
		}
		return out
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	default:
		return lua.LNil
	}
}

// TestTheConfigMapHasTheScript checks that the ConfigMap contains the tested script.
func TestTheConfigMapHasTheScript(t *testing.T) {
	var patch struct{ Data map[string]string }
	if err := yaml.UnmarshalStrict([]byte(read(t, "config/argocd/argocd-cm.yaml")), &patch); err != nil {
		t.Fatal(err)
	}
	var customizations map[string]map[string]string
	if err := yaml.UnmarshalStrict([]byte(patch.Data["resource.customizations"]), &customizations); err != nil {
		t.Fatal(err)
	}
	if got := customizations["portico.dev/*"]["health.lua"]; got != read(t, "config/argocd/health.lua") {
		t.Errorf("config/argocd/argocd-cm.yaml has another script than health.lua:\n%s", got)
	}
}
