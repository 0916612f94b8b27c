package main

import (
	"context"
	"strings"
	"testing"
)

func TestDescribingShowsWhatMayBeSeen(t *testing.T) {
	const (
		allowed   = `{"items": [{"type": "Normal", "reason": "Created", "message": "made it", "count": 2, "time": "2026-01-02T03:00:05Z"}]}`
		forbidden = `{"detail": "you are not allowed to list events in namespace payments"}`
		checked   = `{"state": "checked", "lastChecked": "2026-01-02T03:03:05Z", "message": "all is as declared", "live": {"Messages": "7"}}`
	)
	for _, c := range []struct {
		name           string
		events, checks reply
		code           int
		shown          []string
		said           string
	}{
		{
			"all of it",
			reply{status: 200, body: allowed},
			reply{status: 200, body: checked},
			0,
			[]string{
				"Last checked:    60s ago: all is as declared", "Messages:        7",
				"Normal   Created   4m    2       made it",
			},
			"",
		},
		{
			"without the right to events",
			reply{status: 403, body: forbidden},
			reply{status: 200, body: checked},
			0,
			[]string{"all is as declared"},
			"The events are not shown: you are not allowed to list events in " +
				"namespace payments\n",
		},
		{
			"without the right to checks",
			reply{status: 200, body: allowed},
			reply{status: 403, body: `{"detail": "you are not allowed to get it"}`},
			0,
			[]string{"made it"},
			"The checks are not shown: you are not allowed to get it\n",
		},
		{"while events cannot be read", reply{status: 500, body: `{"detail": "went wrong"}`}, reply{status: 200, body: checked}, 1, []string{"all is as declared"}, "portico: went wrong\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+buckets+"/a", 200, bucket("a", "True", ""))
			p.on("GET "+buckets+"/a/events", c.events.status, c.events.body)
			p.on("GET "+buckets+"/a/checks", c.checks.status, c.checks.body)
			out, said := newTerminal(t, p.url).run(c.code, "describe", "bucket", "a")
			for _, want := range append(c.shown, "Name:", "STEP", "AWS account:     aws", "Ready   done    30m") {
				if !strings.Contains(out, want) {
					t.Errorf("lacks %q: %s", want, out)
				}
			}
			if said != c.said {
				t.Errorf("said %q, want %q", said, c.said)
			}
		})
	}
}

// nowhere makes the portal respond 404 for objects with the name, of any kind.
func (f *fake) nowhere(name string) {
	for _, plural := range []string{
		"s3buckets", "rdsinstances", "databaseusers", "gatewayhostnamerequests",
		"sqsqueues", "accessbindings", "snstopics", "ec2instances", "webapps",
	} {
		f.on("GET /namespaces/payments/"+plural+"/"+name, 404, noSuch)
	}
}

func TestDescribingByNameAlone(t *testing.T) {
	p := newPortal(t)
	p.nowhere("shop")
	p.on("GET "+shop, 200, webapp(`"image": "shop:2"`), "ETag", etag)
	p.on("GET "+shop+"/events", 200, `{"items": []}`)
	p.on("GET "+shop+"/checks", 200, `{"state": "unchecked"}`)
	term := newTerminal(t, p.url)
	out, _ := term.run(0, "describe", "shop")
	for _, want := range []string{
		"Kind:            Web app (WebApp)", "Rolled out              waiting                    Not started yet.",
		"Ready                   done\n",
		"VERSION   IMAGE    AGE   AVAILABLE\n3         shop:2   60m   2\n2         shop:1   24h   0\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q: %s", want, out)
		}
	}
	if n := p.times("GET /me"); n != 1 {
		t.Errorf("asked %d times for the namespace", n)
	}
	p.on("GET "+buckets+"/shop", 200, bucket("shop", "True", ""), "ETag", etag)
	if _, said := term.run(2, "describe", "shop"); !strings.Contains(
		said, "there is a bucket shop and a web app shop: name the kind too, such as bucket shop") {
		t.Errorf("said %q", said)
	}
	p.nowhere("shop")
	if _, said := term.run(5, "describe", "shop"); said != "portico: nothing here is called shop\n  See what there "+
		"is with portico get.\n" {
		t.Errorf("said %q", said)
	}
	p.on("GET "+databases+"/shop", 403, `{"status": 403, "detail": "you are not allowed to get it"}`)
	if _, said := term.run(5, "describe", "shop"); !strings.Contains(
		said, "nothing here is called shop, as far as you can look: you have no access to rdsinstances\n") {
		t.Errorf("said %q", said)
	}
}

const shop = "/namespaces/payments/webapps/shop"

func TestFollowingALog(t *testing.T) {
	lines := sse("lines", `{"lines": ["a", "b"]}`)
	for _, c := range []struct {
		name, stream string
		code         int
		out, want    string
	}{
		{
			"to its end", sse("waiting", `{"message": "it starts"}`) + lines + sse(
				"end", `{"reason": "ended", "message": "the container has ended"}`) + sse("finished", `{}`), 0,
			"a\nb\n",
			"it starts\nthe container has ended\n",
		},
		{"whose reader lost it", lines + sse("end", `{"reason": "lost", "message": "the connection to the log is lost"}`), 1, "a\nb\n", "portico: the connection to the log is lost\n"},
		{"that breaks off", lines, 1, "a\nb\n", "portico: the connection to the log ended: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPortal(t)
			p.on("GET "+shop+"/logs?follow=true&tail=200", 200, c.stream)
			out, said := newTerminal(t, p.url).run(c.code, "logs", "shop", "-f")
			if out != c.out || !strings.HasPrefix(said, c.want) {
				t.Errorf("shows %q and says %q, want %q and %q", out, said, c.out, c.want)
			}
		})
	}
	t.Run("that is not there", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+shop+"/logs?tail=200", 400, `{"detail": "Pod shop-1 has no node yet: 0/3 nodes are available."}`)
		out, said := newTerminal(t, p.url).run(1, "logs", "shop")
		if out != "" || said != "portico: Pod shop-1 has no node yet: 0/3 nodes are available.\n" {
			t.Errorf("shows %q and says %q", out, said)
		}
	})
	t.Run("that may not be read", func(t *testing.T) {
		p := newPortal(t)
		p.on("GET "+shop+"/logs?follow=true&tail=200", 403, `{"detail": "you are not allowed to get pods/log"}`)
		if _, said := newTerminal(t, p.url).run(6, "logs", "shop", "-f"); !strings.HasPrefix(
			said, "portico: you are not allowed to get pods/log\n") {
			t.Errorf("says %q", said)
		}
	})
}

func TestOnlyThePersonInterrupts(t *testing.T) {
	p := newPortal(t)
	p.on("GET "+buckets+"/a", 200, bucket("a", "False", ""))
	p.on("GET "+buckets+"/a?watch=true", 200, snapshot(bucket("a", "False", "")))
	ctx, cancel := context.WithCancel(t.Context())
	term := newTerminal(t, p.url)
	w := term.world
	w.out, w.err = &term.out, stopper{cancel}
	if got := run(ctx, []string{"wait", "bucket", "a"}, w); got != exitInterrupted {
		t.Errorf("exits with %d", got)
	}
	if got := exitCode(context.Canceled); got != exitError {
		t.Errorf("a connection that was cancelled by others exits with %d", got)
	}
}

// stopper is an output that interrupts the command at the first write.
type stopper struct{ stop func() }

func (s stopper) Write(b []byte) (int, error) {
	s.stop()
	return len(b), nil
}
