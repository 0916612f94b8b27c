variable "cluster_name" {
  description = "Name of the EKS cluster, for EKS Pod Identity; its add-on eks-pod-identity-agent must be there"
  type        = string
  default     = ""
}

variable "oidc_provider" {
  description = "The cluster's issuer without https://, for IAM roles for service accounts (IRSA); empty: EKS Pod Identity"
  type        = string
  default     = ""

  validation {
    condition     = !startswith(var.oidc_provider, "https://")
    error_message = "Leave https:// out: oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF."
  }
}

variable "namespace" {
  description = "The namespace that Portico is installed in"
  type        = string
  default     = "portico-system"
}

variable "kinds" {
  description = "The kinds that are offered, in lower case"
  type        = set(string)
  default     = ["accessbinding", "ec2instance", "gatewayhostnamerequest", "rdsinstance", "s3bucket", "snstopic", "sqsqueue"] # kinds: policies
}

variable "chosen_bucket_names" {
  description = "Whether teams may choose bucketName, which begins with their namespace and a hyphen. Say false where the name of one namespace is the beginning of another's, as pay and pay-roll, unless buckets have such names already (docs/iam/README.md)"
  type        = bool
  default     = true
}

variable "operator_role_name" {
  description = "Name of the operator's role"
  type        = string
  default     = "portico-operator"
}

variable "resources_role_name" {
  description = "Name of the role for resources of teams"
  type        = string
  default     = "portico-resources"
}
