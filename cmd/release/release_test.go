package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func sample(t *testing.T) release {
	t.Helper()
	return release{
		nodes:  nodes,
		source: source{version: "v0.1.0", commit: "0123456789abcdef", date: time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC)},
		folder: t.TempDir(), out: io.Discard,
	}
}

// TestAnImageHoldsTheBinaryAlone checks that an image contains one file, runs it as a user without rights, has every
// platform, and is reproducible.
func TestAnImageHoldsTheBinaryAlone(t *testing.T) {
	r := sample(t)
	var digests []string
	for range 2 {
		if err := r.layout(servers[0], [][]byte{[]byte("for amd64"), []byte("for arm64")}); err != nil {
			t.Fatal(err)
		}
		at, err := layout.ImageIndexFromPath(r.path("images", "portico-operator"))
		if err != nil {
			t.Fatal(err)
		}
		top, err := at.IndexManifest()
		if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations[refName] != "v0.1.0" {
			t.Fatalf("%+v, %v", top, err)
		}
		digests = append(digests, top.Manifests[0].Digest.String())
		index, err := at.ImageIndex(top.Manifests[0].Digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(index); err != nil {
			t.Error(err)
		}
		all, err := index.IndexManifest()
		if err != nil || len(all.Manifests) != len(nodes) {
			t.Fatalf("%+v, %v", all, err)
		}
		for i, m := range all.Manifests {
			img, err := index.Image(m.Digest)
			if err != nil || m.Platform.Architecture != nodes[i].arch {
				t.Fatalf("%+v, %v", m.Platform, err)
			}
			checkImage(t, img, nodes[i])
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("%s and then %s", digests[0], digests[1])
	}
}

// TestAChartIsPackedAsItsVersion checks that a chart is packed with what it links to, and only as its own version.
func TestAChartIsPackedAsItsVersion(t *testing.T) {
	r := sample(t)
	r.root = "../.."
	var packed [][]byte
	for range 2 {
		if err := r.charted(t.Context()); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(r.path("portico-0.1.0.tgz"))
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, content)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("another package the second time")
	}
	names := namesIn(t, packed[0])
	for _, want := range []string{
		"portico/Chart.yaml", "portico/values.schema.json", "portico/templates/portal.yaml",
		"portico/files/rbac/operator.yaml", "portico/files/crd/portico.dev_s3buckets.yaml",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing among %v", want, names)
		}
	}
	if slices.ContainsFunc(names, func(name string) bool {
		return strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".gotmpl") ||
			strings.HasSuffix(name, "Kustomization")
	}) {
		t.Errorf("%v", names)
	}
	install, err := os.ReadFile(r.path("install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"kind: CustomResourceDefinition\n", "kind: ValidatingAdmissionPolicy\n", "kind: ClusterRole\n",
		"kind: Deployment\n",
	} {
		if !bytes.Contains(install, []byte(want)) {
			t.Errorf("install.yaml lacks %s", want)
		}
	}
	r.version = "v0.2.0"
	if err := r.charted(t.Context()); err == nil || !strings.Contains(err.Error(), "make them 0.2.0 and v0.2.0") {
		t.Errorf("charts of another version: %v", err)
	}
}

func namesIn(t *testing.T, packed []byte) (names []string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	for archive := tar.NewReader(z); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}

