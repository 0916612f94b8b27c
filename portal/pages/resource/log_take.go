package resource

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// following is the state of a stream of logs: one, or those of all Pods merged.
type following struct {
	all     bool
	stamps  bool // shown
	names   func(context.Context) ([]string, error)
	tail    func(context.Context, string) *podlogs.Tail
	changed chan struct{}

	tails   map[string]followed // by Pod
	ended   map[string]string   // by existing Pod: why its log ended
	unbegun map[string]string   // by existing Pod: why it has no log yet
	started bool                // lines were sent
	lines   int64               // number of lines of all Pods
	size    int
}

// followed is the followed log of one Pod. cancel ends reading it.
type followed struct {
	*podlogs.Tail
	cancel context.CancelFunc
}

// news is what was read since the last message.
type news struct {
	text  string
	lines int
	note  string // note for the user
	end   error  // why the log ended
}

// render returns what was read since the last message. It must not block, or the access check of the stream would not
// run.
func (f *following) render(ctx context.Context) ([]sse.Part, error) {
	pods, err := f.names(ctx)
	if err != nil {
		return nil, err
	}
	n := f.take(pods)
	f.leave(pods)
	f.begin(ctx, pods)
	var out []sse.Part
	if n.lines > 0 {
		event := "log"
		if !f.started {
			event, f.started = "log-start", true
		}
		out = append(out, sse.Part{Event: event, Text: n.text})
	}
	if n.end != nil {
		n.note = endWords(n.end)
	}
	if !f.started && n.note == "" {
		return nil, nil // the page's note still applies
	}
	words, err := page.Parts(ctx, page.Replace("log-end", views.LogEndPart(n.note)))
	if err == nil && n.end != nil {
		err = sse.ErrFinished
	}
	return append(out, words...), err
}

// begin follows the Pods that are not followed yet.
func (f *following) begin(ctx context.Context, pods []string) {
	for _, pod := range pods {
		if _, known := f.tails[pod]; known {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		t := f.tail(ctx, pod)
		f.tails[pod] = followed{t, cancel}
		go forward(ctx, t.News(), f.changed)
		go func() {
			defer cancel() // ends its signals
			t.Run(ctx)
			signal(f.changed) // forward might end before the last lines
		}()
	}
}

// leave stops following Pods that are no longer selected. Their last lines have been taken.
func (f *following) leave(pods []string) {
	for pod, t := range f.tails {
		if !slices.Contains(pods, pod) {
			t.cancel()
			delete(f.tails, pod)
			delete(f.ended, pod)
			delete(f.unbegun, pod)
		}
	}
}

// take empties the buffers.
func (f *following) take(pods []string) news {
	if f.all {
		return f.takeAll(pods)
	}
	var n news
	for _, t := range f.tails { // there is one
		n.text, n.lines, n.note, n.end = t.Take()
	}
	return n
}

// takeAll empties the buffers of all Pods. The log of one can end while others continue.
func (f *following) takeAll(pods []string) news {
	var n news
	var copies []podlogs.Copy
	for _, pod := range slices.Sorted(maps.Keys(f.tails)) {
		text, lines, note, end := f.tails[pod].Take()
		if lines > 0 {
			copies = append(copies, podlogs.Copy{Name: shortName(pod), Lines: strings.Split(text, "\n")})
		}
		f.lines, f.size = f.lines+int64(lines), f.size+len(text)
		switch {
		case end == nil:
			f.unbegun[pod], f.ended[pod] = note, ""
		case endsAll(end):
			n.end = end
		default:
			f.unbegun[pod], f.ended[pod] = "", endWords(end)
		}
	}
	all := podlogs.Merge(copies, f.stamps)
	n.text, n.lines = strings.Join(all, "\n"), len(all)
	if f.lines > podlogs.MaxLines || f.size > podlogs.MaxFollowed {
		n.end = podlogs.ErrBound
	}
	n.note = f.noteOn(pods)
	return n
}

// noteOn returns which existing Pods' logs have ended.
func (f *following) noteOn(pods []string) string {
	if f.lines == 0 {
		for _, pod := range pods {
			if why := cmp.Or(f.unbegun[pod], f.ended[pod]); why != "" {
				return noCopyOf(pod, why)
			}
		}
		return noCopyYet + " They appear here as soon as there are any."
	}
	var words []string
	for _, pod := range pods {
		if why := f.ended[pod]; why != "" {
			words = append(words, replica(pod, why))
		}
	}
	return strings.Join(words, " ")
}

// endsAll reports whether the reason for which one Pod's log ended also ends all others.
func endsAll(end error) bool {
	_, forbidden := errors.AsType[*failure.ForbiddenError](end)
	return forbidden || errors.Is(end, podlogs.ErrBound)
}
