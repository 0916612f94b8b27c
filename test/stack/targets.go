package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	fuzzVenv = ".cache/schemathesis"
	// Schemathesis is where Build puts it, for those who fuzz.
	Schemathesis = fuzzVenv + "/bin/schemathesis"
)

const (
	controlPlaneModule = "test/controlplane"
	dexModule          = "test/controlplane/dex"
	lintModule         = "test/lint"
	chartModule        = "test/chart"
	monitoringModule   = "test/monitoring"
)

// Kubernetes reports these; kubectl and helm parse them, and refuse what a
// build without stamps says. The commit and the date stand for "from the module
// of that version", which has neither.
const (
	kubernetesStamps = "-s -w" +
		" -X k8s.io/component-base/version.gitVersion=v1.36.3" +
		" -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36" +
		" -X k8s.io/component-base/version.gitTreeState=clean" +
		" -X k8s.io/component-base/version.gitCommit=0000000000000000000000000000000000001363" +
		" -X k8s.io/component-base/version.buildDate=1970-01-01T00:00:00Z"
	plainStamps = "-s -w"
)

// Targets by name, in the order in which they are built.
var (
	etcdTarget      = external("etcd", "go.etcd.io/etcd/server/v3", controlPlaneModule, kubernetesStamps, "about 40 s")
	apiserverTarget = external("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", controlPlaneModule, kubernetesStamps, "about 2 min")
	managerTarget   = external("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager", controlPlaneModule, kubernetesStamps, "about 45 s")
	schedulerTarget = external("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", controlPlaneModule, kubernetesStamps, "about 5 s")
	kwokTarget      = external("kwok", "sigs.k8s.io/kwok/cmd/kwok", controlPlaneModule, kubernetesStamps, "about 10 s")
	kubectlTarget   = external("kubectl", "k8s.io/kubernetes/cmd/kubectl", controlPlaneModule, kubernetesStamps, "about 15 s")
	dexTarget       = external("dex", "github.com/dexidp/dex/cmd/dex", dexModule, plainStamps, "about 40 s")
	stagesTarget    = Target{
		Name: "kwok-stages", inputs: []string{controlPlaneModule + "/go.mod"}, key: started + strings.Join(moduleStages, " ") + renderOurStages(),
		output: "bin/" + stagesFile, needs: []prerequisite{needsGo}, make: writeStages,
	}
	motoTarget = Target{
		Name: "moto", about: "about 30 s", inputs: []string{"test/moto/requirements.txt"},
		output: ".venv/bin/moto_server", needs: []prerequisite{needsPython, needsVenv}, make: venv(".venv", "test/moto/requirements.txt"),
	}
	// Not in .venv: what fuzzes and what is simulated pin other versions of the same packages.
	schemathesisTarget = Target{
		Name: "schemathesis", about: "about 20 s", inputs: []string{"test/fuzz/requirements.txt"},
		output: Schemathesis, needs: []prerequisite{needsPython, needsVenv}, make: venv(fuzzVenv, "test/fuzz/requirements.txt"),
	}
	packagesTarget = Target{
		Name: "npm-packages", about: "about 10 s", inputs: []string{"web/package.json", "web/package-lock.json"},
		output: "web/node_modules/.package-lock.json", needs: []prerequisite{needsNPM}, make: installPackages,
	}
	linterTarget = external("golangci-lint", "github.com/golangci/golangci-lint/v2/cmd/golangci-lint", lintModule, plainStamps, "about 3 min")
	vulnTarget   = external("govulncheck", "golang.org/x/vuln/cmd/govulncheck", lintModule, plainStamps, "about 15 s")
	helmTarget   = external("helm", "helm.sh/helm/v4/cmd/helm", chartModule, plainStamps, "about 1 min")

	// Without the clients of all clouds in which Prometheus finds what to scrape.
	promtoolTarget = external("promtool", "github.com/prometheus/prometheus/cmd/promtool", monitoringModule, plainStamps, "about 2 min", "-tags=remove_all_sd")

	operatorTarget = own("operator")
	portalTarget   = own("portal")
	cliTarget      = own("portico") // for people, and tests of what they type
)

