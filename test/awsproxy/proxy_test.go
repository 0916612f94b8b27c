package awsproxy

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

func get(id uint64) Call { return Call{ID: id, Operation: "Get"} }

func TestJournalKeepsTheLatest(t *testing.T) {
	j := newJournal(3)
	var calls []Call
	for range 5 {
		c := get(0)
		j.begin(&c)
		calls = append(calls, c)
	}
	ids := func(cs []Call) (out []uint64) {
		for _, c := range cs {
			out = append(out, c.ID)
		}
		return out
	}
	if got := ids(j.since(0, nil)); !slices.Equal(got, []uint64{3, 4, 5}) {
		t.Errorf("kept %v", got)
	}
	if got := ids(j.since(4, nil)); !slices.Equal(got, []uint64{5}) {
		t.Errorf("since 4: %v", got)
	}
	if got := j.since(j.mark(), nil); len(got) != 0 {
		t.Errorf("since the mark: %v", got)
	}
	calls[0].Status, calls[4].Status = 200, 200
	j.update(calls[0]) // dropped: must not overwrite its successor
	j.update(calls[4])
	if got := j.since(0, nil); got[0].Status != 0 || got[2].Status != 200 {
		t.Errorf("after the update %+v", got)
	}
}

func newFaults() *faults { return &faults{random: rand.New(rand.NewPCG(1, 1))} }

