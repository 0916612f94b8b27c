package podcause

import "fmt"

const initRuns = `
  phase: Pending
  initContainerStatuses:
  - name: migrate
    image: m
    imageID: m
    ready: false
    started: true
    restartCount: 0
    state: {running: {startedAt: "2026-11-28T12:09:00Z"}}
  containerStatuses:
  - {name: app, image: a, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: PodInitializing}}}
`

const initFails = `
  phase: Pending
  initContainerStatuses:
  - name: migrate
    image: m
    imageID: m
    ready: false
    started: false
    restartCount: 3
    state: {waiting: {reason: CrashLoopBackOff, message: "back-off 40s restarting failed container=migrate"}}
    lastState: {terminated: {exitCode: 1, reason: Error}}
  containerStatuses:
  - {name: app, image: a, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: PodInitializing}}}
`

const sidecarStarts = `
  phase: Pending
  initContainerStatuses:
  - name: migrate
    image: m
    imageID: m
    ready: true
    started: false
    restartCount: 0
    state: {terminated: {exitCode: 0, reason: Completed}}
  - name: mesh
    image: m
    imageID: m
    ready: false
    started: false
    restartCount: 0
    state: {running: {startedAt: "2026-11-28T12:09:00Z"}}
  containerStatuses:
  - {name: app, image: a, imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: PodInitializing}}}
`

const proxyCrashes = `
  phase: Running
  containerStatuses:
  - name: app
    image: a
    imageID: a
    ready: false
    started: true
    restartCount: 0
    state: {running: {startedAt: "2026-11-28T12:09:00Z"}}
  - name: proxy
    image: p
    imageID: p
    ready: false
    started: false
    restartCount: 4
    state: {waiting: {reason: CrashLoopBackOff, message: "back-off 1m20s restarting failed container=proxy"}}
    lastState: {terminated: {exitCode: 1, reason: Error}}
`

const readinessFlaps = `
  phase: Running
  conditions:
  - {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: "2026-11-28T12:05:00Z"}
  - {type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: "2026-11-28T12:05:00Z"}
  containerStatuses:
  - name: app
    image: a
    imageID: a
    ready: false
    started: true
    restartCount: 0
    state: {running: {startedAt: "2026-11-28T12:00:03Z"}}
`

func failedPod(reason, message string) string {
	return fmt.Sprintf("  phase: Failed\n  reason: %s\n  message: %q\n", reason, message)
}
