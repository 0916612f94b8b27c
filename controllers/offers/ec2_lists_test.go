package offers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
)

// A list of an account that never ends is read up to a limit.
func TestAListOfAnAccountEnds(t *testing.T) {
	var answers atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // a request that cannot be read has no action
		name := strings.TrimPrefix(r.Form.Get("Action"), "Describe")
		set, id := map[string]string{"Subnets": "subnetSet", "SecurityGroups": "securityGroupInfo"}[name],
			map[string]string{"Subnets": "subnetId", "SecurityGroups": "groupId"}[name]
		if set == "" { // of a client of another test, whose server had this port before
			http.NotFound(w, r)
			return
		}
		items := strings.Repeat(fmt.Sprintf("<item><%s>x</%[1]s></item>", id), page)
		_, _ = fmt.Fprintf(w, "<Describe%sResponse><%s>%s</%[2]s><nextToken>%[4]d</nextToken></Describe%[1]sResponse>",
			name, set, items, answers.Add(1))
	}))
	t.Cleanup(srv.Close)
	s := &cloud.Session{Config: aws.Config{
		Region: "eu-west-1", BaseEndpoint: &srv.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}}
	for name, list := range map[string]List{"subnets": Subnets, "security groups": SecurityGroups} {
		answers.Store(0)
		items, err := list(t.Context(), s, operatorapi.OfferQuery{})
		if err != nil || len(items) != Longest || answers.Load() != Longest/page {
			t.Errorf("%s: %d items after %d answers, %v", name, len(items), answers.Load(), err)
		}
	}
}
