package resource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
)

const (
	// readAllTime is for the logs of all copies together; the answer has to be written before the server gives up.
	readAllTime = 8 * time.Second
	// readsOfAll is how many copies are read at a time: two pages that are opened at once have room among
	// podlogs.MaxReads.
	readsOfAll = podlogs.MaxReads / 2
)

// answer is what reading the log of one copy gave.
type answer struct {
	found bool
	lines []string
	cut   bool
	err   error
}

// linesOfAll returns the last lines of all copies as one. Copies that do not answer in time are left out, and named in
// the note.
func (p *Pages) linesOfAll(ctx context.Context, l logRequest) (lines []string, cut bool, note string, err error) {
	answers, err := p.readAll(ctx, l)
	if err != nil {
		return nil, false, "", err
	}
	var copies []podlogs.Copy
	var without []string
	var failed error
	for i, a := range answers {
		name := shortName(l.pods[i].Name)
		switch {
		case a.err != nil:
			without, failed = append(without, name), a.err
		case a.found:
			copies, cut = append(copies, podlogs.Copy{Name: name, Lines: a.lines}), cut || a.cut
		}
	}
	switch {
	case len(copies) == 0 && failed != nil:
		return nil, false, "", failed
	case len(copies) == 0:
		return nil, false, "", &page.NoLogError{Words: noCopyYet}
	}
	return podlogs.Interleave(copies, l.query.Timestamps), cut, l.note(without), nil
}

// readAll reads the logs of all copies, in their order; those that cannot have one are not asked. The copies on one
// node are read one after another, so that a node that is down delays no other copy.
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

// answerOf reads the log of one copy. An error that is not of its node alone is returned.
func (p *Pages) answerOf(ctx context.Context, l logRequest, pod string) (answer, error) {
	if ctx.Err() != nil {
		return answer{err: ctx.Err()}, nil //nolint:nilerr // the answer has it: the time is up, or another copy failed for all
	}
	lines, cut, err := p.linesOf(ctx, l.id, l.of(pod))
	_, none := errors.AsType[*page.NoLogError](err)
	switch {
	case none || errors.Is(err, page.ErrNoPod): // it has not started, or has gone
		return answer{}, nil
	case err != nil && !unanswered(err):
		return answer{}, err
	}
	return answer{found: true, lines: lines, cut: cut, err: err}, nil
}

// unanswered reports whether an error is of one node, which does not give its logs.
func unanswered(err error) bool {
	_, away := errors.AsType[*cluster.UnavailableError](err)
	_, broken := errors.AsType[*podlogs.BrokenError](err)
	return away || broken || errors.Is(err, context.DeadlineExceeded)
}

const noCopyYet = "No logs yet: no replica has started."

// note says which copies are not among the lines.
func (l logRequest) note(without []string) string {
	var words []string
	if len(without) > 0 {
		words = append(words, "Without "+strings.Join(without, ", ")+": Kubernetes does not give that log at the moment.")
	}
	if l.hidden > 0 {
		words = append(words, fmt.Sprintf("The %d newest of %d replicas. Choose a replica to see another.", len(l.pods), len(l.copies)))
	}
	return strings.Join(words, " ")
}
