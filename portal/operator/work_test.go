package operator

import (
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/portico-platform/portico/api/operatorapi"
)

func TestWork(t *testing.T) {
	told := Work{Known: true, Leader: "somebody", Activity: operatorapi.Activity{
		Controllers: []operatorapi.Controller{{Name: "s3bucket", Queued: 2}}, Services: []operatorapi.Service{},
	}}
	for name, c := range map[string]struct {
		status int
		body   string
		want   Work
	}{
		"one that works":                     {200, `{"since":"0001-01-01T00:00:00Z","controllers":[{"name":"s3bucket","queued":2}],"services":[]}`, told},
		"an operator that knows of none":     {404, `{}`, Work{}},
		"an operator that does not let us":   {403, `{}`, Work{}},
		"what is no answer to this question": {200, `<html>`, Work{}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLeader(t, "")
			l.says(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != operatorapi.ActivityPath {
					t.Errorf("asked for %s", r.URL.Path)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			if got := newBench(t, l).Work(t.Context()); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
