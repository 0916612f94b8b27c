package v1alpha1

// Kinds of objects that Portico runs.
const (
	KindAWSProvider            = "AWSProvider"
	KindDomainClaim            = "DomainClaim"
	KindEC2Instance            = "EC2Instance"
	KindGatewayHostnameRequest = "GatewayHostnameRequest"
	KindHostnameGrant          = "HostnameGrant"
	KindPoolGateway            = "PoolGateway"
	KindRDSInstance            = "RDSInstance"
	KindS3Bucket               = "S3Bucket"
	KindSNSTopic               = "SNSTopic"
	KindSQSQueue               = "SQSQueue"
	KindWebApp                 = "WebApp"
)
