package s3

import (
	"context"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// notificationConfiguration is the destinations and events of a bucket's notifications.
type notificationConfiguration struct {
	XMLName     xml.Name           `xml:"NotificationConfiguration"`
	Namespace   string             `xml:"xmlns,attr,omitempty"`
	Topics      []notificationRule `xml:"TopicConfiguration"`
	Queues      []notificationRule `xml:"QueueConfiguration"`
	Functions   []notificationRule `xml:"CloudFunctionConfiguration"`
	EventBridge *struct{}          `xml:"EventBridgeConfiguration"`
}

type notificationRule struct {
	ID            string              `xml:"Id,omitempty"`
	Topic         string              `xml:",omitempty"`
	Queue         string              `xml:",omitempty"`
	CloudFunction string              `xml:",omitempty"`
	Events        []string            `xml:"Event"`
	Filter        *notificationFilter `xml:",omitempty"`
}

type notificationFilter struct {
	Rules []filterRule `xml:"S3Key>FilterRule"`
}

type filterRule struct{ Name, Value string }

// destination returns the ARN.
func (r notificationRule) destination() string { return r.Topic + r.Queue + r.CloudFunction }

// part returns the prefix or the suffix that keys must have; "" is none.
func (r notificationRule) part(name string) string {
	if r.Filter == nil {
		return ""
	}
	for _, f := range r.Filter.Rules {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func (c *notificationConfiguration) rules() []notificationRule {
	return slices.Concat(c.Topics, c.Queues, c.Functions)
}

// skipValidation is the header with which PutBucketNotificationConfiguration does not check the destinations.
const skipValidation = "X-Amz-Skip-Destination-Validation"

// putNotifications serves PutBucketNotificationConfiguration up to the storage, which moto does: S3 refuses rules
// that overlap, and destinations that it could not send to, and sends a test event to the others
// ("PutBucketNotificationConfiguration" of its reference).
func (s *Service) putNotifications(ctx context.Context, x *wire.Exchange) (*wire.Reply, error) {
	var c notificationConfiguration
	if xml.Unmarshal(x.Body, &c) != nil {
		return malformed(x), nil //nolint:nilerr // the answer has the error
	}
	for _, list := range [][]notificationRule{c.Topics, c.Queues, c.Functions} {
		if refusal := checkRules(x, list); refusal != nil {
			return refusal, nil
		}
	}
	if refusal := checkTogether(x, c.rules()); refusal != nil {
		return refusal, nil
	}
	if refusal, err := s.validate(ctx, x, &c); refusal != nil || err != nil {
		return refusal, err
	}
	var err error
	c.XMLName, c.Namespace = xml.Name{Local: "NotificationConfiguration"}, namespace
	x.Body, err = xml.Marshal(c)
	return nil, err
}

func malformed(x *wire.Exchange) *wire.Reply {
	return x.Fail(http.StatusBadRequest, "MalformedXML",
		"The XML you provided was not well-formed or did not validate against our published schema")
}

func invalidArgument(x *wire.Exchange, message string) *wire.Reply {
	return x.Fail(http.StatusBadRequest, "InvalidArgument", message)
}

// checkRules refuses rules that are invalid on their own. The names of filters ignore case.
func checkRules(x *wire.Exchange, rules []notificationRule) *wire.Reply {
	for i := range rules {
		r := &rules[i]
		if len(r.Events) == 0 || wire.SplitARN(r.destination()).Resource == "" {
			return malformed(x)
		}
		if r.Filter == nil {
			continue
		}
		seen := map[string]bool{}
		for j := range r.Filter.Rules {
			f := &r.Filter.Rules[j]
			f.Name = strings.ToLower(f.Name)
			switch {
			case f.Name != "prefix" && f.Name != "suffix":
				return invalidArgument(x, "filter rule name must be either prefix or suffix")
			case seen[f.Name]:
				return invalidArgument(x, "Cannot specify more than one "+f.Name+" rule in a filter.")
			}
			seen[f.Name] = true
		}
		r.Filter.Rules = slices.DeleteFunc(r.Filter.Rules, func(f filterRule) bool { return f.Value == "" })
		if len(r.Filter.Rules) == 0 {
			r.Filter = nil
		}
	}
	return nil
}

// checkTogether refuses rules with the same ID, and rules that match the same event: "Examples of notification
// configurations with invalid prefix and suffix overlapping" of S3's guide. The messages are known from issues of
// minio (2472) and aws-waf-security-automations (49).
func checkTogether(x *wire.Exchange, rules []notificationRule) *wire.Reply {
	for i, a := range rules {
		for _, b := range rules[:i] {
			filtered := a.Filter != nil || b.Filter != nil
			switch {
			case a.ID != "" && a.ID == b.ID:
				return invalidArgument(x, "Same ID used for multiple configurations. IDs must be unique.")
			case !shareEvent(a.Events, b.Events) || !overlap(a, b):
			case filtered:
				return invalidArgument(x, "Configuration is ambiguously defined. Cannot have overlapping suffixes in "+
					"two rules if the prefixes are overlapping for the same event type.")
			default:
				return invalidArgument(x, "Configurations overlap. Configurations on the same bucket cannot share a "+
					"common event type.")
			}
		}
	}
	return nil
}

// shareEvent reports whether an event matches both lists; s3:ObjectCreated:* matches several.
func shareEvent(a, b []string) bool {
	covers := func(pattern, event string) bool {
		family, all := strings.CutSuffix(pattern, "*")
		return pattern == event || all && strings.HasPrefix(event, family)
	}
	return slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool { return covers(one, other) || covers(other, one) })
	})
}

