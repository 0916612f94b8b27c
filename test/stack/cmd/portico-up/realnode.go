package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/portico-platform/portico/test/stack"
)

// openDoors listens at the ports that people use, outside of the sandbox.
func openDoors() ([]*os.File, error) {
	opts, err := options(".", os.Getenv)
	if err != nil {
		return nil, err
	}
	if opts.ExternalKubeconfig != "" || opts.AWSEndpoint != "" {
		return nil, errors.New("NODE=real has a cluster and an AWS of its own: " +
			"leave KUBECONFIG_EXTERNAL and AWS_ENDPOINT out")
	}
	return opts.Ports.OpenDoors()
}

// onRealNode makes the stage one with a real Node. It runs inside a sandbox, from where nothing can be downloaded.
func onRealNode(o *stack.Options, doors []*os.File) (err error) {
	o.Parts &^= stack.Nodes
	o.RealNodes, o.Loopback, o.Built = 1, true, true
	o.Doors, err = o.Ports.Doors(doors)
	return err
}

// prepare offers the sample application to real Nodes, and gives the files of the run to the user who called sudo.
func prepare(ctx context.Context, s *stack.Stack) error {
	if len(s.RealNodes) == 0 {
		return nil
	}
	return errors.Join(s.PushNotes(ctx), handOver(s.Dir))
}

// handOver changes the owner of what is in a folder from root to the user who called sudo, if one did.
func handOver(dir string) error {
	uid, errU := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, errG := strconv.Atoi(os.Getenv("SUDO_GID"))
	if errU != nil || errG != nil || os.Geteuid() != 0 {
		return nil //nolint:nilerr // nobody called sudo
	}
	for _, beside := range []string{filepath.Dir(dir), dir + ".lock"} {
		if err := os.Lchown(beside, uid, gid); err != nil {
			return err
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // servers write there
		}
		if err == nil {
			err = os.Lchown(path, uid, gid)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("give the files of the run to the user: %w", err)
	}
	return nil
}
