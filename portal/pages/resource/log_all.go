package resource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
)

const (
	// readAllTime bounds reading the logs of all Pods; the response must be written before the server's timeout.
	readAllTime = 8 * time.Second
	// readsOfAll is the number of Pods that are read at a time: it lets two pages load at once within podlogs.MaxReads.
	readsOfAll = podlogs.MaxReads / 2
)

// answer is the result of reading the log of one Pod.
type answer struct {
	found bool
	why   string // there is no log
	lines []string
	cut   bool
	err   error
}

// linesOfAll returns the last lines of all Pods, merged. Pods that do not answer in time are left out, and named in the
// note.
func (p *Pages) linesOfAll(ctx context.Context, l logRequest) (lines []string, cut bool, note string, err error) {
	answers, err := p.readAll(ctx, l)
	if err != nil {
		return nil, false, "", err
	}
	var copies []podlogs.Copy
	var without []string
	var failed error
	none := noCopyYet
	for i, a := range answers {
		name := shortName(l.pods[i].Name)
		switch {
		case a.err != nil:
			without, failed = append(without, name), a.err
		case a.why != "" && none == noCopyYet: // of the newest
			none = noCopyOf(l.pods[i].Name, a.why)
		case a.found:
			copies, cut = append(copies, podlogs.Copy{Name: name, Lines: a.lines}), cut || a.cut
		}
	}
	switch {
	case len(copies) == 0 && failed != nil:
		return nil, false, "", failed
	case len(copies) == 0:
		return nil, false, "", &page.NoLogError{Words: none}
	}
	return podlogs.Merge(copies, l.query.Timestamps), cut, l.note(without), nil
}

// readAll reads the logs of all Pods, in order; those that cannot have one are skipped. The Pods of one node are read
// one after another, so that a node that is down delays no other Pod.
func (p *Pages) readAll(ctx context.Context, l logRequest) ([]answer, error) {
	ctx, cancel := context.WithTimeout(ctx, readAllTime)
	defer cancel()
	answers := make([]answer, len(l.pods))
	onNode := map[string][]int{}
	for i, pod := range l.pods {
		if !l.query.Previous || l.restarted(pod) {
			onNode[pod.Spec.NodeName] = append(onNode[pod.Spec.NodeName], i)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsOfAll)
	for _, indexes := range onNode {
		g.Go(func() error {
			for _, i := range indexes {
				var err error
				if answers[i], err = p.answerOf(ctx, l, l.pods[i].Name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return answers, g.Wait()
}

// answerOf reads the log of one Pod. It returns an error unless only the Pod's node is affected.
func (p *Pages) answerOf(ctx context.Context, l logRequest, pod string) (answer, error) {
	if ctx.Err() != nil {
		return answer{err: ctx.Err()}, nil //nolint:nilerr // the answer has it: the time is up, or another copy failed for all
	}
	lines, cut, err := p.linesOf(ctx, l.id, l.of(pod))
	if none, ok := errors.AsType[*page.NoLogError](err); ok {
		return answer{why: none.Words}, nil
	}
	switch {
	case errors.Is(err, page.ErrNoPod):
		return answer{}, nil
	case err != nil && !unanswered(err):
		return answer{}, err
	}
	return answer{found: true, lines: lines, cut: cut, err: err}, nil
}

// unanswered reports whether the error is about one node, which does not return its logs.
func unanswered(err error) bool {
	_, away := errors.AsType[*failure.UnavailableError](err)
	_, broken := errors.AsType[*podlogs.BrokenError](err)
	return away || broken || errors.Is(err, context.DeadlineExceeded)
}

const noCopyYet = "No logs yet: no replica has started."

// noCopyOf returns noCopyYet with the reason of one of the Pods.
func noCopyOf(pod, why string) string { return noCopyYet + " " + replica(pod, why) }

// replica returns what is said about one of several Pods.
func replica(pod, why string) string { return "Replica " + shortName(pod) + ": " + why }

// note returns which Pods are not among the lines.
func (l logRequest) note(without []string) string {
	var words []string
	if len(without) > 0 {
		words = append(words, "Without "+strings.Join(without, ", ")+": Kubernetes does not give that log at the "+
			"moment.")
	}
	if l.hidden > 0 {
		words = append(words, fmt.Sprintf("The %d newest of %d replicas. Choose a replica to see another.", len(l.pods),
			len(l.copies)))
	}
	return strings.Join(words, " ")
}