func TestFaultMatches(t *testing.T) {
	c := Call{Service: "s3", Operation: "PutBucketTagging", Resource: "a,b", Account: "1", Write: true}
	for name, tc := range map[string]struct {
		fault Fault
		want  bool
	}{
		"empty fault":         {Fault{}, true},
		"all fields":          {Fault{Service: "s3", Operation: "PutBucketTagging", Resource: "b", Account: "1", OnlyWrites: true}, true},
		"pattern":             {Fault{Operation: "Put*"}, true},
		"other pattern":       {Fault{Operation: "Get*"}, false},
		"broken pattern":      {Fault{Operation: "["}, false},
		"other service":       {Fault{Service: "sqs"}, false},
		"part of a name":      {Fault{Resource: "a,"}, false},
		"other account":       {Fault{Account: "2"}, false},
		"not a further page":  {Fault{OnlyContinued: true}, false},
		"a predicate decides": {Fault{Match: func(Call) bool { return false }}, false},
	} {
		if got := tc.fault.matches(c); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	c.Write = false
	if (Fault{OnlyWrites: true}).matches(c) {
		t.Error("OnlyWrites matches a read")
	}
}

func TestFaultsFireInOrderAndAreSpent(t *testing.T) {
	fs := newFaults()
	fs.inject(Fault{Kind: Latency, Delay: time.Second})
	remove := fs.inject(Fault{Kind: Throttle, Times: 2})
	fs.inject(Fault{Kind: Latency, Delay: time.Hour}) // after the fault: without effect
	last := fs.inject(Fault{Kind: Denied})
	var kinds []FaultKind
	for range 3 {
		kind, _ := fs.pick(get(1))
		kinds = append(kinds, kind)
	}
	if want := []FaultKind{Throttle, Throttle, Denied}; !slices.Equal(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
	remove() // used up already: no effect
	last()
	last()
	if kind, delay := fs.pick(get(1)); kind != "" || delay != time.Hour+time.Second {
		t.Errorf("got %q and %s", kind, delay)
	}
}

func TestFaultProbabilityFollowsTheSeed(t *testing.T) {
	draw := func() (fired []int) {
		fs := newFaults()
		fs.inject(Fault{Kind: Throttle, Probability: 0.3})
		for i := range 1000 {
			if kind, _ := fs.pick(get(1)); kind == Throttle {
				fired = append(fired, i)
			}
		}
		return fired
	}
	first := draw()
	if n := len(first); n < 250 || n > 350 {
		t.Errorf("fired %d times of 1000, want about 300", n)
	}
	if !slices.Equal(first, draw()) {
		t.Error("the same seed drew other lots")
	}
}

// stub returns a proxy whose upstream is the handler.
func stub(t *testing.T, answer http.HandlerFunc) (p *Proxy, operator *httptest.Server) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	up := httptest.NewServer(answer)
	base, err := url.Parse(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	p, err = New(Options{Upstream: base, StaticKeys: map[string]string{"KEY": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	operator = httptest.NewServer(p.Operator())
	t.Cleanup(func() {
		p.Close()
		operator.Close()
		up.Close()
		goleak.VerifyNone(t, before)
	})
	return p, operator
}

// do sends a signed request; body != "" makes it a form.
func do(t *testing.T, s *httptest.Server, service, method, path, body string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	req.Header.Set("X-Amz-Date", now.Format(amzTime))
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=KEY/"+now.Format("20060102")+"/eu-west-1/"+service+
		"/aws4_request, SignedHeaders=host, Signature=0")
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

func TestAccountReachesTheSimulatorAndCannotBeForged(t *testing.T) {
	var got http.Header
	p, s := stub(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	if _, _, err := do(t, s, "rds", "POST", "/", "Action=RebootDBInstance&DBInstanceIdentifier=db1"); err != nil {
		t.Fatal(err)
	}
	if got.Get(wire.AccountHeader) != "1" {
		t.Errorf("account %q", got.Get(wire.AccountHeader))
	}
	c := p.Calls()[0]
	if c.Service != "rds" || c.Operation != "RebootDBInstance" {
		t.Errorf("journal %+v", c)
	}
	if c.Resource != "db1" || !c.Write {
		t.Errorf("journal %+v", c)
	}
	if c.Status != 200 || c.Account != "1" {
		t.Errorf("journal %+v", c)
	}
	if c.Region != "eu-west-1" {
		t.Errorf("journal %+v", c)
	}
}

func TestTruncatedObjectIsNeverWhole(t *testing.T) {
	_, s := stub(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodHead:
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
		case r.URL.Query().Has("policy"):
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/":
			_,
				_ = io.WriteString(
				w,
				"<ListAllMyBucketsResult><Buckets><Bucket><Name>bucket</Name></Bucket></Buckets></ListAllMyBucketsResult>")
		default:
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	if _, body, err := do(t, s, "s3", "GET", "/bucket/key", ""); err == nil {
		t.Errorf("got %q without an error", body)
	}
}

func TestSimulatorAwayIsAServerError(t *testing.T) {
	_, s := stub(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	resp, body, err := do(t, s, "rds", "POST", "/", "Action=DescribeDBInstances")
	if err != nil || resp.StatusCode != 500 || !strings.Contains(body, "<Code>InternalFailure</Code>") {
		t.Errorf("got %v, %s, %v", resp, body, err)
	}
}

func TestFixedRequestIDsAreReplaced(t *testing.T) {
	_, s := stub(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<R><ResponseMetadata><RequestId>EXAMPLE</RequestId></ResponseMetadata></R>")
	})
	resp, body, err := do(t, s, "rds", "POST", "/", "Action=DescribeDBInstances")
	if err != nil {
		t.Fatal(err)
	}
	id := resp.Header.Get("X-Amzn-Requestid")
	if len(id) != 36 || !strings.Contains(body, "<RequestId>"+id+"</RequestId>") {
		t.Errorf("header %q, body %s", id, body)
	}
}

func TestLatencyDelaysAndIsCutShortByClose(t *testing.T) {
	p, s := stub(t, func(http.ResponseWriter, *http.Request) {})
	p.SetLatency(time.Hour)
	go func() {
		for len(p.Calls()) == 0 {
			time.Sleep(time.Millisecond)
		}
		p.Close()
	}()
	if _, _, err := do(t, s, "rds", "POST", "/", "Action=DescribeDBInstances"); err == nil {
		t.Error("answered before its time")
	}
	if err := p.callHook(context.Background(), Call{Actor: Operator}, Before); err != nil {
		t.Error(err)
	}
	p.OnCall(func(context.Context, Call, Phase) error { return errors.ErrUnsupported })
	if err := p.callHook(context.Background(), Call{Actor: Outside}, Before); err != nil {
		t.Errorf("the hook saw the outside: %v", err)
	}
}

func TestNewNeedsAnUpstream(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("no error")
	}
}
