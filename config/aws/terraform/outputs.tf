output "operator_role_arn" {
  description = "With IRSA, the chart's value operator.aws.roleARN, and roleARN of AWSProviders"
  value       = aws_iam_role.operator.arn
}

output "resources_role_arn" {
  description = "assumeRoleARN of AWSProviders"
  value       = aws_iam_role.resources.arn
}

output "pods_boundary_arn" {
  description = "workloadIdentity.boundaryARN of AWSProviders; empty without the kind accessbinding"
  value       = one(aws_iam_policy.pods_boundary[*].arn)
}
