package chaos

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// tryComparison causes harm while the operator is down, and fails unless compare reports exactly each harm.
func (w *world) tryComparison(ctx context.Context, out io.Writer) error {
	w.operator.hold(true)
	if err := w.operator.Kill(); err != nil {
		return err
	}
	before, err := w.picture(ctx)
	if err != nil {
		return err
	}
	if wrong := before.compare(); len(wrong) > 0 {
		return fmt.Errorf("before any harm was done:\n  %s", strings.Join(wrong, "\n  "))
	}
	var victims []object
	for _, o := range before.objects {
		if o.kind == "SQSQueue" && !o.foreign {
			victims = append(victims, o)
		}
	}
	if len(victims) < 2 {
		return fmt.Errorf("%d queues are too few to do harm to: use another seed, or a longer campaign", len(victims))
	}
	queues := w.services["SQSQueue"]
	for _, harm := range []struct {
		want string
		do   func() error
	}{
		{"orphan: SQSQueue harm-orphan", func() error { return queues.make(ctx, "harm-orphan", map[string]string{"portico.dev/uid": "gone"}) }},
		{"orphan: SQSQueue harm-unmarked has no marks", func() error { return queues.make(ctx, "harm-unmarked", nil) }},
		{"duplicate: the " + victims[0].String(), func() error {
			return queues.make(ctx, "harm-double", map[string]string{"portico.dev/uid": victims[0].uid})
		}},
		{"missing: the " + victims[1].String(), func() error { return queues.destroy(ctx, victims[1].id) }},
		{"touched: somebody else's SQSQueue", func() error { return queues.tag(ctx, "theirs-sqsqueue", map[string]string{"touched": "yes"}) }},
		{"touched: somebody else's S3Bucket theirs-s3bucket is gone", func() error { return w.services["S3Bucket"].destroy(ctx, "theirs-s3bucket") }},
	} {
		if err := w.tryHarm(ctx, harm.want, harm.do); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "found                         %s\n", harm.want)
	}
	return nil
}

// tryHarm causes one more harm and checks that compare reports exactly one more difference.
func (w *world) tryHarm(ctx context.Context, want string, do func() error) error {
	before, err := w.picture(ctx)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := w.picture(ctx)
	if err != nil {
		return err
	}
	known, found := before.compare(), after.compare()
	if len(found) != len(known)+1 || !strings.Contains(strings.Join(found, "\n"), want) {
		return fmt.Errorf("the harm %q is not told, or something else is: %s", want, strings.Join(found, "\n"))
	}
	return nil
}
