package awsproxy

import (
	"net/url"
	"strconv"
	"strings"
)

// resourceParams lists by service the parameters that name what a call is
// about; the first present counts. A list may be given as Name.1 or Name.member.1.
var resourceParams = map[string][]string{
	"sns":                  {"TopicArn", "ResourceArn", "SubscriptionArn", "Name"},
	"sqs":                  {"QueueUrl", "QueueName", "QueueNamePrefix"},
	"rds":                  {"DBInstanceIdentifier", "DBSnapshotIdentifier", "DBSubnetGroupName", "DBParameterGroupName", "ResourceName"},
	"ec2":                  {"InstanceId", "ResourceId", "GroupId", "VolumeId", "SubnetId", "VpcId"},
	"elasticloadbalancing": {"RuleArn", "RuleArns", "ListenerArn", "ListenerArns", "TargetGroupArn", "TargetGroupArns", "LoadBalancerArn", "LoadBalancerArns", "ResourceArns", "Name", "Names"},
	"acm":                  {"CertificateArn", "DomainName"},
	"sts":                  {"RoleArn"},
	"iam":                  {"RoleName", "UserName", "InstanceProfileName", "PolicyArn"},
	"ssm":                  {"Name", "Names"},
	"secretsmanager":       {"SecretId", "Name"},
	"tagging":              {"ResourceARNList"},
}

func resourceOfForm(service string, form url.Values) string {
	return firstResource(service, func(name string) []string {
		if v := form.Get(name); v != "" {
			return []string{v}
		}
		if list := formList(form, name+"."); list != nil {
			return list
		}
		return formList(form, name+".member.")
	})
}

// formList reads prefix1, prefix2, and so on.
func formList(form url.Values, prefix string) []string {
	var out []string
	for i := 1; form.Has(prefix + strconv.Itoa(i)); i++ {
		out = append(out, form.Get(prefix+strconv.Itoa(i)))
	}
	return out
}

func resourceOfJSON(service string, input map[string]any) string {
	return firstResource(service, func(name string) []string {
		switch v := input[name].(type) {
		case string:
			return []string{v}
		case []any:
			var out []string
			for _, item := range v {
				if s, ok := item.(string); ok {
					out = append(out, s)
				}
			}
			return out
		default:
			return nil
		}
	})
}

func firstResource(service string, get func(name string) []string) string {
	for _, name := range resourceParams[service] {
		values := get(name)
		for i, v := range values {
			values[i] = shortName(service, v)
		}
		if len(values) > 0 {
			return strings.Join(values, ",")
		}
	}
	return ""
}

// shortName makes the URL of a queue and the ARN of a topic, a subscription or a DB instance the name by
// which other calls go.
func shortName(service, v string) string {
	switch service {
	case "sqs":
		return v[strings.LastIndex(v, "/")+1:]
	case "sns":
		if parts := strings.Split(v, ":"); len(parts) > 5 {
			return parts[5] // of a subscription, its topic
		}
		return v
	case "rds":
		return v[strings.LastIndex(v, ":")+1:]
	default:
		return v
	}
}
