//go:build integration

package integration

import "slices"

// wrong is a broken reference.
type wrong struct {
	path   string // of the spec, as its schema has it
	spec   string // the broken reference, as JSON merged into a spec with only the required fields
	reason string // of Ready while the reference is broken
	edited bool   // a Ready object can also be edited to have it, and is then deleted, too
}

const (
	noKey   = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000"
	noQueue = "arn:aws:sqs:eu-west-1:123456789012:nowhere"
	noTopic = "arn:aws:sns:eu-west-1:123456789012:nowhere"
	noRole  = "arn:aws:iam::123456789012:role/nobody"
)

// stray is a broken reference of a kind.
type stray struct {
	kind string
	wrong
}

// astray returns every reference of every kind, missing and mistyped.
func astray() (all []stray) {
	add := func(kind string, rows ...wrong) {
		for _, x := range rows {
			all = append(all, stray{kind, x})
		}
	}
	for _, s := range specimens() {
		add(s.kind,
			wrong{"providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
			wrong{"region", `{"region":"eu-nowhere-7"}`, "RegionNotAllowed", false})
		add(s.kind, s.astray...)
	}
	for _, x := range others {
		add(x.kind, x.astray...)
	}
	return all
}

// plain returns the strings of a spec that refer to nothing but the object itself, or to what need not exist. names
// are the fields with its external name.
func plain(kind string, names []string) []string {
	for _, s := range specimens() {
		if s.kind == kind {
			return slices.Concat(names, []string{"tags{}"}, s.plain)
		}
	}
	for _, x := range others {
		if x.kind == kind {
			return slices.Clone(x.plain)
		}
	}
	return nil
}

// others are the kinds that are not AWS kinds; those have theirs in their specimens.
var others = []struct {
	kind   string
	astray []wrong
	plain  []string
}{
	{"WebApp", []wrong{
		{"bindings[].name", `{"bindings":[{"kind":"S3Bucket","name":"nowhere"}]}`, "BindingNotFound", true},
		{
			"env[].valueFrom.secretKeyRef.name",
			`{"image":"registry.example.com/shop/broken-secret:1","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"nowhere","key":"a"}}}]}`, "CreateContainerConfigError", true,
		},
		{
			"env[].valueFrom.secretKeyRef.key",
			`{"image":"registry.example.com/shop/broken-secret:1","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"there","key":"nowhere"}}}]}`, "CreateContainerConfigError", true,
		},
		{
			"env[].valueFrom.configMapKeyRef.name",
			`{"image":"registry.example.com/shop/broken-configmap:1","env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"nowhere","key":"a"}}}]}`, "CreateContainerConfigError", true,
		},
		{
			"env[].valueFrom.configMapKeyRef.key",
			`{"image":"registry.example.com/shop/broken-configmap:1","env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"there","key":"nowhere"}}}]}`, "CreateContainerConfigError", true,
		},
		{"envFrom[].secretRef.name", `{"image":"registry.example.com/shop/broken-secret:1","envFrom":[{"secretRef":{"name":"nowhere"}}]}`, "CreateContainerConfigError", true},
		{"envFrom[].configMapRef.name", `{"image":"registry.example.com/shop/broken-configmap:1","envFrom":[{"configMapRef":{"name":"nowhere"}}]}`, "CreateContainerConfigError", true},
		{"imagePullSecrets[].name", `{"image":"registry.example.com/shop/broken-pull:1","imagePullSecrets":[{"name":"nowhere"}]}`, "ImagePullBackOff", true},
		{"expose.hostname", `{"expose":{"hostname":"nowhere"}}`, "HostnameNotFound", true},
		{"image", `{"image":"nowhere.invalid/shop/broken-pull:1"}`, "ImagePullBackOff", true},
		{"identity.awsRoleARN", `{"identity":{"awsRoleARN":"` + noRole + `"}}`, "InSync", true},
	}, []string{
		"args[]", "command[]", "bindings[].prefix", "bindings[].files.folder", "env[].name", "env[].value",
		"envFrom[].prefix", "probes.liveness.path",
		"probes.readiness.path", "probes.startup.path",
	}},
	{"AccessBinding", []wrong{
		{"providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
		{"resources[].name", `{"resources":[{"kind":"SQSQueue","name":"nowhere"}]}`, "BindingNotFound", true},
	}, []string{
		"serviceAccountName",
	}},
	{"DatabaseUser", []wrong{{"databaseRef.name", `{"databaseRef":{"name":"nowhere"}}`, "NotFound", false}}, []string{"expiresAt"}},
	{"GatewayHostnameRequest", []wrong{
		{"providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
		{"gatewayClass", `{"gatewayClass":"nowhere"}`, "ClassNotFound", false},
		{"zoneId", `{"zoneId":"Z0123456789ABCDEFGHIJ"}`, "NotInZone", false},
		{"validationZoneId", `{"validationZoneId":"Z0123456789ABCDEFGHIJ"}`, "InvalidSpec", false},
		{"hostname", `{"hostname":"shop.nobodys.example"}`, "NotGranted", false}, // no grant covers it
	}, nil},
	{"AWSProvider", []wrong{
		{"accessKeyIDRef.name", `{"accessKeyIDRef":{"name":"nowhere"}}`, "SecretNotFound", true},
		{"accessKeyIDRef.key", `{"accessKeyIDRef":{"key":"nowhere"}}`, "SecretKeyNotFound", true},
		{"secretAccessKeyRef.name", `{"secretAccessKeyRef":{"name":"nowhere"}}`, "SecretNotFound", true},
		{"secretAccessKeyRef.key", `{"secretAccessKeyRef":{"key":"nowhere"}}`, "SecretKeyNotFound", true},
		{"sessionTokenRef.name", `{"sessionTokenRef":{"name":"nowhere","key":"token"}}`, "SecretNotFound", true},
		{"sessionTokenRef.key", `{"sessionTokenRef":{"name":"there","key":"nowhere"}}`, "SecretKeyNotFound", true},
		{"roleARN", `{"accessKeyIDRef":null,"secretAccessKeyRef":null,"roleARN":"` + noRole + `"}`, "NoWebIdentity", true},
		{"assumeRoleARN", `{"accountID":"240000000001","assumeRoleARN":"` + noRole + `"}`, "AccountMismatch", true},
		{"assumeRoleChain[].roleARN", `{"accountID":"240000000001","assumeRoleARN":"` + noRole + `","assumeRoleChain":[{"roleARN":"` + noRole + `"}]}`, "AccountMismatch", true},
		{"endpoint", `{"endpoint":"https://nowhere.invalid"}`, "EndpointNotAllowed", true},
		{"endpoints.s3", `{"endpoints":{"s3":"https://nowhere.invalid"}}`, "EndpointNotAllowed", true},
		{"endpoints.sqs", `{"endpoints":{"sqs":"https://nowhere.invalid"}}`, "EndpointNotAllowed", true},
		{"endpoints.sns", `{"endpoints":{"sns":"https://nowhere.invalid"}}`, "EndpointNotAllowed", true},
		{"endpoints.sts", `{"endpoints":{"sts":"https://nowhere.invalid"}}`, "EndpointNotAllowed", true},
		{"accountID", `{"accountID":"999999999999"}`, "AccountMismatch", false},
		{"workloadIdentity.clusterName", `{"workloadIdentity":{"mode":"PodIdentity","clusterName":"nowhere"}}`, "InSync", true},
		{"workloadIdentity.clusterProviderRef.name", `{"workloadIdentity":{"mode":"PodIdentity","clusterName":"","clusterProviderRef":{"name":"nowhere"}}}`, "InSync", true},
		{"workloadIdentity.oidcProviderARN", `{"workloadIdentity":{"mode":"IRSA","oidcProviderARN":"arn:aws:iam::240000000001:oidc-provider/nowhere"}}`, "InSync", true},
		{"workloadIdentity.boundaryARN", `{"workloadIdentity":{"boundaryARN":"arn:aws:iam::240000000001:policy/nowhere"}}`, "InSync", true},
	}, []string{
		"region", "externalID", "assumeRoleChain[].externalID", "defaultTags{}", "enforcedTags{}", "forbiddenTagKeys[]",
		"allowedRegions[]", "allowedDeadLetterQueues[]", "allowedImages[]", "allowedInstanceProfiles[]",
		"allowedKMSKeys[]",
		"allowedKeyPairs[]", "allowedParameterGroups[]", "allowedSecurityGroups[]", "allowedSubnetGroups[]",
		"allowedSubnets[]",
		"allowedSenders[]", "allowedPrincipals[]", "allowedSubscribers[]", "allowedNamespaces.matchExpressions[].key",
		"allowedNamespaces.matchExpressions[].operator", "allowedNamespaces.matchExpressions[].values[]",
		"allowedNamespaces.matchLabels{}",
		"guardrails.allowedInstanceTypes[]", "guardrails.allowedDatabaseClasses[]",
		"guardrails.allowedEngines[].versions[]", "guardrails.allowedImageOwners[]",
	}},
	{"PoolGateway", []wrong{
		{"gatewayClass", `{"gatewayClass":"nowhere"}`, "", false},
		{"providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "", false},
		{"accountID", `{"accountID":"999999999999"}`, "", false},
		{"region", `{"region":"eu-nowhere-7"}`, "", false},
	}, nil},
	{"DomainClaim", []wrong{
		{"gateway", `{"gateway":"nowhere"}`, "HolderGone", false},
		{"holder.name", `{"holder":{"name":"nowhere"}}`, "HolderGone", false},
		{"holder.namespace", `{"holder":{"namespace":"nowhere"}}`, "HolderGone", false},
		{"holder.uid", `{"holder":{"uid":"nowhere"}}`, "HolderGone", false},
	}, []string{
		"hostname",
	}},
	{"Team", []wrong{
		{"providers[].name", `{"providers":[{"name":"nowhere"}]}`, "ProviderNotFound", true},
		{"providers[].regions[]", `{"providers":[{"name":"aws-local","regions":["eu-nowhere-7"]}]}`, "RegionNotAllowed", true},
		{"defaults.provider", `{"defaults":{"provider":"nowhere"}}`, "InvalidSpec", true},
		{"members[].group", `{"members":[{"group":"oidc:nobody","role":"Viewer"}]}`, "InSync", true},
		{"members[].user", `{"members":[{"user":"oidc:nobody","role":"Owner"}]}`, "InSync", true},
		{"hostnames.gatewayClasses[]", `{"hostnames":{"suffixes":["nobodys.example"],"gatewayClasses":["nowhere"]}}`, "InSync", true},
		{"hostnames.zones[]", `{"hostnames":{"suffixes":["nobodys.example"],"zones":["Z0123456789ABCDEFGHIJ"]}}`, "InSync", true},
		{"deployers[].issuer", `{"deployers":[{"name":"d","issuer":"nowhere","repository":"acme/shop","repositoryID":"74","owner":"acme","ownerID":"65","branch":"main","namespaces":["payments"],"role":"Viewer"}]}`, "DeployerNotAllowed", true},
	}, []string{
		"deployers[].name", "deployers[].repository", "deployers[].repositoryID", "deployers[].owner",
		"deployers[].ownerID", "deployers[].branch", "deployers[].tag", "deployers[].environment",
		"deployers[].events[]", "deployers[].namespaces[]",
		"title", "contact", "namespaces[].name", "defaults.tags{}", "hostnames.suffixes[]", "isolation.allowFrom[]",
		"isolation.allowTo[]",
		"guardrails.allowedInstanceTypes[]", "guardrails.allowedDatabaseClasses[]",
		"guardrails.allowedEngines[].versions[]", "guardrails.allowedImageOwners[]",
		"guardrails.allowedImageRegistries[]", "guardrails.enforcedTags{}", "guardrails.forbiddenTagKeys[]",
		"guardrails.allowedSubnets[]", "guardrails.allowedSubnetGroups[]", "guardrails.allowedSecurityGroups[]",
		"guardrails.allowedKeyPairs[]", "guardrails.allowedParameterGroups[]", "guardrails.allowedInstanceProfiles[]",
		"guardrails.allowedImages[]", "guardrails.allowedKMSKeys[]", "guardrails.allowedDeadLetterQueues[]",
		"guardrails.allowedSenders[]", "guardrails.allowedPrincipals[]", "guardrails.allowedSubscribers[]",
	}},
	{"CatalogEntry", nil, []string{ // a definition or entry that does not exist is in the status: controllers/catalog
		"changes[].effect",
		"changes[].fields[]", "controller.documentation", "controller.name", "definition.group",
		"definition.resource", "definition.version", "deletion.deleted", "deletion.editable[]",
		"deletion.effect", "deletion.loss", "deletion.lossyField", "deletion.protectedBy", "description",
		"form.begins[].field", "form.begins[].value", "form.first[]", "form.offers[].dependsOn[]",
		"form.offers[].field", "form.order[]", "form.people[]", "form.sections[].fields[]",
		"form.sections[].title", "form.unique[]", "icon", "page.columns[]", "page.endpoint",
		"page.sentence[].phrases[].text", "page.sentence[].phrases[].when[].field",
		"page.sentence[].phrases[].when[].value", "page.steps[].condition", "page.steps[].title",
		"references[].field", "references[].kindField", "references[].to", "states.conditions",
		"states.failed[].condition", "states.failed[].field", "states.failed[].reasons[]",
		"states.failed[].values[]", "states.message", "states.ready[].condition", "states.ready[].field",
		"states.ready[].reasons[]", "states.ready[].values[]", "title",
	}},
	{"DeployPolicy", nil, []string{
		"issuers[].name", "issuers[].url", "issuers[].caBundle", "issuers[].owners[].id", "issuers[].owners[].name",
		"issuers[].owners[].teams[]", "issuers[].claims.repository", "issuers[].claims.repositoryID",
		"issuers[].claims.owner", "issuers[].claims.ownerID", "issuers[].claims.branch", "issuers[].claims.tag",
		"issuers[].claims.environment", "issuers[].claims.event", "issuers[].claims.events[]",
		"issuers[].claims.workflow", "issuers[].claims.commit", "issuers[].claims.run",
	}},
	{"HostnameGrant", []wrong{
		{"gatewayClasses[]", `{"gatewayClasses":["nowhere"]}`, "InSync", true},
		{"zones[]", `{"zones":["Z0123456789ABCDEFGHIJ"]}`, "InSync", true},
	}, []string{
		"suffixes[]",
	}},
}
