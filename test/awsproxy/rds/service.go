// Package rds is Amazon RDS: changes that wait, what it refuses, its offers, and real servers behind its endpoints.
package rds

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/lag"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// databaseCreation is how long a new database instance is "creating": minutes in AWS; one is enough for callers to see
// that state.
const databaseCreation = time.Minute

// Service makes changes wait for the maintenance window, which never comes, unless they apply immediately. It
// refuses what moto accepts and RDS does not: less storage, another change of storage soon after the last, passwords
// that no engine accepts, a deletion without a choice about the final snapshot, and changes of an instance that is
// still being created. It stores the port, Performance Insights and Extended Support, which moto does not. Moto
// itself protects instances from deletion, and ignores the case of identifiers.
type Service struct {
	upstream *wire.Upstream
	locks    wire.Locks // by instance
	lag      *lag.Lag
	now      func() time.Time
	answers  answers

	mu        sync.Mutex
	cooldown  time.Duration
	instances map[string]*instanceExtra // by account, region and identifier
	servers   Servers                   // nil: no server responds at an endpoint
}

// instanceExtra is the state of an instance that moto does not store.
type instanceExtra struct {
	ready          time.Time // the end of its creation
	storageChanged time.Time // last change; zero: never
	pending        url.Values
	port           string // empty: moto's
	lifecycle      string // of the engine; empty: RDS's choice
	insights       bool
}

// New returns RDS.
func New(up *wire.Upstream, lag *lag.Lag, now func() time.Time) *Service {
	return &Service{
		upstream: up, lag: lag, now: now, cooldown: storageCooldown,
		instances: map[string]*instanceExtra{},
	}
}

// Around serves the calls to RDS.
func (s *Service) Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	if r := wire.FirstRefusal(refuse(x), onSale(x)); r != nil {
		return r, nil
	}
	id := instanceKey(x, x.Form.Get("DBInstanceIdentifier"))
	var refusal *wire.Reply
	storage := false
	switch x.Call.Operation {
	case "CreateDBInstance", "RestoreDBInstanceFromDBSnapshot":
		defer s.locks.Lock(id, true)()
		refusal = s.create(x)
	case "ModifyDBInstance":
		defer s.locks.Lock(id, true)()
		var err error
		if storage, refusal, err = s.modify(ctx, x, id); err != nil {
			return nil, err
		}
	case "DescribeDBInstances":
		refusal = s.answers.longFilter(x)
	case "DeleteDBInstance":
		defer s.locks.Lock(id, true)()
		refusal = s.remove(x, id)
	}
	if refusal != nil {
		return refusal, nil
	}
	if err := s.before(ctx, x, id); err != nil {
		return nil, err
	}
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	s.note(x, id)
	if storage {
		s.storageChanged(id)
	}
	s.complete(x, r)
	s.answers.withoutTags(x, r)
	return s.serve(ctx, x, r, id), nil
}

func instanceKey(x *wire.Exchange, identifier string) string {
	return x.Call.Account + "/" + x.Call.Region + "/" + strings.ToLower(identifier)
}

// versions are the versions of instances that are requested with none, or with a part of one.
var versions = map[string][]string{
	"postgres": {"17.6", "16.10", "15.14"}, "mysql": {"8.4.6", "8.0.43"}, "mariadb": {"11.8.3", "10.11.14"},
	"oracle-ee": {"19.0.0.0.ru-2025-07.rur-2025-07.r1"}, "oracle-se2": {"19.0.0.0.ru-2025-07.rur-2025-07.r1"},
	"sqlserver-ee": {"16.00.4205.1.v1"}, "sqlserver-se": {"16.00.4205.1.v1"}, "sqlserver-ex": {"16.00.4205.1.v1"}, "sqlserver-web": {"16.00.4205.1.v1"},
}

// fullVersion returns the version that RDS chooses for the requested one.
func fullVersion(engine, asked string) string {
	for _, v := range versions[engine] {
		if asked == "" || strings.HasPrefix(v, asked+".") {
			return v
		}
	}
	return asked
}

func (s *Service) create(x *wire.Exchange) *wire.Reply {
	if x.Call.Operation == "CreateDBInstance" {
		if x.Form.Get("MasterUserPassword") == "" && x.Form.Get("ManageMasterUserPassword") != "true" {
			return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
				"You must specify MasterUserPassword, or ManageMasterUserPassword.")
		}
		if engine := x.Form.Get("Engine"); x.Form.Has("EngineLifecycleSupport") && !extendable[engine] {
			return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
				"EngineLifecycleSupport isn't supported for "+engine+".")
		}
		x.Form.Set("EngineVersion", fullVersion(x.Form.Get("Engine"), x.Form.Get("EngineVersion")))
		x.SetForm(x.Form)
	}
	return badPassword(x)
}

func badPassword(x *wire.Exchange) *wire.Reply {
	p := x.Form.Get("MasterUserPassword")
	if p == "" || (len(p) >= 8 && len(p) <= 128 && !strings.ContainsAny(p, "/@\" \n")) {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterValue",
		"The parameter MasterUserPassword is not a valid password. Only printable ASCII characters besides '/', '@', "+
			"'\"', ' ' may be used.")
}

