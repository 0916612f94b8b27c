package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// versionOf is how to query a program for its version, and the oldest acceptable version.
type versionOf struct {
	args         []string
	says         *regexp.Regexp // with groups for the major and the minor version
	major, minor int
}

// The oldest Kubernetes that Portico runs on, as in config/check.
var (
	kubernetesVersion = &versionOf{
		args: []string{"--version"}, says: regexp.MustCompile(`^Kubernetes v(\d+)\.(\d+)`),
		major: 1, minor: 36,
	}
	kubectlVersion = &versionOf{
		args: []string{"version", "--client"},
		says: regexp.MustCompile(`Client Version: v(\d+)\.(\d+)`), major: 1, minor: 36,
	}
	etcdVersion = &versionOf{
		args: []string{"--version"}, says: regexp.MustCompile(`etcd Version: (\d+)\.(\d+)`),
		major: 3, minor: 6,
	}
)

// preferInstalled replaces targets by links to installed programs: in the folder in KUBEBUILDER_ASSETS, which tests
// of other projects use too, or on the PATH.
func preferInstalled(ctx context.Context, root string, targets []Target, out io.Writer) []Target {
	folders := append([]string{os.Getenv("KUBEBUILDER_ASSETS")}, filepath.SplitList(os.Getenv("PATH"))...)
	result := make([]Target, 0, len(targets))
	for _, t := range targets {
		if t.program != nil && t.program.version != nil {
			if path, info := find(root, folders, t.Name); path != "" {
				t = t.link(ctx, root, path, info, out)
			}
		}
		result = append(result, t)
	}
	return result
}

// find searches for a program outside of this repository, whose bin may be on the PATH.
func find(root string, folders []string, name string) (string, os.FileInfo) {
	for _, folder := range folders {
		if folder == "" || !filepath.IsAbs(folder) || filepath.Clean(folder) == filepath.Join(root, "bin") {
			continue
		}
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, info
		}
	}
	return "", nil
}

// link returns the target as a link to the program at path, or unchanged if the program is too old.
func (t Target) link(ctx context.Context, root, path string, info os.FileInfo, out io.Writer) Target {
	linked := t
	linked.key = fmt.Sprintln(path, info.Size(), info.ModTime())
	linked.program = nil
	linked.make = func(context.Context, string, io.Writer) error {
		to := filepath.Join(root, t.output)
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o750), removeIfThere(to), os.Symlink(path, to))
	}
	if sum, err := linked.sum(root); err == nil && linked.upToDate(root, sum) {
		return linked
	}
	version, err := t.program.version.of(ctx, path)
	if err != nil {
		if sum, wrong := t.sum(root); wrong != nil || !t.upToDate(root, sum) { // reported when Portico's own was built
			_, _ = fmt.Fprintf(out, "%s is not used: %v\n", path, err)
		}
		return t
	}
	_, _ = fmt.Fprintf(out, "%s %s is used in place of one that is built\n", path, version)
	return linked
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// of returns the version of a program. One that is too old is an error.
func (v *versionOf) of(ctx context.Context, path string) (string, error) {
	said, err := exec.CommandContext(ctx, path, v.args...).Output()
	if err != nil {
		return "", fmt.Errorf("it does not tell its version: %w", err)
	}
	found := v.says.FindSubmatch(said)
	if found == nil {
		return "", fmt.Errorf("it tells no version that is understood: %.100q", said)
	}
	major, errMajor := strconv.Atoi(string(found[1]))
	minor, errMinor := strconv.Atoi(string(found[2]))
	if err := errors.Join(errMajor, errMinor); err != nil {
		return "", err
	}
	version := fmt.Sprintf("%d.%d", major, minor)
	if major < v.major || major == v.major && minor < v.minor {
		return "", fmt.Errorf("version %s is too old, %d.%d is needed", version, v.major, v.minor)
	}
	return version, nil
}
