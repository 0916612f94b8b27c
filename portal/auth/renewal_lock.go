package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Turns let the replicas renew each session one after the other: a refresh token that is sent twice makes strict
// providers end the whole session. Keys are hashes, and stored outcomes are sealed with the session keys.
type Turns interface {
	// Take reports whether it is the caller's turn, from now until until. If not, it returns what the previous holder
	// left, "" while that one still has the turn.
	Take(ctx context.Context, key string, now, until time.Time) (mine bool, left string, err error)
	// Leave stores the outcome of the caller's turn for the others until until. Nobody gets another turn before that.
	Leave(ctx context.Context, key, left string, until time.Time) error
}

const (
	// turnLife is how long one renewal and its surroundings can take: a replica that ends meanwhile leaves nothing.
	turnLife = providerTimeout + 5*time.Second
	// turnWait is how long other replicas wait for the outcome, and turnPoll how often they check.
	turnWait = providerTimeout + 2*time.Second
	turnPoll = 200 * time.Millisecond
	// turnAgain is the pause after such a wait.
	turnAgain = 2 * time.Second
	// turnWrite bounds one request about a turn.
	turnWrite = 3 * time.Second
	// turnPurpose is the sealing purpose of outcomes.
	turnPurpose = "renewal "
	// maxTurn bounds a packed outcome, and maxTold an unpacked one.
	maxTurn = 16 << 10
	maxTold = maxGroupsText + maxToken
)

// errOthersTurn means that another replica is renewing the session, or has, and has not stored the outcome yet.
var errOthersTurn = errors.New("another replica of the portal is renewing the session")

// errNoTurn means that the turn could not be taken or read.
var errNoTurn = errors.New("no turn")

// renewalKey identifies the renewal of a session with its current refresh token. Some providers issue the same one each
// time.
func (s session) renewalKey() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", s.ID, s.Refresh, s.Checked))
	return hex.EncodeToString(sum[:16])
}

// told is the outcome of a renewal, as replicas share it.
type told struct {
	Session *session `json:"s,omitempty"`
	Away    bool     `json:"a,omitempty"` // the provider did not answer
	Refused string   `json:"f,omitempty"`
	Ended   Ending   `json:"e,omitempty"`
	Cause   string   `json:"c,omitempty"` // of the error, for the log
}

// inTurn renews s by ask, unless another replica does or has: then it returns that replica's outcome.
func (f *refresher) inTurn(ctx context.Context, s session, ask func(context.Context) outcome) outcome {
	if f.turns == nil {
		return ask(ctx)
	}
	waiting, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	for {
		mine, left, err := f.take(waiting, s)
		switch {
		case err != nil && waiting.Err() == nil:
			const doing = "agreeing with the other replicas on who renews a session"
			f.log.ErrorContext(ctx, doing, "error", err, "requestID", RequestID(ctx))
			return outcome{err: &ProviderError{Doing: doing, Cause: fmt.Errorf("%w: %w", errNoTurn, err)}}
		case mine:
			o := ask(ctx)
			f.tell(ctx, s, o)
			return o
		case left != "":
			return f.heard(s, left)
		}
		select {
		case <-waiting.Done():
			return outcome{err: othersTurn("renewing a session")}
		case <-time.After(turnPoll):
		}
	}
}

func othersTurn(doing string) error { return &ProviderError{Doing: doing, Cause: errOthersTurn} }

func (f *refresher) take(ctx context.Context, s session) (mine bool, left string, err error) {
	ctx, cancel := context.WithTimeout(ctx, turnWrite)
	defer cancel()
	now := f.now()
	return f.turns.Take(ctx, s.renewalKey(), now, now.Add(turnLife))
}

// tell stores the outcome of a renewal. An outage is stored for as long as the provider is not retried.
func (f *refresher) tell(ctx context.Context, s session, o outcome) {
	said, keep := toldOf(o), reuseFor
	if said.Away && said.Session == nil {
		keep = retryAfter
	}
	left, err := f.sealTold(s, said)
	if err != nil {
		f.log.ErrorContext(ctx, "writing what came of a renewal", "error", err, "requestID", RequestID(ctx))
	}
	for range 2 { // without it others would send the same token after the turn
		bounded, cancel := context.WithTimeout(ctx, turnWrite)
		err = f.turns.Leave(bounded, s.renewalKey(), left, f.now().Add(keep))
		cancel()
		if err == nil {
			return
		}
		f.log.ErrorContext(ctx, "telling the other replicas of a renewed session", "error", err, "requestID",
			RequestID(ctx))
	}
}

// toldOf returns the outcome in the form that replicas share.
func toldOf(o outcome) (said told) {
	if o.session.ID != "" { // with an error it has a new refresh token, and its old claims
		s := o.session
		s.IDToken = "" // each replica has it
		said.Session = &s
	}
	if o.err == nil {
		return said
	}
	said.Cause = o.err.Error()
	var unreachable *ProviderError
	var refused *RefusedError
	switch {
	case errors.As(o.err, &unreachable):
		said.Away = true
	case errors.As(o.err, &refused):
		said.Refused = refused.Reason
	default:
		said.Ended = endingOf(o.err)
	}
	return said
}

func (f *refresher) sealTold(s session, said told) (string, error) {
	plain, err := json.Marshal(said)
	if err != nil {
		return "", fmt.Errorf("writing a renewal: %w", err)
	}
	packed, err := pack(plain)
	switch {
	case err != nil:
		return "", fmt.Errorf("writing a renewal: %w", err)
	case len(packed) > maxTurn || len(plain) > maxTold:
		return "", fmt.Errorf("writing a renewal: it has %d bytes", len(plain))
	}
	return f.keys.seal(turnPurpose+s.renewalKey(), packed), nil
}

// heard returns the outcome that another replica stored.
func (f *refresher) heard(s session, left string) outcome {
	said, err := f.openTold(s, left)
	if err != nil { // sealed with a key that is not known here yet
		return outcome{err: othersTurn("reading what another replica renewed")}
	}
	var o outcome
	if said.Session != nil {
		o.session = *said.Session
		o.session.IDToken, o.session.Apart = s.IDToken, s.Apart
	}
	switch cause := errors.New("as another replica found: " + said.Cause); {
	case said.Away:
		o.err = &ProviderError{Doing: "renewing a session", Cause: cause}
	case said.Refused != "":
		o.err = &RefusedError{Reason: said.Refused, Cause: cause}
	case said.Session == nil:
		o.err = &endedError{said.Ended, cause.Error()}
	}
	return o
}

func (f *refresher) openTold(s session, left string) (said told, err error) {
	packed, err := f.keys.open(turnPurpose+s.renewalKey(), left)
	if err != nil {
		return told{}, err
	}
	plain, err := unpack(packed, maxTold)
	if err != nil {
		return told{}, err
	}
	err = json.Unmarshal(plain, &said)
	return said, err
}
