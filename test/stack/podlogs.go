package stack

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The output of the containers of failing Pods, by the name of the image.
//
//go:embed logs/*.log
var loggedByFailing embed.FS

// How often a running container writes a line, and the number of lines after which its log is rotated, as a kubelet
// does.
const logPeriod, logLines = 2 * time.Second, 2000

// logging are the images broken-NAME that have a log of their own.
var logging = []string{"crash", "memory", "readiness", "startup"}

// podLogs are the logs of simulated containers: files in the format of a container runtime, which kwok serves.
// Healthy containers share one log that grows.
type podLogs struct{ dir string }

// podLog returns the text that a container of image broken-NAME writes each time
// it runs.
func podLog(name string) string {
	data, _ := loggedByFailing.ReadFile("logs/" + name + ".log") // embedded, so it is there
	return string(data)
}

// startPodLogs writes the logs until Close; config is kwok's, to serve them.
func (s *Stack) startPodLogs(ctx context.Context) (config string, err error) {
	l := &podLogs{dir: filepath.Join(s.Dir, "pod-logs")}
	if err := l.write(); err != nil {
		return "", fmt.Errorf("write the logs of Pods: %w", err)
	}
	s.background(ctx, func(ctx context.Context) error {
		if err := l.grow(ctx); err != nil {
			return fmt.Errorf("write the log of running Pods: %w", err)
		}
		return nil
	})
	return l.config(), nil
}

func (l *podLogs) path(name string) string { return filepath.Join(l.dir, name+".log") }
func (l *podLogs) config() string          { return filepath.Join(l.dir, "kwok.yaml") }

// write writes every file, and kwok's configuration, which selects a log by container name; the kubelets' endpoint
// requests it by that name.
func (l *podLogs) write() error {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	now := time.Now()
	logs := []object{{"logsFile": l.path("running")}}
	errs := []error{l.begin(now)}
	for _, name := range logging {
		logs = append(logs, object{
			"containers": []string{name}, "logsFile": l.path(name),
			"previousLogsFile": l.path(name),
		})
		var lines bytes.Buffer
		for line := range strings.Lines(podLog(name)) {
			_, _ = lines.WriteString(logged(now, line))
		}
		errs = append(errs, os.WriteFile(l.path(name), lines.Bytes(), 0o600))
	}
	config, err := json.Marshal(object{
		"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterLogs", "metadata": object{"name": "pods"},
		"spec": object{"logs": logs},
	})
	return errors.Join(append(errs, err, os.WriteFile(l.config(), config, 0o600))...)
}

// begin replaces the log of running containers with a new one. Clients that follow it continue.
func (l *podLogs) begin(now time.Time) error {
	text := logged(now, "INFO  starting, version 1.4.2\n") + logged(now, "INFO  listening on :8080\n")
	fresh := l.path("running") + ".new"
	if err := os.WriteFile(fresh, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, l.path("running"))
}

// grow appends requests to the log of running containers until ctx ends.
func (l *podLogs) grow(ctx context.Context) error {
	ticker := time.NewTicker(logPeriod)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			if err := l.add(now, n); err != nil {
				return err
			}
		}
	}
}

func (l *podLogs) add(now time.Time, n int) error {
	if n%logLines == 0 {
		return l.begin(now)
	}
	f, err := os.OpenFile(l.path("running"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(logged(now, fmt.Sprintf("INFO  GET /products/%d 200 %d ms\n", 100+n*37%900, 2+n*7%19)))
	return errors.Join(err, f.Close())
}

// logged returns a line in the format of a container runtime.
func logged(at time.Time, line string) string {
	return at.UTC().Format(time.RFC3339Nano) + " stdout F " + line
}
