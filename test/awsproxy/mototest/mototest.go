// Package mototest runs the AWS simulator for tests, from the virtual environment that `make deps` creates at the
// root of the module.
package mototest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// patience allows for a loaded CI machine; a start takes one or two seconds.
const patience = 60 * time.Second

// Launch runs a simulator until stop, which may be called once.
func Launch() (base *url.URL, stop func(), err error) {
	python, server, err := find()
	if err != nil {
		return nil, nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, nil, fmt.Errorf("find a port for moto: %w", err)
	}
	cmd := exec.Command(python, server, "-H", "127.0.0.1", "-p", port)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start moto: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	base = &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", port)}
	if err := await(base, exited); err != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return nil, nil, err
	}
	return base, func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it has no state worth a graceful stop
		<-exited                                            //nolint:errcheck // it was killed
	}, nil
}

// find searches for the server, and the Python that has moto, from the working directory upwards.
func find() (python, server string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			python := filepath.Join(dir, ".venv", "bin", "python3")
			if _, err := os.Stat(filepath.Join(dir, ".venv", "bin", "moto_server")); err != nil {
				return "", "", fmt.Errorf("the AWS simulator is missing: run make deps (%w)", err)
			}
			return python, filepath.Join(dir, "test", "moto", "server.py"), nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", "", errors.New("not inside the module: no go.mod found")
		}
		dir = parent
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// await returns once the simulator responds.
func await(base *url.URL, exited <-chan error) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case err := <-exited:
			return fmt.Errorf("moto ended at once: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
		if resp, err := client.Get(base.String() + "/moto-api/"); err == nil {
			_ = resp.Body.Close()
			return nil
		}
	}
	return fmt.Errorf("moto does not answer within %s", patience)
}
