package pods

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// bound mounts a folder at another path, which is how it can be read-only there.
func bound(from, to string, readOnly bool) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", to, err)
	}
	if !readOnly {
		return nil
	}
	if err := unix.Mount("", to, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("make %s read-only: %w", to, err)
	}
	return nil
}

func unmounted(at string) error {
	if err := unix.Unmount(at, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) &&
		!errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmount %s: %w", at, err) // EINVAL: nothing is mounted there
	}
	return nil
}