// TestPushedImagesArePulledByPlatform checks that one tag has the images of all platforms, and is never overwritten.
func TestPushedImagesArePulledByPlatform(t *testing.T) {
	there := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(there.Close)
	host := strings.TrimPrefix(there.URL, "http://")
	r := sample(t)
	if err := r.push(t.Context(), host+"/portico"); err == nil || !strings.Contains(err.Error(), "build it first") {
		t.Errorf("without images: %v", err)
	}
	build := func(content string) {
		t.Helper()
		for _, p := range images() {
			if err := r.layout(p, [][]byte{[]byte(content), []byte(content + " too")}); err != nil {
				t.Fatal(err)
			}
		}
	}
	build("first")
	for range 2 { // pushing again changes nothing
		if err := r.push(t.Context(), host+"/portico"); err != nil {
			t.Fatal(err)
		}
	}
	for _, image := range []string{"portico-operator", "portico-portal", "portico"} {
		for _, on := range nodes {
			ref, err := name.NewTag(host + "/portico/" + image + ":v0.1.0")
			if err != nil {
				t.Fatal(err)
			}
			img, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: on.os, Architecture: on.arch}))
			if err != nil {
				t.Errorf("%s for %s: %v", image, on, err)
				continue
			}
			if cfg, err := img.ConfigFile(); err != nil || cfg.Architecture != on.arch {
				t.Errorf("%s for %s: %+v, %v", image, on, cfg, err)
			}
		}
	}
	build("second")
	if err := r.push(t.Context(), host+"/portico"); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("another image by the same tag: %v", err)
	}
	r.version = "v0.2.0"
	if err := r.push(t.Context(), host+"/portico"); err == nil ||
		!strings.Contains(err.Error(), "holds another version") {
		t.Errorf("another version than was built: %v", err)
	}
}

func checkImage(t *testing.T, img v1.Image, on platform) {
	t.Helper()
	cfg, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := cfg.Config; cfg.Architecture != on.arch || c.User != "65532:65532" {
		t.Errorf("Architecture = %q, want %q; User = %q, want 65532:65532", cfg.Architecture, on.arch, c.User)
	}
	if got, want := cfg.Config.Entrypoint, []string{"/operator"}; !slices.Equal(got, want) {
		t.Errorf("Entrypoint = %q, want %q", got, want)
	}
	if c := cfg.Config; len(c.Cmd)+len(c.Env) > 0 {
		t.Errorf("Cmd = %q, Env = %q, want none", c.Cmd, c.Env)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatal(len(layers), err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewReader(content)
	file, err := w.Next()
	if err != nil {
		t.Fatal(err)
	}
	if file.Name != "operator" || file.FileInfo().Mode() != 0o555 || file.Uid != 0 {
		t.Errorf("file = %s %s of user %d, want operator -r-xr-xr-x of user 0", file.Name, file.FileInfo().Mode(),
			file.Uid)
	}
	if text, err := io.ReadAll(w); err != nil || string(text) != "for "+on.arch {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := w.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("more than the binary: %v", err)
	}
}

func TestARegistryThatDoesNotAnswerShowsNoFreeTag(t *testing.T) {
	for status, free := range map[int]bool{404: true, 401: false, 403: false, 429: false, 500: false, 503: false} {
		host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/" {
				w.WriteHeader(status)
			}
		}))
		at, err := name.NewTag(strings.TrimPrefix(host.URL, "http://") + "/portico/operator:1.0.0")
		if err != nil {
			t.Fatal(err)
		}
		err = unused(at, v1.Hash{}, []remote.Option{remote.WithContext(t.Context()), remote.WithRetryStatusCodes()})
		if (err == nil) != free {
			t.Errorf("%d: got %v, want a free tag: %v", status, err, free)
		}
		host.Close()
	}
}

func TestPackedClientsAreTheSameEachTime(t *testing.T) {
	r := sample(t)
	for _, on := range clientPlatforms {
		one, ending, err := r.packClient(on, []byte("a client"))
		if err != nil {
			t.Fatal(err)
		}
		if two, _, _ := r.packClient(on, []byte("a client")); !bytes.Equal(one, two) {
			t.Errorf("%s: differs", on)
		}
		if got := unpacked(t, ending, one); got != "a client" {
			t.Errorf("%s: %q", on, got)
		}
	}
}

