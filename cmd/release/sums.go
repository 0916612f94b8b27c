package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
)

const sumsFile = "SHA256SUMS"

// sums writes the checksum of each file of the release in the format of sha256sum --check, and signs the list if there
// is a key. Image layouts are listed in their packed form: in the folders, files are named by their checksums.
func (r release) sums(ctx context.Context) error {
	var out bytes.Buffer
	folder := os.DirFS(r.folder)
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path, "images/") {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(content), path)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.write(sumsFile, out.Bytes()); err != nil || r.key == "" {
		return err
	}
	return r.sign(ctx)
}

// sign writes a signature of the checksums for ssh-keygen -Y verify, with the namespace "file".
func (r release) sign(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-Y", "sign", "-q", "-n", "file", "-f", r.key, r.path(sumsFile)) //nolint:gosec // the key is of whoever makes the release
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sign %s with -key: %w: %s", sumsFile, err, bytes.TrimSpace(said))
	}
	r.say(sumsFile+".sig", "signed")
	return nil
}
