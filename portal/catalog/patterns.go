package catalog

// forms describe the values that match the patterns of our schemas.
var forms = map[string]string{
	`^(/dev/)?[a-z]+[0-9]*$`:          "use the name of a device, such as /dev/sdf or xvda",
	`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`: "use lower-case letters, digits and hyphens; " + ends,
	`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`: "use lower-case letters, digits, hyphens and dots; " +
		ends,
	`^[a-z]{2,}(-[a-z]+)+-[0-9]+$`: "use the name of an AWS region, such as eu-west-1",
	`^sg-[0-9a-z]+$`: "use the ID of a security group, such as " +
		"sg-0123456789abcdef0",
	`^([*]|sg-[0-9a-z]+)$`: "use the ID of a security group, such as " +
		"sg-0123456789abcdef0, or * for all",
	`^([*]|subnet-[0-9a-z]+)$`: "use the ID of a subnet, such as " +
		"subnet-0123456789abcdef0, or * for all",
	`^([*]|ami-[0-9a-f]{8,17})$`: "use the ID of an image, such as " +
		"ami-0123456789abcdef0, or * for all",
	`^[a-z0-9.-]*[*]?[a-z0-9.-]*$`: "use a size such as t3.micro; one * stands for any " +
		"characters, as in t3.*",
	`^[0-9A-Za-z.-]*[*]?[0-9A-Za-z.-]*$`: "use a version such as 16.4; one * stands for any " +
		"characters, as in 16.*",
	`^(self|amazon|[0-9]{12})$`: "use self, amazon, or the 12 digits of an AWS account",
	`^subnet-[0-9a-z]+$`:        "use the ID of a subnet, such as subnet-0123456789abcdef0",
	`^ami-[0-9a-f]{8,17}$`:      "use the ID of an image, such as ami-0123456789abcdef0",
	`^arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$`:                                             "use the ARN of a queue, such as arn:aws:sqs:eu-west-1:123456789012:orders",
	`^([a-zA-Z0-9-]+[.][a-zA-Z0-9.-]+|[a-zA-Z0-9.-]+:[0-9]+|localhost)(/[a-z0-9._-]+)*/([*]|[a-z0-9._-]+)$`: "use a registry and a repository, such as ghcr.io/shop/web, or registry.example.com/* for all of it",
	`^[a-z0-9.-]+$`: "use lower-case letters, digits, hyphens and dots",
	`^[0-9]{12}$`:   "use the 12 digits of an AWS account",
	`^arn:[a-z-]+:iam::[0-9]{12}:role/.+$`: "use the ARN of an IAM role, such as " +
		"arn:aws:iam::123456789012:role/shop",
	`^arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+$`: "use the ARN of an IAM policy, such as " +
		"arn:aws:iam::123456789012:policy/portico-pods-boundary",
	`^arn:[a-z-]+:iam::[0-9]{12}:oidc-provider/.+$`: "use the ARN of an IAM identity provider, such as " +
		"arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF",
	`^[0-9A-Za-z][A-Za-z0-9_-]*$`:          "use letters, digits, hyphens and underscores; begin with a letter or digit",
	`^[0-9A-Za-z][-_0-9A-Za-z]*$`:          "use the ID that the CI system gives, such as 123456789: a number in quotes",
	`^[-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)+$`: "use the full name of a repository, such as acme/shop",
	`^[-_.A-Za-z0-9]+(/[-_.A-Za-z0-9]+)*$`: "use the name of an organisation, user or group, such as acme",
	`^[^*?\s]+$`:                           "use one exact name, without blanks, * and ?: there are no wildcards",
	`^[^*?]+$`:                             "use one exact name, without * and ?: there are no wildcards",
	`^[-_.:A-Za-z0-9]+$`:                   "use the name of an event as the CI system writes it, such as push",
	`^[A-Za-z_$][-A-Za-z0-9_$]*$`:          "use the name of a field of spec, such as engineVersion",
	`^[A-Za-z_$][-A-Za-z0-9_$]*(\[\])?(\.[A-Za-z_$][-A-Za-z0-9_$]*(\[\])?)*$`: "use a path below spec, such as " +
		"subnetRef.name, with [] for every element of a list: bindings[].name",
	`^[A-Z0-9][-A-Za-z0-9 ]*$`:     "use words that begin with a capital letter, such as Message queue",
	`^https?://[^ ]+$`:             "use a URL that begins with https:// or http://",
	`^Z[0-9A-Z]*$`:                 "use the ID of a hosted zone of Route 53, such as Z0123456789ABCDEFGHIJ",
	`^[A-Za-z_][A-Za-z0-9_]*$`:     "use letters, digits and underscores; do not start with a digit",
	`^[A-Za-z_.-][A-Za-z0-9_.-]*$`: "use letters, digits, underscores, hyphens and dots; do not start with a digit",
	`^arn:[a-z-]+:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,80}([.]fifo)?$`: "use the ARN of a " +
		"queue, such as arn:aws:sqs:eu-west-1:123456789012:orders",
	`^([*]|arn:aws[a-z-]*:sqs:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+)$`: "use the ARN of a " +
		"queue, such as arn:aws:sqs:eu-west-1:123456789012:orders, or * for all",
	`^([*]|[*]?[^*:/@\s]*@[A-Za-z0-9.-]+|https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^*@\s]*[*]?)?)$`: "use a mail address, such as team@example.com or *@example.com, a URL such as https://hooks.example.com/orders or https://hooks.example.com/*, or * for all",
	`^[^*]*[*]?[^*]*$`: "use one * at most: it stands for any characters",
	`^([*]|arn:aws[a-z-]*:(sns|s3|events):[^*]*[*]?[^*]*)$`: "use the ARN of a topic, bucket or EventBridge rule, " +
		"such as arn:aws:sns:eu-west-1:123456789012:orders, with one * at most for any characters, or * for all",
	`^arn:aws[a-z-]*:(sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+([.]fifo)?|s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]|events:[a-z0-9-]+:[0-9]{12}:rule/[A-Za-z0-9_./-]+)$`: "use the ARN of a topic, bucket or EventBridge rule, such as arn:aws:sns:eu-west-1:123456789012:orders",
	`^[^\s@:/]+@[A-Za-z0-9.-]+$`:                                                                                        "use a mail address, such as team@example.com",
	`^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^\s#@]*)?$`:                                                                "use a URL that begins with https://, such as https://hooks.example.com/orders",
	`^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]*[a-z0-9])?$`:                                                 "use a domain in lower case, such as shop.example.com",
	`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`: "use a number, with a unit if you like: 500m or 2 of CPU, 256Mi or 1Gi of memory",
}

// formOf describes the values that match a pattern.
func formOf(pattern string) string {
	if words, ok := forms[pattern]; ok {
		return words
	}
	return "does not have the right form: it must match " + pattern
}
