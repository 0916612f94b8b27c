output "operator_role_arn" {
  description = "With IRSA, the chart's value operator.aws.roleARN, and roleARN of AWSProviders"
  value       = aws_iam_role.operator.arn
}

output "resources_role_arn" {
  description = "assumeRoleARN of AWSProviders"
  value       = aws_iam_role.resources.arn
}
