package build

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	controlPlaneModule = "test/controlplane"
	oldestModule       = "test/controlplane/oldest"
	lintModule         = "test/lint"
	chartModule        = "test/chart"
	monitoringModule   = "test/monitoring"
	compatModules      = "test/compat"
	othersModule       = "test/others"
)

// kubernetesStamps returns linker flags with the version that Kubernetes reports. kubectl and helm parse the version
// and refuse the values of a build without stamps. The commit, derived from the version, and the date are placeholders:
// the version's module has neither.
func kubernetesStamps(minor, patch int) string {
	const at = " -X k8s.io/component-base/version."
	return plainStamps + fmt.Sprintf(at+"gitVersion=v1.%d.%d"+at+"gitMajor=1"+at+"gitMinor=%[1]d"+at+
		"gitTreeState=clean"+
		at+"gitCommit=%0[3]*[4]d"+at+"buildDate=1970-01-01T00:00:00Z", minor, patch, 40, 1000+10*minor+patch)
}

const plainStamps = "-s -w"

const fuzzVenv = ".cache/schemathesis"

// The paths, relative to the root, of what Build does not put into bin.
const (
	Moto = ".venv/bin/moto_server"
	// Python runs MotoServer, which is in the repository: moto with the changes that the proxy needs.
	Python       = ".venv/bin/python3"
	MotoServer   = "test/moto/server.py"
	Schemathesis = fuzzVenv + "/bin/schemathesis"
	// Oldest has the programs of the oldest Kubernetes that Portico runs on.
	Oldest   = ".cache/oldest"
	Keycloak = ".cache/keycloak/keycloak-26.2.5"
	// OIDCProvider has node-oidc-provider, and Portico's program that runs it.
	OIDCProvider = ".cache/oidc-provider"
	// ElasticMQ has its jars.
	ElasticMQ = ".cache/elasticmq"
	// Stages are kwok's own, of Nodes and Pods.
	Stages = "bin/kwok-stages.yaml"
)

// The parts of the stack. Programs of one module are built together.
var (
	Etcd              = kubernetes("etcd", "go.etcd.io/etcd/server/v3", etcdVersion)
	APIServer         = kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver", kubernetesVersion)
	ControllerManager = kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager",
		kubernetesVersion)
	Scheduler  = kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler", kubernetesVersion)
	Kubectl    = kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl", kubectlVersion)
	Kwok       = kubernetes("kwok", "sigs.k8s.io/kwok/cmd/kwok", nil)
	Dex        = kubernetes("dex", "github.com/dexidp/dex/cmd/dex", nil)
	KwokStages = Target{
		Name: "kwok-stages", inputs: []string{controlPlaneModule + "/go.mod"}, key: strings.Join(moduleStages, " "),
		output: Stages, needs: []prerequisite{needsGo}, make: writeStages,
	}
	AWS = Target{
		Name: "moto", inputs: []string{"test/moto/requirements.txt"},
		output: Moto, needs: []prerequisite{needsPython, needsVenv}, make: venv(".venv", "test/moto/requirements.txt"),
	}
	Operator = own("operator", "./cmd/operator")
	Portal   = own("portal", "./cmd/portal")
	CLI      = own("portico", "./cmd/portico")
)

