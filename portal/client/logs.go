package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/tmaxmax/go-sse"
)

// LogPart is a part of a followed log: lines, or why there are none yet, or why it ended.
type LogPart struct {
	Lines   []string
	Waiting string // there is no log yet, because of this
	End     string // ended (the container has), bound (enough was read) or lost (the connection to the log is)
	Message string // End in words
}

// errBroken means that the connection ended before the log did.
var errBroken = fmt.Errorf("the connection ended in the middle: %w", io.ErrUnexpectedEOF)

// FollowLogs yields the last lines of an application's log, then new ones, until ctx ends, the loop ends, or the log
// does. An error is the last element, an *APIError if there is no log to read; the stream is not resumed, because lines
// would be repeated.
func (o Objects[T]) FollowLogs(ctx context.Context, name string, opts LogsOptions) iter.Seq2[LogPart, error] {
	r := o.client.request(http.MethodGet, o.base+"/"+url.PathEscape(name)+"/logs")
	opts.fill(r)
	addQuery(r, "follow", true)
	return func(yield func(LogPart, error) bool) {
		finished := false
		_, err := r.events(ctx, func(e sse.Event) error {
			part, err := logPart(e)
			switch {
			case err != nil:
				return err
			case e.Type == "finished":
				finished = true
				return errEnough
			case !yield(part, nil):
				finished = true
				return errEnough
			}
			return nil
		})
		switch {
		case finished, ctx.Err() != nil:
		case err == nil:
			yield(LogPart{}, r.failed(errBroken))
		default:
			yield(LogPart{}, err)
		}
	}
}

func logPart(e sse.Event) (LogPart, error) {
	var data struct {
		Lines           []string
		Reason, Message string
		Problem         *APIError
	}
	if err := json.Unmarshal([]byte(e.Data), &data); e.Type != "finished" && err != nil {
		return LogPart{}, fmt.Errorf("reading a %s event of the portal: %w", e.Type, err)
	}
	switch e.Type {
	case "waiting":
		return LogPart{Waiting: data.Message}, nil
	case "end":
		if data.Problem != nil {
			return LogPart{}, data.Problem
		}
		return LogPart{End: data.Reason, Message: data.Message}, nil
	}
	return LogPart{Lines: data.Lines}, nil
}
