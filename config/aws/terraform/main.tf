# What Portico needs in IAM, for one account: the role of the operator, and the role that it assumes for resources of teams,
# once for each namespace, with session tags. The policies are those of docs/iam.

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.30"
    }
  }
}

data "aws_partition" "this" {}

data "aws_caller_identity" "this" {}

locals {
  irsa     = var.oidc_provider != ""
  optional = contains(var.kinds, "s3bucket") && var.chosen_bucket_names ? ["s3bucket-chosen-names"] : []
  policies = { for name in concat(tolist(var.kinds), local.optional) : name => file("${path.module}/../../../docs/iam/${name}.json") }
}

data "aws_iam_policy_document" "operator_trust" {
  dynamic "statement" {
    for_each = local.irsa ? [] : [true]
    content {
      actions = ["sts:AssumeRole", "sts:TagSession"]
      principals {
        type        = "Service"
        identifiers = ["pods.eks.amazonaws.com"]
      }
    }
  }

  dynamic "statement" {
    for_each = local.irsa ? [true] : []
    content {
      actions = ["sts:AssumeRoleWithWebIdentity"]
      principals {
        type        = "Federated"
        identifiers = ["arn:${data.aws_partition.this.partition}:iam::${data.aws_caller_identity.this.account_id}:oidc-provider/${var.oidc_provider}"]
      }
      condition {
        test     = "StringEquals"
        variable = "${var.oidc_provider}:aud"
        values   = ["sts.amazonaws.com"]
      }
      condition {
        test     = "StringEquals"
        variable = "${var.oidc_provider}:sub"
        values   = ["system:serviceaccount:${var.namespace}:portico-operator"]
      }
    }
  }
}

resource "aws_iam_role" "operator" {
  name               = var.operator_role_name
  description        = "Portico's operator. It can do nothing but assume the role for resources of teams"
  assume_role_policy = data.aws_iam_policy_document.operator_trust.json
}

resource "aws_iam_role_policy" "assume" {
  name = "assume"
  role = aws_iam_role.operator.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid      = "ActForNamespaces"
      Effect   = "Allow"
      Action   = ["sts:AssumeRole", "sts:TagSession"]
      Resource = aws_iam_role.resources.arn
    }]
  })
}

resource "aws_eks_pod_identity_association" "operator" {
  count           = local.irsa ? 0 : 1
  cluster_name    = var.cluster_name
  namespace       = var.namespace
  service_account = "portico-operator"
  role_arn        = aws_iam_role.operator.arn
}

resource "aws_iam_role" "resources" {
  name        = var.resources_role_name
  description = "What Portico may do with resources of teams, each namespace its own"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = aws_iam_role.operator.arn }
      Action    = ["sts:AssumeRole", "sts:TagSession"]
    }]
  })
}

resource "aws_iam_policy" "kind" {
  for_each    = local.policies
  name        = "${var.resources_role_name}-${each.key}"
  description = "Portico, ${each.key}"
  policy      = each.value
}

resource "aws_iam_role_policy_attachment" "kind" {
  for_each   = aws_iam_policy.kind
  role       = aws_iam_role.resources.name
  policy_arn = each.value.arn
}

# The most that Pods may do with the rights that Portico gives them, whatever it makes.
resource "aws_iam_policy" "pods_boundary" {
  count       = contains(var.kinds, "accessbinding") ? 1 : 0
  name        = "portico-pods-boundary"
  description = "Portico, the permissions boundary of every role for Pods"
  policy      = file("${path.module}/../../../docs/iam/pods/boundary.json")
}
