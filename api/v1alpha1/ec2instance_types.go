package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// EC2InstanceStatus is the virtual machine that AWS has.
type EC2InstanceStatus struct {
	AWSStatus `json:",inline"`
	// instanceID is the instance's ID in EC2; empty until it is launched or taken.
	// +optional
	InstanceID string `json:"instanceID,omitempty"`
	// instanceState is what EC2 says of it: pending, running, stopping, stopped or shutting-down.
	// +optional
	InstanceState string `json:"instanceState,omitempty"`
	// instanceType that it has.
	// +optional
	InstanceType string `json:"instanceType,omitempty"`
	// imageID that it was launched from.
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// privateIP is its address within the network.
	// +optional
	PrivateIP string `json:"privateIP,omitempty"`
	// publicIP is its address on the internet, if it has one. It may change when the instance is stopped and started.
	// +optional
	PublicIP string `json:"publicIP,omitempty"`
	// privateDNSName is its name within the network.
	// +optional
	PrivateDNSName string `json:"privateDNSName,omitempty"`
	// publicDNSName is its name on the internet, if it has one.
	// +optional
	PublicDNSName string `json:"publicDNSName,omitempty"`
	// availabilityZone that holds it.
	// +optional
	AvailabilityZone string `json:"availabilityZone,omitempty"`
	// launchTime is when it was last started.
	// +optional
	LaunchTime *metav1.Time `json:"launchTime,omitempty"`
	// volumes that are attached, by device.
	// +optional
	// +listType=map
	// +listMapKey=deviceName
	Volumes []EC2VolumeStatus `json:"volumes,omitempty"`
	// staysAfterDeletion lists what goes on to exist, and to cost money, when the instance is terminated: volumes with
	// deleteOnTermination false.
	// +optional
	// +listType=atomic
	StaysAfterDeletion []string `json:"staysAfterDeletion,omitempty"`
	// launchAttempts counts launches that EC2 refused. It is part of what makes a repeated launch the same one.
	// +optional
	LaunchAttempts int64 `json:"launchAttempts,omitempty"`
	// restartAfterChange is true while the instance is stopped, or about to be, only to change what needs that: it will
	// be started again.
	// +optional
	RestartAfterChange bool `json:"restartAfterChange,omitempty"`
}

// EC2VolumeStatus is one volume that is attached.
type EC2VolumeStatus struct {
	// deviceName under which it is attached.
	DeviceName string `json:"deviceName"`
	// volumeID is its ID in EC2.
	VolumeID string `json:"volumeID"`
	// size in GiB; only while blockDeviceMappings is set.
	// +optional
	Size int32 `json:"size,omitempty"`
}

