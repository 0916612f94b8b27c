package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadIdentityStatus is how much room there is in AWS for rights of Pods.
type WorkloadIdentityStatus struct {
	// readTime is when AWS was asked; that is about once an hour.
	// +required
	ReadTime metav1.Time `json:"readTime"`
	// roles of the account, Portico's and others. PodIdentity takes one for each namespace, IRSA one for each
	// ServiceAccount.
	// +optional
	Roles *QuotaUse `json:"roles,omitempty"`
	// associations of EKS Pod Identity that the cluster has, Portico's and others. Only with PodIdentity.
	// +optional
	Associations *QuotaUse `json:"associations,omitempty"`
}

// QuotaUse is how much of a quota of AWS is used.
type QuotaUse struct {
	// used is how many there are.
	// +required
	Used int64 `json:"used"`
	// quota is how many there may be.
	// +required
	Quota int64 `json:"quota"`
}

// nearlyFull is how much of a quota is used when it is time to raise it, in percent.
const nearlyFull = 80

// Full reports whether nothing more fits.
func (q *QuotaUse) Full() bool { return q != nil && q.Used >= q.Quota }

// NearlyFull reports whether 80 % of the quota are used, or more.
func (q *QuotaUse) NearlyFull() bool { return q != nil && q.Used*100 >= q.Quota*nearlyFull }

// Conditions of an AWSProvider that gives Pods rights.
const (
	// ConditionWorkloadIdentityReady says whether what workloadIdentity names is there, and whether Portico may ask for
	// it.
	ConditionWorkloadIdentityReady = "WorkloadIdentityReady"
	// ConditionQuotaNearlyFull is there and True while a quota for rights of Pods is full, or nearly so.
	ConditionQuotaNearlyFull = "QuotaNearlyFull"
)