// overlap reports whether a key can have the prefixes and the suffixes of both.
func overlap(a, b notificationRule) bool {
	p, q, s, t := a.part("prefix"), b.part("prefix"), a.part("suffix"), b.part("suffix")
	return (strings.HasPrefix(p, q) || strings.HasPrefix(q, p)) && (strings.HasSuffix(s, t) || strings.HasSuffix(t, s))
}

// validate checks all destinations, and allows the deliveries of the test event.
func (s *Service) validate(ctx context.Context, x *wire.Exchange, c *notificationConfiguration) (*wire.Reply, error) {
	facts, err := s.facts(ctx, x)
	if err != nil || facts.owner == "" {
		return nil, err // moto reports that the bucket does not exist
	}
	from := bucketSender(x, facts.owner)
	skip := x.In.Header.Get(skipValidation) == "true"
	for _, r := range slices.Concat(c.Queues, c.Topics) {
		to := r.destination()
		id := wire.SplitARN(to)
		switch {
		case id.Region != facts.region:
			return invalidArgument(x, "The notification destination service region is not valid for the bucket "+
				"location constraint"), nil
		case strings.HasSuffix(id.Resource, ".fifo"): // "Supported event destinations" of S3's guide
			return invalidDestination(to, "S3 does not support FIFO queues and topics as destinations"), nil
		case skip:
			continue
		}
		before := len(x.Deliver)
		if err := s.openWay(ctx, x, from, to); err != nil {
			return nil, err
		}
		if len(x.Deliver) == before {
			return invalidDestination(to,
				"Permissions on the destination do not allow S3 to publish notifications from this bucket, or it "+
					"does not exist"), nil
		}
	}
	return nil, nil
}

// invalidDestination returns the refusal of a destination with the reason; SDKs show only the first sentence.
func invalidDestination(arn, why string) *wire.Reply {
	return wire.XMLReply(http.StatusBadRequest,
		"<Error><Code>InvalidArgument</Code><Message>Unable to validate the following destination "+
			"configurations</Message>"+
			"<ArgumentName1>%s</ArgumentName1><ArgumentValue1>%s</ArgumentValue1><RequestId/><HostId/></Error>", arn,
		why)
}
