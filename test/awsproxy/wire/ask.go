package wire

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
)

// AskAbout calls a service with a JSON protocol about a resource, as the account that owns it; found is false if the
// service refuses.
func (u *Upstream) AskAbout(ctx context.Context, id ARN, target string, input, answer any) (found bool, err error) {
	x := &Exchange{Call: Call{Account: id.Account, Region: id.Region}}
	return u.AskJSON(ctx, x, id.Service, target, input, answer)
}

// FormTagsOf asks a service with the query protocol for the tags of a resource; found is false if the service
// refuses.
func FormTagsOf(ctx context.Context, up *Upstream, x *Exchange, service string, form url.Values) (
	tags map[string]string, found bool, err error,
) {
	r, err := up.AskForm(ctx, x, service, form)
	if err != nil || r.Status != http.StatusOK {
		return nil, false, r.Broken(err)
	}
	var answer struct {
		SNS []Tag `xml:"ListTagsForResourceResult>Tags>member"`
		RDS []Tag `xml:"ListTagsForResourceResult>TagList>Tag"`
		EC2 []struct {
			Key   string `xml:"key"`
			Value string `xml:"value"`
		} `xml:"tagSet>item"`
	}
	if err := xml.Unmarshal(r.Body, &answer); err != nil {
		return nil, false, err
	}
	tags = map[string]string{}
	for _, t := range slices.Concat(answer.SNS, answer.RDS) {
		tags[t.Key] = t.Value
	}
	for _, t := range answer.EC2 {
		tags[t.Key] = t.Value
	}
	return tags, true, nil
}

// AskForm calls a service with the query protocol.
func (u *Upstream) AskForm(ctx context.Context, x *Exchange, service string, form url.Values) (*Reply, error) {
	return u.Ask(ctx, Question{
		Service: service, Region: x.Call.Region, Account: x.Account(), Method: http.MethodPost, Path: "/",
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, Body: form.Encode(),
	})
}

// AskJSON calls a service with a JSON protocol; found is false if the service refuses.
func (u *Upstream) AskJSON(ctx context.Context, x *Exchange, service, target string, input, answer any) (
	found bool, err error,
) {
	body, err := json.Marshal(input)
	if err != nil {
		return false, err
	}
	r, err := u.Ask(ctx, Question{
		Service: service, Region: x.Call.Region, Account: x.Account(), Method: http.MethodPost, Path: "/",
		Body:   string(body),
		Header: map[string]string{"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"},
	})
	if err != nil || r.Status != http.StatusOK {
		return false, r.Broken(err)
	}
	return true, json.Unmarshal(r.Body, answer)
}
