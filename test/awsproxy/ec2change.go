package awsproxy

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// change refuses calls that AWS refuses and moto does not, and completes calls that moto implements in part.
func (s *ec2Service) change(ctx context.Context, x *exchange, next forward) (*reply, error) {
	refused, err := s.permit(ctx, x)
	if err != nil || refused != nil {
		return refused, err
	}
	switch x.call.Operation {
	case "ModifyInstanceAttribute":
		if x.form.Has("InstanceType.Value") || x.form.Has("EbsOptimized.Value") {
			refused, err = s.onlyIn(ctx, x, "stopped")
		}
	case "StartInstances":
		refused, err = s.onlyIn(ctx, x, "stopped", "running", "pending")
	case "StopInstances":
		refused, err = s.onlyIn(ctx, x, "running", "stopping", "stopped")
	case "ModifyVolume":
		refused, err = s.growth(ctx, x)
	case "ModifyInstanceMetadataOptions":
		err = s.fillMetadata(ctx, x)
	case "ReplaceIamInstanceProfileAssociation":
		return s.replaceProfile(ctx, x, next)
	case "DescribeInstanceCreditSpecifications":
		return s.describeCredits(ctx, x)
	case "ModifyInstanceCreditSpecification":
		return s.modifyCredits(ctx, x)
	case "MonitorInstances":
		return s.monitor(ctx, x, "enabled", "pending")
	case "UnmonitorInstances":
		return s.monitor(ctx, x, "disabled", "disabling")
	}
	if err != nil || refused != nil {
		return refused, err
	}
	return next(ctx)
}

var instanceState = regexp.MustCompile(`<instanceState>\s*<code>[^<]*</code>\s*<name>([^<]+)</name>`)

// onlyIn refuses the call unless the instance is in one of the states; moto reports a missing instance.
func (s *ec2Service) onlyIn(ctx context.Context, x *exchange, states ...string) (refused *reply, err error) {
	for id := range strings.SplitSeq(x.call.Resource, ",") {
		now, err := s.describe(ctx, x, id)
		if err != nil {
			return nil, err
		}
		m := instanceState.FindSubmatch(now)
		if m == nil {
			continue
		}
		if state := string(m[1]); !strings.Contains(","+strings.Join(states, ",")+",", ","+state+",") {
			return x.fail(http.StatusBadRequest, "IncorrectInstanceState",
					fmt.Sprintf("The instance '%s' is not in a state from which this is possible: it is %s.", id,
						state)),
				nil
		}
	}
	return nil, nil
}

func (s *ec2Service) describe(ctx context.Context, x *exchange, id string) ([]byte, error) {
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeInstances"}, "InstanceId.1": {id}})
	if err != nil {
		return nil, err
	}
	return r.body, nil
}

var volumeSize = regexp.MustCompile(`<size>([0-9]+)</size>`)

// growth refuses to shrink a volume.
func (s *ec2Service) growth(ctx context.Context, x *exchange) (refused *reply, err error) {
	want, err := strconv.Atoi(x.form.Get("Size"))
	if err != nil {
		return nil, nil //nolint:nilerr // the size stays
	}
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeVolumes"}, "VolumeId.1": {x.form.Get("VolumeId")}})
	if err != nil {
		return nil, err
	}
	m := volumeSize.FindSubmatch(r.body)
	if m == nil {
		return nil, nil
	}
	if have, err := strconv.Atoi(string(m[1])); err != nil || want >= have {
		return nil, err
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterValue", "New size cannot be smaller than existing size"), nil
}

// metadataNames are the options by their names in requests and in responses.
var metadataNames = []struct{ parameter, element string }{
	{"HttpTokens", "httpTokens"},
	{"HttpPutResponseHopLimit", "httpPutResponseHopLimit"},
	{"HttpEndpoint", "httpEndpoint"},
	{"HttpProtocolIpv6", "httpProtocolIpv6"},
	{"InstanceMetadataTags", "instanceMetadataTags"},
}

// fillMetadata adds the options that the request leaves unchanged, which moto would reset.
func (s *ec2Service) fillMetadata(ctx context.Context, x *exchange) error {
	now, err := s.describe(ctx, x, x.form.Get("InstanceId"))
	if err != nil {
		return err
	}
	form := url.Values{}
	maps.Copy(form, x.form)
	for _, n := range metadataNames {
		m := regexp.MustCompile(`<` + n.element + `>([^<]+)</` + n.element + `>`).FindSubmatch(now)
		if m != nil && !form.Has(n.parameter) {
			form.Set(n.parameter, string(m[1]))
		}
	}
	x.setForm(form)
	return nil
}

// monitor switches detailed monitoring, which moto does not offer, by another call that moto accepts.
func (s *ec2Service) monitor(ctx context.Context, x *exchange, state, shown string) (*reply, error) {
	var items strings.Builder
	for id := range strings.SplitSeq(x.call.Resource, ",") {
		r, err := s.ask(ctx, x, url.Values{
			"Action": {"ModifyInstanceAttribute"}, "InstanceId": {id},
			"Attribute": {"monitoringState"}, "Value": {state},
		})
		if err != nil || r.status != http.StatusOK {
			return r, err
		}
		fmt.Fprintf(&items, "<item><instanceId>%s</instanceId><monitoring><state>%s</state></monitoring></item>",
			escapeXML(id), shown)
	}
	op := x.call.Operation
	return &reply{
		status: http.StatusOK, header: http.Header{"Content-Type": {"text/xml"}},
		body: []byte(`<` + op + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId/><instancesSet>` +
			items.String() + `</instancesSet></` + op + `Response>`),
	}, nil
}

var associatedInstance = regexp.MustCompile(`<instanceId>([^<]+)</instanceId>`)

// replaceProfile makes the instance show its new profile, which moto does not store.
func (s *ec2Service) replaceProfile(ctx context.Context, x *exchange, next forward) (*reply, error) {
	r, err := next(ctx)
	if err != nil || r.status != http.StatusOK {
		return r, err
	}
	m := associatedInstance.FindSubmatch(r.body)
	if m == nil {
		return r, nil
	}
	again := url.Values{"Action": {"AssociateIamInstanceProfile"}, "InstanceId": {string(m[1])}}
	for _, name := range []string{"IamInstanceProfile.Name", "IamInstanceProfile.Arn"} {
		if v := x.form.Get(name); v != "" {
			again.Set(name, v)
		}
	}
	for _, form := range []url.Values{
		{"Action": {"DisassociateIamInstanceProfile"}, "AssociationId": {x.form.Get("AssociationId")}}, again,
	} {
		if _, err := s.ask(ctx, x, form); err != nil {
			return nil, err
		}
	}
	return r, nil
}
