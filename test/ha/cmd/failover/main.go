// Command failover measures how long Portico is without a leader when the leading operator ends, and whether anything
// is done twice during the change. It runs two operators with a deployment's flags against a real kube-apiserver and
// the AWS simulator. It fails when a goal is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	measure "github.com/portico-platform/portico/test/campaign"
)

func main() { measure.Main("failover", run) }

// way is a way in which a leader ends, and the maximum time until the next one works.
type way struct {
	name string
	end  func(*operator) error
	goal time.Duration
}

var ways = []way{
	{"SIGTERM", func(o *operator) error { return o.Stop() }, 5 * time.Second},
	{"SIGKILL", func(o *operator) error { return o.Kill() }, 10 * time.Second},
}

func run(ctx context.Context, args []string, out, progress io.Writer) (failed error) {
	flags := flag.NewFlagSet("failover", flag.ContinueOnError)
	root := flags.String("root", ".", "the repository")
	tries := flags.Int("tries", 20, "how often a leader is ended, each `way`")
	hiccups := flags.Int("hiccups", 5, "how `often` the API server stops answering for a while")
	if err := flags.Parse(args); err != nil {
		return err
	}
	w, err := begin(ctx, *root, progress)
	if err != nil {
		return err
	}
	defer func() {
		if failed != nil {
			w.stack.KeepLogs()
			failed = fmt.Errorf("%w (logs are in %s)", failed, w.stack.Dir)
		}
		failed = errors.Join(failed, w.stack.Close())
	}()
	_, _ = fmt.Fprintf(out, "\n%s\n", measure.Machine())
	var missed []error
	for _, one := range ways {
		err := w.measure(ctx, one, *tries, out)
		if w.broken != nil {
			return w.broken
		}
		missed = append(missed, err)
	}
	return errors.Join(append(missed, w.pause(ctx, *hiccups, out), w.doubles(out))...)
}

// measure ends the leader tries times, and returns an error if the goal is missed.
func (w *world) measure(ctx context.Context, one way, tries int, out io.Writer) error {
	var leads, works []time.Duration
	for i := range tries {
		t, err := w.try(ctx, one, fmt.Sprintf("%s-%d", one.name, i))
		if err != nil {
			w.broken = fmt.Errorf("%s, try %d: %w", one.name, i+1, err)
			return w.broken
		}
		leads, works = append(leads, t.leads), append(works, t.works)
		_, _ = fmt.Fprintf(w.progress, "%s %d of %d: leads after %.1f s, works after %.1f s\n", one.name, i+1, tries,
			t.leads.Seconds(), t.works.Seconds())
	}
	_, _ = fmt.Fprintf(out, "%s, %d tries\n  the next leader leads after   median %4.1f s   max %4.1f s\n  it "+
		"creates in AWS after       median %4.1f s   max %4.1f s   goal %.0f s\n",
		one.name, tries, measure.Percentile(leads, 0.5).Seconds(), slices.Max(leads).Seconds(),
		measure.Percentile(works, 0.5).Seconds(), slices.Max(works).Seconds(), one.goal.Seconds())
	if most := slices.Max(works); most > one.goal {
		return fmt.Errorf("after %s it took %.1f s until something was created again, and the goal is %.0f s", one.name,
			most.Seconds(), one.goal.Seconds())
	}
	return nil
}