// deferred are the changes that wait for the maintenance window.
var deferred = []string{
	"DBInstanceClass", "AllocatedStorage", "EngineVersion", "Iops", "MultiAZ", "StorageThroughput",
	"StorageType",
}

// modify holds back changes that wait for the maintenance window, and adds the waiting ones if the call applies
// changes immediately. It returns whether the call changes the storage now.
func (s *Service) modify(ctx context.Context, x *wire.Exchange, id string) (
	storage bool, refusal *wire.Reply, err error,
) {
	if refusal := cmp.Or(s.busy(x, id), badPassword(x)); refusal != nil {
		return false, refusal, nil
	}
	is, err := s.describe(ctx, x)
	if err != nil || is == nil {
		return false, nil, err // moto reports that it does not exist
	}
	if x.Form.Has("EngineVersion") {
		x.Form.Set("EngineVersion", fullVersion(wire.Element(is, "Engine"), x.Form.Get("EngineVersion")))
	}
	if n, _ := strconv.Atoi(x.Form.Get("AllocatedStorage")); x.Form.Has("AllocatedStorage") {
		if has, _ := strconv.Atoi(wire.Element(is, "AllocatedStorage")); n < has {
			return false, x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
				"AllocatedStorage must not be less than what is allocated."), nil
		}
	}
	if refusal := wire.FirstRefusal(
		databaseStorage(x, merged(x, is, "Engine", "StorageType", "AllocatedStorage", "Iops", "StorageThroughput")),
		databaseWindows(x, merged(x, is, "PreferredBackupWindow", "PreferredMaintenanceWindow"))); refusal != nil {
		return false, refusal, nil
	}
	if refusal := s.cooling(x, id, is); refusal != nil {
		return false, refusal, nil
	}
	s.putOff(x, id, is)
	return changesStorage(x.Form, is), nil, nil
}

// putOff removes from the call the changes that wait, and adds the waiting ones if it applies changes immediately.
func (s *Service) putOff(x *wire.Exchange, id string, is []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.extra(id).pending
	if x.Form.Get("ApplyImmediately") == "true" {
		for name := range pending {
			if !x.Form.Has(name) {
				x.Form.Set(name, pending.Get(name))
			}
		}
		clear(pending)
		x.SetForm(x.Form)
		return
	}
	for _, name := range deferred {
		if !x.Form.Has(name) {
			continue
		}
		pending.Set(name, x.Form.Get(name))
		if x.Form.Get(name) == wire.Element(is, name) {
			pending.Del(name)
		}
		x.Form.Del(name)
	}
	x.SetForm(x.Form)
}

// remove refuses a deletion without a choice about the final snapshot.
func (s *Service) remove(x *wire.Exchange, id string) *wire.Reply {
	if refusal := s.busy(x, id); refusal != nil {
		return refusal
	}
	skip, name := x.Form.Get("SkipFinalSnapshot") == "true", x.Form.Get("FinalDBSnapshotIdentifier")
	switch {
	case !skip && name == "":
		return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
			"FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.")
	case skip && name != "":
		return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
			"FinalDBSnapshotIdentifier can not be specified when deleting an instance with SkipFinalSnapshot.")
	}
	return nil
}

func (s *Service) busy(x *wire.Exchange, id string) *wire.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if extra := s.instances[id]; extra == nil || !s.now().Before(extra.ready) {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidDBInstanceState", "Instance "+x.Form.Get("DBInstanceIdentifier")+
		" is not in available state.")
}

// extra returns the extra state of an instance and creates it if needed. The caller holds s.mu.
func (s *Service) extra(id string) *instanceExtra {
	if s.instances[id] == nil {
		s.instances[id] = &instanceExtra{pending: url.Values{}}
	}
	return s.instances[id]
}

// note stores the parameters of a successful call that moto does not.
func (s *Service) note(x *wire.Exchange, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch x.Call.Operation {
	case "CreateDBInstance", "RestoreDBInstanceFromDBSnapshot":
		s.instances[id] = &instanceExtra{ready: s.now().Add(s.lag.Scaled(databaseCreation)), pending: url.Values{}}
	case "DeleteDBInstance":
		delete(s.instances, id)
		return
	case "ModifyDBInstance":
	default:
		return
	}
	extra := s.extra(id)
	if port := x.Form.Get("DBPortNumber"); port != "" {
		extra.port = port
	}
	if lifecycle := x.Form.Get("EngineLifecycleSupport"); lifecycle != "" {
		extra.lifecycle = lifecycle
	}
	if on := x.Form.Get("EnablePerformanceInsights"); on != "" {
		extra.insights = on == "true"
	}
}

// describe returns moto's description of the instance, or nil if there is none.
func (s *Service) describe(ctx context.Context, x *wire.Exchange) ([]byte, error) {
	r, err := s.upstream.AskForm(ctx, x, "rds", url.Values{
		"Action": {"DescribeDBInstances"}, "Version": {"2014-10-31"},
		"DBInstanceIdentifier": {x.Form.Get("DBInstanceIdentifier")},
	})
	if err != nil || r.Status != http.StatusOK {
		return nil, err
	}
	return r.Body, nil
}
