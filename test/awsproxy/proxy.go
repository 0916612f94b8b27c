package awsproxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/acm"
	"github.com/portico-platform/portico/test/awsproxy/delivery"
	"github.com/portico-platform/portico/test/awsproxy/ec2"
	"github.com/portico-platform/portico/test/awsproxy/eks"
	"github.com/portico-platform/portico/test/awsproxy/elbv2"
	"github.com/portico-platform/portico/test/awsproxy/iam"
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/kms"
	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/podidentity"
	"github.com/portico-platform/portico/test/awsproxy/rds"
	"github.com/portico-platform/portico/test/awsproxy/route53"
	"github.com/portico-platform/portico/test/awsproxy/s3"
	"github.com/portico-platform/portico/test/awsproxy/sns"
	"github.com/portico-platform/portico/test/awsproxy/sqs"
	"github.com/portico-platform/portico/test/awsproxy/sts"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Options configure a Proxy. Only Upstream is required.
type Options struct {
	// Upstream is the simulator's base URL.
	Upstream *url.URL
	// StaticKeys maps the long-lived access keys that exist to the accounts that own them. Keys from AssumeRole or
	// IAM need no entry.
	StaticKeys map[string]string
	// S3Hosts are names of the proxy, without port, whose subdomains are buckets (virtual-host style), in addition to
	// AWS's own and localhost.
	S3Hosts []string
	// RolePolicies are the policies of every role without its own policies (see AttachPolicies); the zero value
	// allows nothing.
	RolePolicies iampolicy.Policies
	// TimeScale scales AWS's own times: how long changes may stay hidden from the operator, how long sessions last, how
	// long a deleted queue's name is unavailable, and how long a new database is being created. 1 is as in AWS; 0
	// means that everything happens at once.
	TimeScale float64
	// JournalSize is a number of calls; 0 means DefaultJournalSize.
	JournalSize int
	// Seed seeds the random choices: of rules with a probability, and of changes that do not show yet; 0 means 1.
	Seed uint64
	// Now is the clock that the expiry of credentials uses; nil means time.Now.
	Now func() time.Time
}

// Proxy stands in front of the simulator. It is safe for concurrent use.
type Proxy struct {
	journal  *journal
	faults   *faults
	keys     *keyring
	upstream *wire.Upstream
	s3Hosts  []string
	now      func() time.Time
	judge    *permit.Judge
	lag      *lag.Lag
	regions  regions

	services map[string]behaviour

	// The services with settings for tests, whose methods are the proxy's.
	*acmService
	*ec2Service
	*eksService
	*iamService
	*podAgent
	*deliveryPost
	*rdsService
	*permitRoles
	*route53Service
	*s3Service
	*sqsService

	latency atomic.Int64
	// pageSize limits the operator's listings; 0 is no limit.
	pageSize atomic.Int64
	hookMu   sync.RWMutex
	hook     Hook

	done  context.Context // ends hanging calls
	close context.CancelFunc
}

