package wire

import (
	"strings"
)

// ARN is an ARN, split into its parts.
type ARN struct{ Partition, Service, Region, Account, Resource string }

// String returns the ARN.
func (a ARN) String() string {
	return strings.Join([]string{"arn", a.Partition, a.Service, a.Region, a.Account, a.Resource}, ":")
}

// SplitARN returns the parts of an ARN; the zero value if it is not one.
func SplitARN(arn string) ARN {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return ARN{}
	}
	return ARN{parts[1], parts[2], parts[3], parts[4], parts[5]}
}

// Partition returns the AWS partition of a region.
func Partition(region string) string {
	for prefix, name := range map[string]string{"cn-": "aws-cn", "us-gov-": "aws-us-gov", "eusc-": "aws-eusc"} {
		if strings.HasPrefix(region, prefix) {
			return name
		}
	}
	return "aws"
}

// ARN returns the ARN of a resource in the call's account and region.
func (x *Exchange) ARN(service, resource string) string {
	return ARN{Partition(x.Call.Region), service, x.Call.Region, x.Call.Account, resource}.String()
}

// ResourceARN returns the ARN of a resource in the account that the call is about.
func (x *Exchange) ResourceARN(service, resource string) string {
	return ARN{Partition(x.Call.Region), service, x.Call.Region, x.Account(), resource}.String()
}

// GlobalARN returns the ARN of a resource without a region, or without an account either.
func (x *Exchange) GlobalARN(service, account, resource string) string {
	return ARN{Partition(x.Call.Region), service, "", account, resource}.String()
}
