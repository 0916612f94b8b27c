package main

import "testing"

// TestJobsHaveFoldersOfTheirOwn checks that jobs which share a machine and its user do not share a login.
func TestJobsHaveFoldersOfTheirOwn(t *testing.T) {
	folder := func(pairs map[string]string) string {
		return jobFolder(func(name string) string { return pairs[name] })
	}
	if got := folder(nil); got != "" {
		t.Errorf("a person has the folder %q", got)
	}
	seen := map[string]bool{}
	for _, job := range []map[string]string{
		{"CI_JOB_ID": "1"},
		{"CI_JOB_ID": "2"},
		{"CI_JOB_ID": "../x"},
		{"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "a", "RUNNER_NAME": "r1"},
		{"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_JOB": "a", "RUNNER_NAME": "r1"},
		{"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_JOB": "a", "RUNNER_NAME": "r2"},
	} {
		got := folder(job)
		if seen[got] {
			t.Errorf("%v shares the folder %s", job, got)
		}
		seen[got] = true
	}
	if !seen["jobs/..%2Fx---"] {
		t.Errorf("a name that leads elsewhere is not escaped: %v", seen)
	}
}