func unpacked(t *testing.T, ending string, packed []byte) string {
	t.Helper()
	var file io.Reader
	if ending == ".zip" {
		z, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil || len(z.File) != 1 || z.File[0].Name != "portico.exe" {
			t.Fatal(z, err)
		}
		if file, err = z.File[0].Open(); err != nil {
			t.Fatal(err)
		}
	} else {
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewReader(z)
		if header, err := w.Next(); err != nil || header.Name != "portico" || header.FileInfo().Mode() != 0o755 {
			t.Fatal(header, err)
		}
		file = w
	}
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestTheSBOMNamesEveryModule uses the test binary itself as an example of a released binary.
func TestTheSBOMNamesEveryModule(t *testing.T) {
	r := sample(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(filepath.Clean(self))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.sbom(servers[1], nodes[0], binary); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.path("sbom", "portico-portal-v0.1.0-linux-amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, PURL string }
	}
	if err := json.Unmarshal(text, &bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Fatal(bom.BOMFormat, err)
	}
	var all []string
	for _, c := range bom.Components {
		all = append(all, c.PURL)
	}
	for _, want := range []string{"pkg:golang/std@go1.", "pkg:golang/github.com/google/go-containerregistry@v"} {
		if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("no %s in %v", want, all)
		}
	}
}

func TestChecksumsAreSigned(t *testing.T) {
	r := sample(t)
	r.key = filepath.Join(t.TempDir(), "key")
	command(t, r.folder, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", r.key)
	for _, name := range []string{"a.txt", "sbom/b.json", "images/x/blob"} {
		if err := r.write(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.sums(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := command(t, r.folder, "sha256sum", "--check", "--strict", sumsFile); strings.Count(said, ": OK") != 2 {
		t.Error(said)
	}
	public, err := os.ReadFile(r.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	signers := filepath.Join(t.TempDir(), "signers")
	if err := os.WriteFile(signers, append([]byte("portico "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	sums, err := os.Open(r.path(sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sums.Close() }()
	verify := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", signers, "-I", "portico", "-n",
		"file", "-s", r.path(sumsFile+".sig"))
	verify.Stdin = sums
	if said, err := verify.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
	r.key = "/no/such/key"
	if err := r.sums(t.Context()); err == nil || !strings.Contains(err.Error(), "-key") {
		t.Errorf("a missing key: %v", err)
	}
}

func TestWhatCannotBeReleasedIsSaid(t *testing.T) {
	root := t.TempDir()
	ctx := context.Background()
	if _, err := newSource(ctx, root, "v0.1.0"); err == nil || !strings.Contains(err.Error(), "git show") {
		t.Errorf("no repository: %v", err)
	}
	for _, args := range [][]string{{"init", "-q"}, {
		"-c", "user.name=a", "-c", "user.email=a@example.com", "commit",
		"-q", "--allow-empty", "-m", "first",
	}} {
		command(t, root, "git", args...)
	}
	for _, bad := range []string{"0.1.0", "v0.1", "v0.1.0+linux", "latest"} {
		if _, err := newSource(ctx, root, bad); err == nil || !strings.Contains(err.Error(), "such as v0.1.0") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	clean, err := newSource(ctx, root, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := clean.fit(); err != nil {
		t.Errorf("fit() = %v, want nil", err)
	}
	if len(clean.commit) != 40 || clean.date.IsZero() {
		t.Errorf("commit = %q of %s, want 40 digits and a date", clean.commit, clean.date)
	}
	nameless, err := newSource(ctx, root, "")
	if err != nil || nameless.fit() == nil {
		t.Errorf("without a version: %v, %v", err, nameless.fit())
	}
	if err := os.WriteFile(filepath.Join(root, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dirty, err := newSource(ctx, root, "v0.1.0")
	if err != nil || dirty.fit() == nil || !strings.Contains(dirty.stamps(), "+dirty") {
		t.Errorf("%+v, %v", dirty, err)
	}
	if err := run(ctx, []string{"-root", root, "everything"}, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "images, all, or push") {
		t.Errorf("a wrong word: %v", err)
	}
}

// TestALayoutIsPackedWhole checks that tools can read the packed layout.
func TestALayoutIsPackedWhole(t *testing.T) {
	r := sample(t)
	for _, name := range []string{"oci-layout", "index.json", "blobs/sha256/aa"} {
		if err := r.write(filepath.Join("images", "portico-operator", name), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.packImage("portico-operator"); err != nil {
		t.Fatal(err)
	}
	if said := command(t, r.folder, "tar", "-tf", "portico-operator-v0.1.0.oci.tar"); strings.Join(
		strings.Fields(said), " ") != "blobs/sha256/aa index.json oci-layout" {
		t.Error(said)
	}
	if _, err := layout.FromPath(r.path("images", "portico-operator")); err != nil {
		t.Error(err)
	}
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, said)
	}
	return string(said)
}