var (
	up = own("portico-up", "./test/stack/cmd/portico-up")
	// Not in .venv: the fuzzer and the simulator pin different versions of the same packages.
	schemathesis = Target{
		Name: "schemathesis", inputs: []string{"test/fuzz/requirements.txt"},
		output: Schemathesis, needs: []prerequisite{needsPython, needsVenv},
		make: venv(fuzzVenv, "test/fuzz/requirements.txt"),
	}
	packages = Target{
		Name: "npm-packages", inputs: []string{"web/package.json", "web/package-lock.json"},
		output: "web/node_modules/.package-lock.json", needs: []prerequisite{needsNPM}, make: installPackages,
	}
	keycloak = Target{
		Name: "keycloak", inputs: []string{"test/keycloak/pom.xml"},
		output: Keycloak + "/bin/kc.sh", needs: []prerequisite{needsJava, needsMaven},
		make: fromMaven("test/keycloak/pom.xml", filepath.Dir(Keycloak)),
	}
	oidcProvider = Target{
		Name: "oidc-provider", inputs: oidcProviderFiles,
		output: OIDCProvider + "/node_modules/.package-lock.json", needs: []prerequisite{needsNPM},
		make: installOIDCProvider,
	}
	elasticMQ = Target{
		Name: "elasticmq", inputs: []string{"test/compat/elasticmq/pom.xml"},
		output: ElasticMQ + "/elasticmq-server_2.13-1.7.1.jar", needs: []prerequisite{needsJava, needsMaven},
		make: fromMaven("test/compat/elasticmq/pom.xml", ElasticMQ),
	}
	versitygw = external("versitygw",
		program{module: compatModules + "/versitygw", pkg: "github.com/versity/versitygw/cmd/versitygw"})
	minio   = external("minio", program{module: compatModules + "/minio", pkg: "github.com/minio/minio"})
	linters = external("golangci-lint",
		program{module: lintModule, pkg: "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"})
	vulnWarn = external("govulncheck", program{module: lintModule, pkg: "golang.org/x/vuln/cmd/govulncheck"})
	helm     = external("helm", program{module: chartModule, pkg: "helm.sh/helm/v4/cmd/helm"})
	// Kro is a controller of others, whose kinds Portico offers.
	Kro = external("kro", program{module: othersModule, pkg: "github.com/kubernetes-sigs/kro/cmd/controller"})
	// CertManager is another one.
	CertManager = withInputs(
		external("cert-manager", program{
			module: othersModule, pkg: "github.com/portico-platform/portico/test/others/cert-manager",
		}),
		othersModule+"/cert-manager/main.go",
	)
	// Built without the service discovery clients of all clouds.
	promtool = external("promtool",
		program{module: monitoringModule, pkg: "github.com/prometheus/prometheus/cmd/promtool", tags: "remove_all_sd"})
)

// For returns the targets of a purpose: run, chart, browser, fuzz, web (to regenerate the portal's assets), lint,
// monitoring, node, oldest, idp, compat, others. Integration tests need those of run and of others. env
// is the environment, in which make run may be configured to use an existing cluster or AWS endpoint.
func For(purpose string, env func(string) string) ([]Target, error) {
	switch purpose {
	case "run":
		targets := []Target{Kubectl, Kwok, KwokStages, Dex, Operator, Portal, CLI, up}
		if env("KUBECONFIG_EXTERNAL") == "" {
			targets = append([]Target{Etcd, APIServer, ControllerManager, Scheduler}, targets...)
		}
		if env("AWS_ENDPOINT") == "" {
			targets = append(targets, AWS)
		}
		return targets, nil
	case "browser", "web":
		return []Target{packages}, nil
	case "chart":
		return []Target{helm}, nil
	case "fuzz":
		return []Target{schemathesis}, nil
	case "lint":
		return []Target{linters, vulnWarn}, nil
	case "monitoring":
		return []Target{promtool}, nil
	case "idp":
		return []Target{keycloak, oidcProvider}, nil
	case "others":
		return []Target{Kro, CertManager}, nil
	case "compat":
		return []Target{versitygw, minio, elasticMQ}, nil
	case "node":
		return nodeTargets(), nil
	case "oldest":
		return []Target{
			oldest("kube-apiserver"), oldest("kube-controller-manager"), oldest("kube-scheduler"), oldest("kubectl"),
		}, nil
	default:
		return nil, fmt.Errorf("nothing is built for %q", purpose)
	}
}

// external returns a target for a program of another project, built from its Go module. Only the module's files
// decide whether it is up to date: the sources of a version cannot change.
func external(name string, p program) Target {
	if p.ldflags == "" {
		p.ldflags = plainStamps
	}
	return Target{
		Name: name, key: p.ldflags + p.tags, output: "bin/" + name, program: &p,
		inputs: []string{p.module + "/go.mod", p.module + "/go.sum"}, needs: []prerequisite{needsGo},
	}
}

