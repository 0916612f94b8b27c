package hostname

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestACertificateThatIsGoneIsRequestedAgain(t *testing.T) {
	d := newDesk(t)
	_ = d.pass()
	delete(d.all, d.req.Status.Certificate.ARN)
	if got := reasonOf(d.pass()); got != "CertificatePending" || len(d.tokens) != 1 {
		t.Errorf("just after: %s, %d requests", got, len(d.tokens))
	}
	d.now = d.now.Add(2 * time.Minute)
	_ = d.pass()
	if _ = d.pass(); len(d.tokens) != 2 || len(d.all) != 1 || !slices.ContainsFunc(d.notes, func(n string) bool {
		return strings.HasPrefix(n, "CertificateLost")
	}) {
		t.Errorf("later: %d requests, notes %v", len(d.tokens), d.notes)
	}
}

// An account can request about a thousand certificates a year: somebody who deletes each one must not make us request
// them all.
func TestACertificateThatIsGoneAgainAndAgainIsRequestedMoreAndMoreSlowly(t *testing.T) {
	d := newDesk(t)
	_ = d.pass()
	for range 24 * 60 / 2 {
		clear(d.all)
		d.now = d.now.Add(2 * time.Minute)
		_ = d.pass()
	}
	if n := len(d.tokens); n < 4 || n > 7 {
		t.Errorf("%d requests in a day", n)
	}
	if err := d.pass(); reasonOf(err) != "CertificateLost" ||
		!strings.Contains(err.Error(), "find out who deletes them") {
		t.Error(err)
	}
}

// A certificate that ACM does not show yet must not count as lost because its request took long: it would be left
// behind.
func TestARequestThatWasLongInComingIsNotLost(t *testing.T) {
	d := newDesk(t)
	d.fails = errors.New("access denied")
	_ = d.pass()
	d.now, d.fails = d.now.Add(10*time.Minute), nil
	d.hidden = true
	if got := reasonOf(d.pass()); got != "CertificatePending" || d.req.Status.Certificate.ARN == "" {
		t.Errorf("%s, %+v", got, d.req.Status.Certificate)
	}
	d.now, d.hidden = d.now.Add(time.Second), false
	if got := reasonOf(d.pass()); got != "CertificatePending" || len(d.tokens) != 1 || len(d.all) != 1 {
		t.Errorf("%s, %d requests", got, len(d.tokens))
	}
}

// The clock was hours ahead when the certificate was requested or failed, and was corrected since.
func TestATimeThatLiesAheadIsNotWaitedFor(t *testing.T) {
	d := newDesk(t)
	_ = d.pass()
	d.now = d.now.Add(-3 * time.Hour)
	clear(d.all)
	_ = d.pass()
	if at := d.req.Status.Certificate.RequestedAt; !at.Time.Equal(d.now) {
		t.Errorf("requested at %s, and it is %s", at, d.now)
	}
	d.now = d.now.Add(2 * time.Minute)
	_ = d.pass()
	if _ = d.pass(); len(d.tokens) != 2 || len(d.all) != 1 {
		t.Errorf("%d requests, %d certificates", len(d.tokens), len(d.all))
	}
}