// targetsOf is what the parts need.
func targetsOf(o *Options) []Target {
	var targets []Target
	need := func(parts Parts, more ...Target) {
		if o.Parts.has(parts) {
			targets = append(targets, more...)
		}
	}
	if o.ExternalKubeconfig == "" {
		need(ControlPlane, etcdTarget, apiserverTarget, managerTarget)
	}
	need(ControlPlane, kubectlTarget) // for people, and tests of what they type
	need(Scheduler, schedulerTarget)
	need(Nodes, kwokTarget, stagesTarget)
	if o.AWSEndpoint == "" {
		need(AWS, motoTarget)
	}
	need(Dex, dexTarget)
	need(Operator, operatorTarget)
	need(Portal, portalTarget, cliTarget)
	return targets
}

// TargetsFor are those of a purpose: run (also what integration tests need),
// chart, browser and fuzz (beyond that), web (to regenerate the portal's assets), lint,
// monitoring.
func TargetsFor(purpose string) ([]Target, error) {
	switch purpose {
	case "run":
		return targetsOf(&Options{Parts: Everything}), nil
	case "browser", "web":
		return []Target{packagesTarget}, nil
	case "chart":
		return []Target{helmTarget}, nil
	case "fuzz":
		return []Target{schemathesisTarget}, nil
	case "lint":
		return []Target{linterTarget, vulnTarget}, nil
	case "monitoring":
		return []Target{promtoolTarget}, nil
	default:
		return nil, fmt.Errorf("nothing is built for %q", purpose)
	}
}

// external is a binary of another project, built from its Go module. Only the
// module's files decide: its sources cannot change beneath them.
func external(name, pkg, module, stamps, about string, flags ...string) Target {
	return Target{
		Name: name, about: about, key: stamps + strings.Join(flags, " "), output: "bin/" + name,
		inputs: []string{module + "/go.mod", module + "/go.sum"}, needs: []prerequisite{needsGo},
		make: func(ctx context.Context, root string, log io.Writer) error {
			return goBuild(ctx, filepath.Join(root, module), log, stamps, filepath.Join(root, "bin", name), pkg, flags...)
		},
	}
}

// own is a binary of this repository. The go command knows whether it is up to
// date.
func own(name string) Target {
	return Target{Name: name, needs: []prerequisite{needsGo}, make: func(ctx context.Context, root string, log io.Writer) error {
		return goBuild(ctx, root, log, "", filepath.Join(root, "bin", name), "./cmd/"+name)
	}}
}

func goBuild(ctx context.Context, dir string, log io.Writer, ldflags, output, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-o", output}, flags...)
	if ldflags != "" {
		args = append(args, "-ldflags", ldflags)
	}
	return command(ctx, dir, log, "go", append(args, pkg)...)
}

// command runs a tool with its output in the log. Ending ctx kills it.
func command(ctx context.Context, dir string, log io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = log, log
	return cmd.Run()
}

// venv makes a virtual environment anew: pip does not remove what is no longer required.
func venv(folder, requirements string) func(ctx context.Context, root string, log io.Writer) error {
	return func(ctx context.Context, root string, log io.Writer) error {
		venv := filepath.Join(root, folder)
		if err := os.RemoveAll(venv); err != nil {
			return err
		}
		if err := command(ctx, root, log, "python3", "-m", "venv", venv); err != nil {
			return err
		}
		return command(ctx, root, log, filepath.Join(venv, "bin", "pip"), "install",
			"--disable-pip-version-check", "--no-input", "--quiet", "--require-hashes", "--requirement", requirements)
	}
}

// installPackages installs exactly what the lock file says.
func installPackages(ctx context.Context, root string, log io.Writer) error {
	return command(ctx, filepath.Join(root, "web"), log, "npm", "ci", "--no-audit", "--no-fund")
}