func kubernetes(name, pkg string, version *versionOf) Target {
	return external(name, program{
		module: controlPlaneModule, pkg: pkg, ldflags: kubernetesStamps(37, 2),
		version: version,
	})
}

func oldest(name string) Target {
	t := external(name, program{
		module: oldestModule, pkg: "k8s.io/kubernetes/cmd/" + name,
		ldflags: kubernetesStamps(36, 3),
	})
	t.Name, t.output = "oldest-"+name, Oldest+"/"+name
	return t
}

// own returns a target for a program of this repository. The go command decides whether it is up to date.
func own(name, pkg string) Target {
	return Target{Name: name, output: "bin/" + name, program: &program{module: ".", pkg: pkg}, needs: []prerequisite{
		needsGo,
	}}
}

// venv returns a function that creates a new virtual environment: pip does not remove what is no longer required.
func venv(folder, requirements string) func(ctx context.Context, root string, log io.Writer) error {
	return func(ctx context.Context, root string, log io.Writer) error {
		venv := filepath.Join(root, folder)
		if err := os.RemoveAll(venv); err != nil {
			return err
		}
		if err := command(ctx, root, log, "python3", "-m", "venv", venv).Run(); err != nil {
			return err
		}
		return command(ctx, root, log, filepath.Join(venv, "bin", "pip"), "install",
			"--disable-pip-version-check", "--no-input", "--quiet", "--require-hashes", "--requirement",
			requirements).Run()
	}
}

// installPackages installs exactly the packages of the lock file.
func installPackages(ctx context.Context, root string, log io.Writer) error {
	return command(ctx, filepath.Join(root, "web"), log, "npm", "ci", "--no-audit", "--no-fund").Run()
}

// oidcProviderFiles are the files that node-oidc-provider runs from.
var oidcProviderFiles = []string{
	"test/oidcprovider/package.json", "test/oidcprovider/package-lock.json", "test/oidcprovider/.npmrc",
	"test/oidcprovider/server.mjs",
}

// installOIDCProvider fills a folder with node-oidc-provider: Node searches for packages next to the program that
// needs them.
func installOIDCProvider(ctx context.Context, root string, log io.Writer) error {
	folder := filepath.Join(root, OIDCProvider)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, name := range oidcProviderFiles {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, filepath.Base(name)), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return command(ctx, folder, log, "npm", "ci", "--no-audit", "--no-fund").Run()
}

// fromMaven returns a function that fills a folder with Maven, which is configured for this machine's mirror of Maven
// Central.
func fromMaven(pom, into string) func(ctx context.Context, root string, log io.Writer) error {
	return func(ctx context.Context, root string, log io.Writer) error {
		folder := filepath.Join(root, into)
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
		return command(ctx, root, log, "mvn", "--batch-mode", "--no-transfer-progress", "--file", pom,
			"process-resources",
			"-Dfolder="+folder, "-DskipMarkers=true").Run()
	}
}

// moduleStages are kwok's own: a Node is ready at once and keeps its lease, a
// Pod runs at once, completes when it belongs to a Job, and goes when it is
// deleted.
var moduleStages = []string{
	"node/fast/node-initialize.yaml", "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml", "pod/fast/pod-complete.yaml", "pod/fast/pod-delete.yaml",
}

// writeStages copies stages from kwok's module. It downloads the module first: go list reports no folder for a module
// that nothing has been built from yet.
func writeStages(ctx context.Context, root string, log io.Writer) error {
	var answer, all bytes.Buffer
	download := command(ctx, filepath.Join(root, controlPlaneModule), log, "go", "mod", "download", "-json",
		"sigs.k8s.io/kwok")
	download.Stdout = &answer
	if err := download.Run(); err != nil {
		return fmt.Errorf("download kwok's module: %w", err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(answer.Bytes(), &module); err != nil {
		return fmt.Errorf("read what go says of kwok's module: %w", err)
	}
	for _, stage := range moduleStages {
		data, err := os.ReadFile(filepath.Join(module.Dir, "kustomize", "stage", filepath.FromSlash(stage)))
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(&all, "---\n%s\n", data)
	}
	path := filepath.Join(root, Stages)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, all.Bytes(), 0o600)
}