// New returns a proxy; it starts nothing and connects to nothing yet.
func New(o Options) (*Proxy, error) {
	if o.Upstream == nil || o.Upstream.Host == "" {
		return nil, errors.New("awsproxy: Options.Upstream is required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	up := wire.NewUpstream(o.Upstream)
	p := &Proxy{
		journal:  newJournal(o.JournalSize),
		faults:   &faults{random: rand.New(rand.NewPCG(o.Seed, o.Seed))},
		keys:     newKeyring(o.StaticKeys, up, o.Now),
		upstream: up,
		s3Hosts:  append([]string{"localhost"}, o.S3Hosts...),
		now:      o.Now,
		lag:      lag.New(o.Seed, o.TimeScale, o.Now),
	}
	p.connect(o)
	p.done, p.close = context.WithCancel(context.Background())
	return p, nil
}

// connect creates the services, and connects those that depend on each other.
func (p *Proxy) connect(o Options) {
	up, accounts := p.upstream, p.keys.accounts
	book := iam.NewBook(up, p.lag)
	p.permitRoles = permit.NewRoles(o.RolePolicies, book.Policies)
	p.judge = permit.NewJudge(p.permitRoles, o.Now, p.policyOf)
	p.deliveryPost = delivery.New(up, o.Now, p.policyOf)

	p.s3Service = s3.New(up, p.lag, accounts, p.deliveryPost, p.judge.Decide, p.policyOf)
	p.rdsService = rds.New(up, p.lag, o.Now)
	p.judge.OwnerOf, p.judge.Uncounted = p.BucketOwner, p.UncountedTags
	p.ec2Service = ec2.New(up, p.lag, o.Now)
	p.sqsService = sqs.New(up, p.lag, o.Now)
	p.route53Service = route53.New(up, accounts, o.Now)
	balancers := elbv2.New(up)
	p.acmService = acm.New(up, p.route53Service, balancers, o.Now)
	p.iamService = iam.New(book)
	p.eksService = eks.New(book, p.lag, o.Now)
	sessions := sts.New(book, p.keys, p.judge.Decide, p.lag, o.Now)
	p.podAgent = podidentity.New(up, book, p.eksService, sessions, p.keys, p.lag, o.Now)

	p.services = map[string]behaviour{
		"s3": p.s3Service, "s3control": s3.Control{Service: p.s3Service}, "sqs": p.sqsService,
		"sns": sns.New(up, p.deliveryPost, p.pageSize.Load), "rds": p.rdsService, "ec2": p.ec2Service,
		"route53": p.route53Service, "acm": p.acmService, "elasticloadbalancing": balancers,
		"sts": sessions, "iam": p.iamService, "eks": p.eksService, "kms": kms.New(up),
		"tagging": unchanged(taggingNeeds), "ssm": unchanged(ssmNeeds),
	}
}

// Operator returns the endpoint for the operator under test.
func (p *Proxy) Operator() http.Handler { return handler{proxy: p, actor: Operator} }

// Outside returns the endpoint for tests and people who act behind the operator's back. It also serves the journal
// for people to read: GET /_portico/journal.
func (p *Proxy) Outside() http.Handler { return handler{proxy: p, actor: Outside} }

// Workload returns the endpoint for applications, which have the credentials of their Pods. It is as strict as the
// others, without faults, latency and hooks.
func (p *Proxy) Workload() http.Handler { return handler{proxy: p, actor: Workload} }

// Calls returns the journal, oldest first, calls in progress included.
func (p *Proxy) Calls(filters ...Filter) []Call { return p.journal.since(0, filters) }

// Mark returns the current end of the journal.
func (p *Proxy) Mark() Mark { return p.journal.mark() }

// CallsSince returns the calls that arrived after the mark, oldest first.
func (p *Proxy) CallsSince(m Mark, filters ...Filter) []Call { return p.journal.since(m, filters) }

// Inject adds a rule after the existing ones; the first that fires wins. The rule ends when it is used up or remove
// is called, which may be called more than once.
func (p *Proxy) Inject(f Fault) (remove func()) { return p.faults.inject(f) }

// SetLatency delays each of the operator's calls by d.
func (p *Proxy) SetLatency(d time.Duration) { p.latency.Store(int64(d)) }

// OnCall sets the hook and replaces the previous one; nil removes it.
func (p *Proxy) OnCall(h Hook) {
	p.hookMu.Lock()
	defer p.hookMu.Unlock()
	p.hook = h
}

// Calm makes every change show at once, until end is called: for tests that count calls.
func (p *Proxy) Calm() (end func()) { return p.lag.Calm() }

// RevokeKey makes the access key unknown, whatever its origin, until MapKey.
func (p *Proxy) RevokeKey(accessKey string) { p.keys.revoke(accessKey) }

// MapKey assigns the access key, known or not, to the account.
func (p *Proxy) MapKey(accessKey, account string) { p.keys.Assign(accessKey, account) }

// Close ends hanging calls and idle connections. The server that serves the handlers finishes calls in progress; shut
// it down first.
func (p *Proxy) Close() {
	p.close()
	p.upstream.Close()
}

func (p *Proxy) callHook(ctx context.Context, c Call, phase Phase) error {
	p.hookMu.RLock()
	h := p.hook
	p.hookMu.RUnlock()
	if h == nil || c.Actor != Operator {
		return nil
	}
	return h(ctx, c, phase)
}
