package resource

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/podlogs"
	"github.com/portico-platform/portico/portal/sse"
	"github.com/portico-platform/portico/web/views"
)

// following is logs on their way into a stream: one, or those of all copies as one.
type following struct {
	all     bool
	stamps  bool // shown
	names   func(context.Context) ([]string, error)
	tail    func(context.Context, string) *podlogs.Tail
	changed chan struct{}

	tails   map[string]followed // by Pod
	ended   map[string]string   // why nothing more comes of a Pod that is still there
	started bool                // lines were sent
	lines   int64               // that came of all copies
	size    int
}

// followed is the log of one Pod on its way. cancel ends what reads it.
type followed struct {
	*podlogs.Tail
	cancel context.CancelFunc
}

// news is what came since the last message.
type news struct {
	text  string
	lines int
	note  string // what there is to say
	end   error  // why nothing more comes
}

// render returns what came since the last message. It waits for nothing, or nobody would look whether the caller may
// still see the log.
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
		return nil, nil // what the page says while there are no lines holds
	}
	words, err := page.Parts(ctx, page.Replace("log-end", views.LogEndPart(n.note)))
	if err == nil && n.end != nil {
		err = sse.ErrFinished
	}
	return append(out, words...), err
}

// begin follows the Pods that it does not follow yet.
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
			defer cancel() // ends what signals to it
			t.Run(ctx)
			signal(f.changed) // forward might end before it passes on the last lines
		}()
	}
}

// leave ends what follows Pods that are no longer among those to follow. Their last lines have been taken.
func (f *following) leave(pods []string) {
	for pod, t := range f.tails {
		if !slices.Contains(pods, pod) {
			t.cancel()
			delete(f.tails, pod)
			delete(f.ended, pod)
		}
	}
}

// take empties the buffers.
func (f *following) take(pods []string) news {
	if f.all {
		return f.takeAll(pods)
	}
	var n news
	for _, t := range f.tails { // of the one
		n.text, n.lines, n.note, n.end = t.Take()
	}
	return n
}

// takeAll empties the buffers of all copies. That of one may end: others go on, and more may come.
func (f *following) takeAll(pods []string) news {
	var n news
	var copies []podlogs.Copy
	for _, pod := range slices.Sorted(maps.Keys(f.tails)) {
		text, lines, _, end := f.tails[pod].Take()
		if lines > 0 {
			copies = append(copies, podlogs.Copy{Name: shortName(pod), Lines: strings.Split(text, "\n")})
		}
		f.lines, f.size = f.lines+int64(lines), f.size+len(text)
		switch {
		case end == nil:
			delete(f.ended, pod)
		case endsAll(end):
			n.end = end
		default:
			f.ended[pod] = "Replica " + shortName(pod) + ": " + endWords(end)
		}
	}
	all := podlogs.Interleave(copies, f.stamps)
	n.text, n.lines = strings.Join(all, "\n"), len(all)
	if f.lines > podlogs.MaxLines || f.size > podlogs.MaxFollowed {
		n.end = podlogs.ErrBound
	}
	n.note = f.noteOn(pods)
	return n
}

// noteOn says of which copies that are still there nothing more comes.
func (f *following) noteOn(pods []string) string {
	if f.lines == 0 {
		return noCopyYet + " They appear here as soon as there are any."
	}
	var words []string
	for _, pod := range pods {
		if why := f.ended[pod]; why != "" {
			words = append(words, why)
		}
	}
	return strings.Join(words, " ")
}

// endsAll reports whether what ends the log of one copy ends those of all.
func endsAll(end error) bool {
	_, forbidden := errors.AsType[*cluster.ForbiddenError](end)
	return forbidden || errors.Is(end, podlogs.ErrBound)
}
