package awsproxy

// refuseSNS refuses values that SNS refuses regardless of existing resources, and moto accepts. The rows of
// test/awslimits have the sources.
func refuseSNS(x *exchange) *reply {
	switch x.call.Operation {
	case "CreateTopic", "TagResource":
		return oddTags(x, x.form, "Tags.member.")
	case "Subscribe":
		return documentsOf(x, attributesOf(x))
	case "SetSubscriptionAttributes":
		return documentsOf(x, map[string]string{x.form.Get("AttributeName"): x.form.Get("AttributeValue")})
	}
	return nil
}
