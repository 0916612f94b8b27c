package catalog

import (
	"slices"
	"strings"
	"unicode"
)

// spelled are words with a special spelling.
var spelled = map[string]string{
	"acl": "ACL", "acls": "ACLs", "api": "API", "arn": "ARN", "arns": "ARNs", "az": "AZ", "cloudwatch": "CloudWatch",
	"oidc": "OIDC", "aws": "AWS", "cidr": "CIDR", "cors": "CORS",
	"cpu": "CPU", "db": "DB", "dlq": "DLQ", "dns": "DNS", "ebs": "EBS", "ecr": "ECR", "fifo": "FIFO", "http": "HTTP",
	"https": "HTTPS", "iam": "IAM", "id": "ID", "ids": "IDs", "iops": "IOPS", "ip": "IP", "kms": "KMS",
	"rds": "RDS", "s3": "S3", "sns": "SNS", "sqs": "SQS", "sse": "SSE", "ssm": "SSM", "sts": "STS", "tls": "TLS",
	"ttl": "TTL", "url": "URL",
	"vpc": "VPC",
}

// wholes are labels of fields whose names are unclear as words.
var wholes = map[string]string{
	"args": "Arguments", "configMapKeyRef": "ConfigMap key", "configMapRef": "ConfigMap",
	"env":     "Environment variables",
	"envFrom": "Environment sources", "maxDatabaseStorageGiB": "Largest database in GiB",
	"maxVolumeSizeGiB": "Largest volume in GiB",
	"requireIMDSv2":    "Require IMDSv2", "provider": "AWS account", "providerRef": "AWS account",
	"providers":          "AWS accounts",
	"clusterProviderRef": "AWS account of the cluster",
}

// label turns a field's name into words: kmsKeyID → KMS key ID, databaseRef → Database.
func label(name string) string {
	if s, ok := wholes[name]; ok {
		return s
	}
	words := split(name)
	if len(words) > 1 && words[len(words)-1] == "Ref" {
		words = words[:len(words)-1]
	}
	if len(words) > 1 && words[len(words)-1] == "Seconds" { // inputs show the unit
		words = words[:len(words)-1]
	}
	for i, w := range words {
		lower := strings.ToLower(w)
		if s, ok := spelled[lower]; ok {
			words[i] = s
		} else {
			words[i] = lower
		}
	}
	s := strings.Join(words, " ")
	return strings.ToUpper(s[:1]) + s[1:]
}

// split splits camelCase; a run of capitals is one word, except its last letter if lower case follows.
func split(name string) []string {
	var words []string
	r := []rune(name)
	start := 0
	for i := 1; i < len(r); i++ {
		up, before := unicode.IsUpper(r[i]), unicode.IsUpper(r[i-1])
		next := i+1 < len(r) && unicode.IsLower(r[i+1])
		if (up && !before) || (up && before && next && !isPlural(r, i)) {
			words = append(words, string(r[start:i]))
			start = i
		}
	}
	return append(words, string(r[start:]))
}

// isPlural reports whether r[i:] is the end of a plural abbreviation, as in subnetIDs.
func isPlural(r []rune, i int) bool {
	return i+1 < len(r) && r[i+1] == 's' && (i+2 == len(r) || unicode.IsUpper(r[i+2]))
}

// help returns the field's description as a sentence, without the leading field name: "engine is the …" becomes "The
// …". If the rest is no sentence, as for "environment of the namespace", the field's label replaces the name.
func help(name, description string) string {
	s := strings.TrimSpace(immutables.Replace(oneLine(description))) // the input itself says that it is immutable
	for _, lead := range []string{name + " is ", name + " are ", name + ": ", name + " "} {
		rest, ok := strings.CutPrefix(s, lead)
		switch first, _, _ := strings.Cut(rest, " "); {
		case !ok || rest == "":
		case slices.Contains([]string{"of", "that", "at", "for", "in", "from", "to"}, first):
			return label(name) + " " + rest
		default:
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	return s
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// immutables removes what inputs say in their own words.
var immutables = strings.NewReplacer("Immutable once it is created.", "", "Immutable.", "")