// EC2Instance is a Linux or Windows server on EC2.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ec2;vm,categories=portico
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.instanceState`
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.status.instanceType`
// +kubebuilder:printcolumn:name="Private IP",type=string,JSONPath=`.status.privateIP`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Instance ID",type=string,JSONPath=`.status.instanceID`,priority=1
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.status.imageID`,priority=1
// +kubebuilder:printcolumn:name="Public IP",type=string,JSONPath=`.status.publicIP`,priority=1
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`.spec.providerRef.name`,priority=1
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.status.region`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:fieldPath=".spec.providerRef",rule="!has(self.status) || !(has(self.status.accountID)) || (self.spec.providerRef == oldSelf.spec.providerRef)",message="providerRef is immutable: the resource would stay behind in the old account; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.region",rule="!has(self.status) || !(has(self.status.accountID)) || (has(self.spec.region) == has(oldSelf.spec.region) && (!has(self.spec.region) || self.spec.region == oldSelf.spec.region))",message="region is immutable: the resource would stay behind in the old region; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.imageID",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.imageID) == has(oldSelf.spec.imageID) && (!has(self.spec.imageID) || self.spec.imageID == oldSelf.spec.imageID))",message="imageID is immutable: an instance keeps the image that it was launched from; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.imageSSMParameter",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.imageSSMParameter) == has(oldSelf.spec.imageSSMParameter) && (!has(self.spec.imageSSMParameter) || self.spec.imageSSMParameter == oldSelf.spec.imageSSMParameter))",message="imageSSMParameter is immutable: an instance keeps the image that it was launched from; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.keyName",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.keyName) == has(oldSelf.spec.keyName) && (!has(self.spec.keyName) || self.spec.keyName == oldSelf.spec.keyName))",message="keyName is immutable: the key is installed at the launch; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.subnetID",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.subnetID) == has(oldSelf.spec.subnetID) && (!has(self.spec.subnetID) || self.spec.subnetID == oldSelf.spec.subnetID))",message="subnetID is immutable: an instance cannot move to another subnet; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.userData",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.userData) == has(oldSelf.spec.userData) && (!has(self.spec.userData) || self.spec.userData == oldSelf.spec.userData))",message="userData is immutable: it runs at the launch; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.userDataFrom",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || (has(self.spec.userDataFrom) == has(oldSelf.spec.userDataFrom) && (!has(self.spec.userDataFrom) || self.spec.userDataFrom == oldSelf.spec.userDataFrom))",message="userDataFrom is immutable: it runs at the launch; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.blockDeviceMappings",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || !has(self.spec.blockDeviceMappings) || !has(oldSelf.spec.blockDeviceMappings) || self.spec.blockDeviceMappings.all(d, oldSelf.spec.blockDeviceMappings.all(o, o.deviceName != d.deviceName || ((!has(o.encrypted) || o.encrypted) == (!has(d.encrypted) || d.encrypted))))",message="encrypted is immutable: AWS cannot change what is on the volume; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.blockDeviceMappings",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || !has(self.spec.blockDeviceMappings) || !has(oldSelf.spec.blockDeviceMappings) || self.spec.blockDeviceMappings.all(d, oldSelf.spec.blockDeviceMappings.all(o, o.deviceName != d.deviceName || (has(o.kmsKeyID) == has(d.kmsKeyID) && (!has(d.kmsKeyID) || d.kmsKeyID == o.kmsKeyID))))",message="kmsKeyID is immutable: AWS cannot change what is on the volume; delete this object and request a new one"
// +kubebuilder:validation:XValidation:fieldPath=".spec.blockDeviceMappings",rule="!has(self.status) || !(has(self.status.instanceID) || has(self.status.arn) || has(self.status.lastSyncTime)) || !has(self.spec.blockDeviceMappings) || !has(oldSelf.spec.blockDeviceMappings) || self.spec.blockDeviceMappings.all(d, oldSelf.spec.blockDeviceMappings.all(o, o.deviceName != d.deviceName || (has(o.snapshotID) == has(d.snapshotID) && (!has(d.snapshotID) || d.snapshotID == o.snapshotID))))",message="snapshotID is immutable: the volume is created from it once; delete this resource and request a new one"
type EC2Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the virtual machine that the team wants.
	// +required
	Spec EC2InstanceSpec `json:"spec"`
	// status is the virtual machine that AWS has.
	// +kubebuilder:default={"observedGeneration":-1}
	// +optional
	Status EC2InstanceStatus `json:"status,omitempty"`
}

// Reasons of EC2Instances.
const (
	ReasonAmbiguous                      = "Ambiguous"
	ReasonCannotStop                     = "CannotStop"
	ReasonImageParameterInvalid          = "ImageParameterInvalid"
	ReasonImageParameterNotFound         = "ImageParameterNotFound"
	ReasonLaunchFailed                   = "LaunchFailed"
	ReasonLaunchUnclear                  = "LaunchUnclear"
	ReasonNoChoice                       = "NoChoice"
	ReasonPending                        = "Pending"
	ReasonShuttingDown                   = "ShuttingDown"
	ReasonStopNeeded                     = "StopNeeded"
	ReasonStopPlanned                    = "StopPlanned"
	ReasonStopProtected                  = "StopProtected"
	ReasonTerminationProtected           = "TerminationProtected"
	ReasonTypeDoesNotFit                 = "TypeDoesNotFit"
	ReasonTypeNotOffered                 = "TypeNotOffered"
	ReasonUserDataTooLong                = "UserDataTooLong"
	ReasonVolumeCannotShrink             = "VolumeCannotShrink"
	ReasonVolumeMissing                  = "VolumeMissing"
	ReasonVolumeModificationRateExceeded = "VolumeModificationRateExceeded"
	ReasonVolumeModifying                = "VolumeModifying"
)
