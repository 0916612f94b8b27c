package awsproxy

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// databaseCreation is how long a new database instance is "creating": minutes in AWS; one is enough for callers to see
// that state.
const databaseCreation = time.Minute

// rdsService makes changes wait for the maintenance window, which never comes, unless they apply immediately. It
// refuses what moto accepts and RDS does not: less storage, another change of storage soon after the last, passwords
// that no engine accepts, a deletion without a choice about the final snapshot, and changes of an instance that is
// still being created. It stores the port, Performance Insights and Extended Support, which moto does not. Moto
// itself protects instances from deletion, and ignores the case of identifiers.
type rdsService struct {
	upstream *upstream
	locks    locks // by instance
	lag      *lag
	now      func() time.Time
	answers  rdsAnswers

	mu        sync.Mutex
	cooldown  time.Duration
	instances map[string]*instanceExtra // by account, region and identifier
	servers   DatabaseServers           // nil: no server responds at an endpoint
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

func newRDS(up *upstream, lag *lag, now func() time.Time) *rdsService {
	return &rdsService{
		upstream: up, lag: lag, now: now, cooldown: storageCooldown,
		instances: map[string]*instanceExtra{},
	}
}

func (s *rdsService) around(ctx context.Context, x *exchange, next forward) (*reply, error) {
	if r := firstRefusal(refuseRDS(x), onSale(x)); r != nil {
		return r, nil
	}
	id := instanceKey(x, x.form.Get("DBInstanceIdentifier"))
	var refusal *reply
	storage := false
	switch x.call.Operation {
	case "CreateDBInstance", "RestoreDBInstanceFromDBSnapshot":
		defer s.locks.lock(id, true)()
		refusal = s.create(x)
	case "ModifyDBInstance":
		defer s.locks.lock(id, true)()
		var err error
		if storage, refusal, err = s.modify(ctx, x, id); err != nil {
			return nil, err
		}
	case "DescribeDBInstances":
		refusal = s.answers.longFilter(x)
	case "DeleteDBInstance":
		defer s.locks.lock(id, true)()
		refusal = s.remove(x, id)
	}
	if refusal != nil {
		return refusal, nil
	}
	r, err := next(ctx)
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	s.note(x, id)
	if storage {
		s.storageChanged(id)
	}
	s.complete(x, r)
	s.answers.withoutTags(x, r)
	return s.serve(ctx, x, r), nil
}

func instanceKey(x *exchange, identifier string) string {
	return x.call.Account + "/" + x.call.Region + "/" + strings.ToLower(identifier)
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

func (s *rdsService) create(x *exchange) *reply {
	if x.call.Operation == "CreateDBInstance" {
		if x.form.Get("MasterUserPassword") == "" && x.form.Get("ManageMasterUserPassword") != "true" {
			return x.fail(http.StatusBadRequest, "InvalidParameterCombination",
				"You must specify MasterUserPassword, or ManageMasterUserPassword.")
		}
		if engine := x.form.Get("Engine"); x.form.Has("EngineLifecycleSupport") && !extendable[engine] {
			return x.fail(http.StatusBadRequest, "InvalidParameterCombination",
				"EngineLifecycleSupport isn't supported for "+engine+".")
		}
		x.form.Set("EngineVersion", fullVersion(x.form.Get("Engine"), x.form.Get("EngineVersion")))
		x.setForm(x.form)
	}
	return badPassword(x)
}

func badPassword(x *exchange) *reply {
	p := x.form.Get("MasterUserPassword")
	if p == "" || (len(p) >= 8 && len(p) <= 128 && !strings.ContainsAny(p, "/@\" \n")) {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterValue",
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
func (s *rdsService) modify(ctx context.Context, x *exchange, id string) (storage bool, refusal *reply, err error) {
	if refusal := cmp.Or(s.busy(x, id), badPassword(x)); refusal != nil {
		return false, refusal, nil
	}
	is, err := s.describe(ctx, x)
	if err != nil || is == nil {
		return false, nil, err // moto reports that it does not exist
	}
	if x.form.Has("EngineVersion") {
		x.form.Set("EngineVersion", fullVersion(element(is, "Engine"), x.form.Get("EngineVersion")))
	}
	if n, _ := strconv.Atoi(x.form.Get("AllocatedStorage")); x.form.Has("AllocatedStorage") {
		if has, _ := strconv.Atoi(element(is, "AllocatedStorage")); n < has {
			return false, x.fail(http.StatusBadRequest, "InvalidParameterCombination",
				"AllocatedStorage must not be less than what is allocated."), nil
		}
	}
	if refusal := firstRefusal(
		databaseStorage(x, merged(x, is, "Engine", "StorageType", "AllocatedStorage", "Iops", "StorageThroughput")),
		databaseWindows(x, merged(x, is, "PreferredBackupWindow", "PreferredMaintenanceWindow"))); refusal != nil {
		return false, refusal, nil
	}
	if refusal := s.cooling(x, id, is); refusal != nil {
		return false, refusal, nil
	}
	s.putOff(x, id, is)
	return changesStorage(x.form, is), nil, nil
}

// putOff removes from the call the changes that wait, and adds the waiting ones if it applies changes immediately.
func (s *rdsService) putOff(x *exchange, id string, is []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.extra(id).pending
	if x.form.Get("ApplyImmediately") == "true" {
		for name := range pending {
			if !x.form.Has(name) {
				x.form.Set(name, pending.Get(name))
			}
		}
		clear(pending)
		x.setForm(x.form)
		return
	}
	for _, name := range deferred {
		if !x.form.Has(name) {
			continue
		}
		pending.Set(name, x.form.Get(name))
		if x.form.Get(name) == element(is, name) {
			pending.Del(name)
		}
		x.form.Del(name)
	}
	x.setForm(x.form)
}

// remove refuses a deletion without a choice about the final snapshot.
func (s *rdsService) remove(x *exchange, id string) *reply {
	if refusal := s.busy(x, id); refusal != nil {
		return refusal
	}
	skip, name := x.form.Get("SkipFinalSnapshot") == "true", x.form.Get("FinalDBSnapshotIdentifier")
	switch {
	case !skip && name == "":
		return x.fail(http.StatusBadRequest, "InvalidParameterCombination",
			"FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.")
	case skip && name != "":
		return x.fail(http.StatusBadRequest, "InvalidParameterCombination",
			"FinalDBSnapshotIdentifier can not be specified when deleting an instance with SkipFinalSnapshot.")
	}
	return nil
}

func (s *rdsService) busy(x *exchange, id string) *reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if extra := s.instances[id]; extra == nil || !s.now().Before(extra.ready) {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidDBInstanceState", "Instance "+x.form.Get("DBInstanceIdentifier")+
		" is not in available state.")
}

// extra returns the extra state of an instance and creates it if needed. The caller holds s.mu.
func (s *rdsService) extra(id string) *instanceExtra {
	if s.instances[id] == nil {
		s.instances[id] = &instanceExtra{pending: url.Values{}}
	}
	return s.instances[id]
}

// note stores the parameters of a successful call that moto does not.
func (s *rdsService) note(x *exchange, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch x.call.Operation {
	case "CreateDBInstance", "RestoreDBInstanceFromDBSnapshot":
		s.instances[id] = &instanceExtra{ready: s.now().Add(s.lag.scaled(databaseCreation)), pending: url.Values{}}
	case "DeleteDBInstance":
		delete(s.instances, id)
		return
	case "ModifyDBInstance":
	default:
		return
	}
	extra := s.extra(id)
	if port := x.form.Get("DBPortNumber"); port != "" {
		extra.port = port
	}
	if lifecycle := x.form.Get("EngineLifecycleSupport"); lifecycle != "" {
		extra.lifecycle = lifecycle
	}
	if on := x.form.Get("EnablePerformanceInsights"); on != "" {
		extra.insights = on == "true"
	}
}

// describe returns moto's description of the instance, or nil if there is none.
func (s *rdsService) describe(ctx context.Context, x *exchange) ([]byte, error) {
	form := url.Values{"Action": {"DescribeDBInstances"}, "Version": {"2014-10-31"}, "DBInstanceIdentifier": {
		x.form.Get("DBInstanceIdentifier"),
	}}
	r, err := s.upstream.ask(ctx, question{
		service: "rds", region: x.call.Region, account: x.call.Account, method: http.MethodPost, path: "/",
		header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, body: form.Encode(),
	})
	if err != nil || r.status != http.StatusOK {
		return nil, err
	}
	return r.body, nil
}
