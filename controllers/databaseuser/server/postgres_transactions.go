package server

import (
	"context"
	"net"
	"strconv"
	"sync"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// queues let one transaction at a time change the roles and rights of a server: two that grant rights on the same
// table, or to the same role, would fail. Only the leader works, so a queue in memory is enough; a lock in the database
// could be held by anyone who can sign in there.
var queues = struct {
	sync.Mutex
	of map[string]chan struct{}
}{of: map[string]chan struct{}{}}

// turn waits until no other transaction of ours runs on the server, and returns a function that lets the next one run.
func (p *postgresServer) turn(ctx context.Context) (done func(), err error) {
	key := net.JoinHostPort(p.target.Host, strconv.Itoa(int(p.target.Port)))
	queues.Lock()
	taken := queues.of[key]
	if taken == nil {
		taken = make(chan struct{}, 1)
		queues.of[key] = taken
	}
	queues.Unlock()
	select {
	case taken <- struct{}{}:
		return func() { <-taken }, nil
	case <-ctx.Done():
		return nil, engine.Wait(v1alpha1.ReasonDatabaseRefused, refusedRetry,
			"other users of the same database are being worked on, and their turn has not ended yet")
	}
}

// mostTries is how often work is tried that other clients' statements can block.
const mostTries = 3

// inTransaction runs work in a transaction; no other of ours runs concurrently. If somebody changes rights at the same
// time, it is retried.
func (p *postgresServer) inTransaction(ctx context.Context, work func() error) error {
	done, err := p.turn(ctx)
	if err != nil {
		return err
	}
	defer done()
	for range mostTries {
		if err = p.transaction(ctx, work); !overtaken(err) {
			break
		}
	}
	return err
}

func (p *postgresServer) transaction(ctx context.Context, work func() error) error {
	if err := p.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := work(); err != nil {
		rollback, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
		defer cancel()
		_, _ = p.send(rollback, "ROLLBACK")
		return err
	}
	return p.exec(ctx, "COMMIT")
}

// locked reports whether another client's lock blocked a statement for too long, and overtaken whether another client
// changed the same row meanwhile.
func locked(err error) bool    { return hasCode(err, pgLocked) }
func overtaken(err error) bool { return hasCode(err, pgInternal) }

// insist runs work, and ends the connections of the roles if their locks block it: a role that can change its own
// password can lock itself.
func (p *postgresServer) insist(ctx context.Context, roles []string, work func() error) (err error) {
	for range mostTries {
		if err = work(); !locked(err) && !overtaken(err) {
			return err
		}
		if locked(err) {
			if err := p.endConnections(ctx, roles); err != nil && !ending(err) {
				return err
			}
		}
	}
	return err
}

// shutOut prevents the roles from signing in and ends their connections.
func (p *postgresServer) shutOut(ctx context.Context, roles []string) error {
	for _, name := range roles {
		err := p.insist(ctx, roles, func() error { return p.exec(ctx, "ALTER ROLE "+identifier(name)+" NOLOGIN") })
		if err != nil {
			return err
		}
	}
	return p.endConnections(ctx, roles)
}

// endPolls is how often alone checks whether connections have ended, every tenth of a second.
const endPolls = 50

// alone runs work in a transaction while the account's users are not connected and cannot sign in. Their connections
// are ended; afterwards they can connect again.
func (p *postgresServer) alone(ctx context.Context, a Account, work func() error) error {
	if err := p.own(ctx, a); err != nil {
		return err
	}
	open, err := p.texts(ctx, "look who can sign in", "SELECT rolname::text FROM pg_roles WHERE rolcanlogin AND "+
		"rolname = ANY($1)", a.Logins())
	if err != nil {
		return err
	}
	again := make([]string, 0, len(open))
	for _, name := range open {
		again = append(again, letIn(identifier(name)))
	}
	err = p.shutOut(ctx, open)
	for range endPolls {
		if !ending(err) {
			break
		}
		if err = p.exec(ctx, "SELECT pg_sleep(0.1)"); err == nil {
			err = p.endConnections(ctx, open)
		}
	}
	if err == nil {
		err = p.inTransaction(ctx, func() error {
			if err := work(); err != nil {
				return err
			}
			return p.exec(ctx, again...)
		})
	}
	if err != nil {
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
		defer cancel()
		_ = p.exec(rest, again...)
	}
	return err
}

// endConnections ends the connections of the roles, and returns an error if any is left: objects that one creates
// between two of our statements would be dropped.
func (p *postgresServer) endConnections(ctx context.Context, roles []string) error {
	var ended, connected int
	err := p.one(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = ANY($1)`,
		roles).Scan(&ended)
	if err == nil && ended > 0 {
		err = p.one(ctx, `SELECT count(*) FROM pg_stat_activity WHERE usename = ANY($1)`, roles).Scan(&connected)
	}
	if err == nil && connected > 0 {
		return engine.Wait(v1alpha1.ReasonDeleting, endPoll, "the database is ending %d connections of the user",
			connected)
	}
	return p.failed("end the user's connections", err)
}

// ending reports whether the error says that connections are being ended.
func ending(err error) bool {
	wait, ok := engine.AsWait(err)
	return ok && wait.Reason == v1alpha1.ReasonDeleting
}
