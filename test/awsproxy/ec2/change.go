package ec2

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// change refuses calls that AWS refuses and moto does not, and completes calls that moto implements in part.
func (s *Service) change(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	refused, err := s.permit(ctx, x)
	if err != nil || refused != nil {
		return refused, err
	}
	switch x.Call.Operation {
	case "ModifyInstanceAttribute":
		if x.Form.Has("InstanceType.Value") || x.Form.Has("EbsOptimized.Value") {
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
func (s *Service) onlyIn(ctx context.Context, x *wire.Exchange, states ...string) (refused *wire.Reply, err error) {
	for id := range strings.SplitSeq(x.Call.Resource, ",") {
		now, err := s.describe(ctx, x, id)
		if err != nil {
			return nil, err
		}
		m := instanceState.FindSubmatch(now)
		if m == nil {
			continue
		}
		if state := string(m[1]); !strings.Contains(","+strings.Join(states, ",")+",", ","+state+",") {
			return x.Fail(http.StatusBadRequest, "IncorrectInstanceState",
					fmt.Sprintf("The instance '%s' is not in a state from which this is possible: it is %s.", id,
						state)),
				nil
		}
	}
	return nil, nil
}

func (s *Service) describe(ctx context.Context, x *wire.Exchange, id string) ([]byte, error) {
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeInstances"}, "InstanceId.1": {id}})
	if err != nil {
		return nil, err
	}
	return r.Body, nil
}

var volumeSize = regexp.MustCompile(`<size>([0-9]+)</size>`)

// growth refuses to shrink a volume.
func (s *Service) growth(ctx context.Context, x *wire.Exchange) (refused *wire.Reply, err error) {
	want, err := strconv.Atoi(x.Form.Get("Size"))
	if err != nil {
		return nil, nil //nolint:nilerr // the size stays
	}
	r, err := s.ask(ctx, x, url.Values{"Action": {"DescribeVolumes"}, "VolumeId.1": {x.Form.Get("VolumeId")}})
	if err != nil {
		return nil, err
	}
	m := volumeSize.FindSubmatch(r.Body)
	if m == nil {
		return nil, nil
	}
	if have, err := strconv.Atoi(string(m[1])); err != nil || want >= have {
		return nil, err
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterValue", "New size cannot be smaller than existing size"), nil
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
func (s *Service) fillMetadata(ctx context.Context, x *wire.Exchange) error {
	now, err := s.describe(ctx, x, x.Form.Get("InstanceId"))
	if err != nil {
		return err
	}
	form := url.Values{}
	maps.Copy(form, x.Form)
	for _, n := range metadataNames {
		m := regexp.MustCompile(`<` + n.element + `>([^<]+)</` + n.element + `>`).FindSubmatch(now)
		if m != nil && !form.Has(n.parameter) {
			form.Set(n.parameter, string(m[1]))
		}
	}
	x.SetForm(form)
	return nil
}

// monitor switches detailed monitoring, which moto does not offer, by another call that moto accepts.
func (s *Service) monitor(ctx context.Context, x *wire.Exchange, state, shown string) (*wire.Reply, error) {
	var items strings.Builder
	for id := range strings.SplitSeq(x.Call.Resource, ",") {
		r, err := s.ask(ctx, x, url.Values{
			"Action": {"ModifyInstanceAttribute"}, "InstanceId": {id},
			"Attribute": {"monitoringState"}, "Value": {state},
		})
		if err != nil || r.Status != http.StatusOK {
			return r, err
		}
		fmt.Fprintf(&items, "<item><instanceId>%s</instanceId><monitoring><state>%s</state></monitoring></item>",
			wire.EscapeXML(id), shown)
	}
	op := x.Call.Operation
	return &wire.Reply{
		Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}},
		Body: []byte(`<` + op + `Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId/><instancesSet>` +
			items.String() + `</instancesSet></` + op + `Response>`),
	}, nil
}

// replaceProfile makes the instance show its new profile, which moto does not store.
func (s *Service) replaceProfile(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error) {
	r, err := next(ctx)
	if err != nil || r.Status != http.StatusOK {
		return r, err
	}
	m := instanceID.FindSubmatch(r.Body)
	if m == nil {
		return r, nil
	}
	again := url.Values{"Action": {"AssociateIamInstanceProfile"}, "InstanceId": {string(m[1])}}
	for _, name := range []string{"IamInstanceProfile.Name", "IamInstanceProfile.Arn"} {
		if v := x.Form.Get(name); v != "" {
			again.Set(name, v)
		}
	}
	for _, form := range []url.Values{
		{"Action": {"DisassociateIamInstanceProfile"}, "AssociationId": {x.Form.Get("AssociationId")}}, again,
	} {
		if _, err := s.ask(ctx, x, form); err != nil {
			return nil, err
		}
	}
	return r, nil
}
