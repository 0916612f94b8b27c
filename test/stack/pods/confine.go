package pods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/utils/ptr"

	"github.com/portico-platform/portico/test/stack/process"
)

// program returns the program that runs instead of the image. If images are unpacked, it is the image's own, with its
// root and user.
func (p *pod) program() (path string, in *process.Confined, err error) {
	if p.options.Unpack == nil {
		path, err = p.options.Binary(p.container().Image)
		return path, nil, err
	}
	root := p.root()
	if err := p.release(); err != nil { // of an earlier start
		return "", nil, err
	}
	if path, err = p.options.Unpack(p.container().Image, root); err != nil {
		return "", nil, fmt.Errorf("unpack %s: %w", p.container().Image, err)
	}
	if err := p.bind(root); err != nil {
		return "", nil, err
	}
	c := p.spec.Spec.SecurityContext
	if c == nil || c.RunAsUser == nil || c.RunAsGroup == nil {
		return "", nil, errors.New("a Pod that does not say as whom it runs cannot be confined")
	}
	return path, &process.Confined{Root: root, User: uint32(*c.RunAsUser), Group: uint32(*c.RunAsGroup)}, nil
}

func (p *pod) root() string { return filepath.Join(p.folder, "root") }

// bind mounts the volumes below root, which becomes read-only if the container requires it.
func (p *pod) bind(root string) error {
	for _, mount := range p.container().VolumeMounts {
		if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(mount.MountPath)), 0o755); err != nil {
			return err
		}
	}
	c := p.container().SecurityContext
	if err := bound(root, root, c != nil && ptr.Deref(c.ReadOnlyRootFilesystem, false)); err != nil {
		return err
	}
	for _, mount := range p.container().VolumeMounts {
		if err := bound(p.path(mount.MountPath), filepath.Join(root, filepath.FromSlash(mount.MountPath)),
			true); err != nil {
			return err
		}
	}
	return nil
}

// release unmounts the volumes and the root. Remove no folder while one is mounted: that would delete the files of
// the mounted folder.
func (p *pod) release() error {
	if p.options.Unpack == nil {
		return nil
	}
	var errs []error
	for _, mount := range p.container().VolumeMounts {
		errs = append(errs, unmounted(filepath.Join(p.root(), filepath.FromSlash(mount.MountPath))))
	}
	return errors.Join(append(errs, unmounted(p.root()))...)
}

// clean removes the Pod's files.
func (p *pod) clean() {
	if err := p.release(); err != nil {
		p.options.Say("%v", err)
		return
	}
	_ = os.RemoveAll(p.folder)
}

// owned changes the owner of a file to the user of a confined Pod, as fsGroup does.
func (p *pod) owned(path string) error {
	c := p.spec.Spec.SecurityContext
	if p.options.Unpack == nil || c == nil || c.RunAsUser == nil || c.RunAsGroup == nil {
		return nil
	}
	return os.Chown(path, int(*c.RunAsUser), int(*c.RunAsGroup))
}
